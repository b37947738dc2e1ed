import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import type { Json } from '../../src/canonical/json.ts'
import {
  type ConnectionEntry,
  connectionColumns,
  openConnection,
} from '../../src/catalog/channel-connection.ts'
import type { Channel } from '../../src/catalog/snapshot.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { responsesFrames } from '../../src/protocols/openai-responses/frames.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import type { AllowedAddresses, Lookup } from '../../src/upstream/allowed-addresses.ts'
import { type ResponseHeaders, type UpstreamCall, Upstreams } from '../../src/upstream/upstreams.ts'
import { makeCertificate } from '../support/certificate.ts'
import { type EgressProxy, startEgressProxy } from '../support/egress-proxy.ts'
import { socketBounds } from '../support/socket-bounds.ts'
import {
  answerEvents,
  asEventStream,
  type SocketUpstream,
  startSocketUpstream,
} from '../support/socket-upstream.ts'
import { holdsFor, until, untilSteady } from '../support/until.ts'

/** Calls by WebSocket and the connections that they share. Real sockets. */

const bounds = {
  ...socketBounds,
  upstreamConnectMs: 10_000,
  upstreamFirstByteMs: 10_000,
  upstreamIdleMs: 10_000,
  upstreamTotalMs: 20_000,
}
const keeper = new SecretKeeper('a secret key for tests, long enough')
const ours = makeCertificate('upstream')
const id = '00000000-0000-7000-8000-000000000001'

let wired: SocketUpstream
let secure: SocketUpstream
let proxy: EgressProxy
const load = new ChannelLoad(1000)
const opened: Upstreams[] = []
let upstreams: Upstreams

beforeAll(async () => {
  ;[wired, secure, proxy] = await Promise.all([
    startSocketUpstream(),
    startSocketUpstream({ tls: ours }),
    startEgressProxy(),
  ])
})
afterAll(() => Promise.all([wired, secure, proxy].map((one) => one.close())))
beforeEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.destroy()))
  upstreams = make()
  proxy.asked.length = 0
  wired.reset()
  secure.reset()
})
afterAll(() => Promise.all(opened.map((one) => one.destroy())))

function make(own: Partial<typeof bounds> = {}, lookup?: Lookup): Upstreams {
  const made = new Upstreams({ ...bounds, ...own }, load, new Map(), lookup)
  opened.push(made)
  return made
}

interface Way {
  entry?: ConnectionEntry
  allowed?: AllowedAddresses
  baseUrl?: string
  secret?: string
}

function channelOf({
  entry = {},
  allowed = true,
  baseUrl = wired.url,
  secret = 'a-credential',
}: Way = {}): Channel {
  const columns = connectionColumns({ ...entry, websocket: true }, id, undefined, keeper)
  return {
    id,
    name: 'one',
    protocols: { 'openai-responses': baseUrl },
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: allowed,
    credentials: [secret],
    vendor: undefined,
    connection: openConnection({ id, ...columns }, keeper),
  }
}

interface Heard {
  call: UpstreamCall
  status: number | undefined
  headers: ResponseHeaders
  text: string
  chunks: number
  error: GatewayError | undefined
  sent: boolean | undefined
  notes: string[]
  isOver: boolean
  over: Promise<Heard>
}

function ask(
  body: Json = {},
  { way = {}, stream = true, isWanted = true, parts = false, pausing = false } = {} as {
    way?: Way
    stream?: boolean
    isWanted?: boolean
    parts?: boolean
    pausing?: boolean
  },
): Heard {
  const bytes = Buffer.from(JSON.stringify({ model: 'm', ...(stream && { stream }), ...body }))
  const { secret = 'a-credential', baseUrl = wired.url } = way
  const done = Promise.withResolvers<Heard>()
  const heard = {
    status: undefined,
    headers: {},
    text: '',
    chunks: 0,
    error: undefined,
    sent: undefined,
    notes: [],
    isOver: false,
    over: done.promise,
  } as unknown as Heard
  const end = () => {
    if (heard.isOver) throw new Error('a call ended twice')
    heard.isOver = true
    done.resolve(heard)
  }
  heard.call = upstreams.call(
    { channel: channelOf(way), baseUrl, credential: { secret, name: 'c' }, protocol: 'openai-responses' },
    {
      method: 'POST',
      path: '/responses',
      body: parts ? { pieces: [bytes.subarray(0, 9), bytes.subarray(9)], pace: () => undefined } : bytes,
      stream,
      headers: [],
      frames: responsesFrames,
      note: (why) => void heard.notes.push(why),
    },
    {
      isWanted: () => isWanted,
      start: (_, status, headers) => {
        heard.status = status
        heard.headers = headers
      },
      data: (call, chunk) => {
        heard.text += chunk
        heard.chunks++
        if (pausing && heard.chunks === 1) call.pause()
      },
      end,
      fail: (error, sent) => {
        heard.error = error
        heard.sent = sent
        end()
      },
    },
  )
  return heard
}

const isGood = ({ text, error }: Heard) => error === undefined && text.includes('response.completed')

describe('a connection', () => {
  test('serves one call after the other, and two at once have one each', async () => {
    for (let turn = 0; turn < 3; turn++) expect(isGood(await ask().over)).toBe(true)
    expect(wired.lines).toHaveLength(1)
    const both = [ask(), ask()]
    for (const { over } of both) expect(isGood(await over)).toBe(true)
    expect(wired.lines.map(({ asked }) => asked.length)).toEqual([4, 1])
    expect(load.of({ id, concurrency: undefined }).running).toBe(0)
  })

  test('serves no other credential', async () => {
    await ask().over
    await ask({}, { way: { secret: 'another' } }).over
    expect(wired.lines.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer a-credential',
      'Bearer another',
    ])
  })

  test('that closed while it waited is replaced, and the request is asked once more', async () => {
    await ask().over
    // The upstream closes it at the moment in which the next request arrives.
    wired.onAsk = (line, { model }) => {
      if (line.number === 1) line.socket.terminate()
      else line.send(...answerEvents(model))
    }
    expect(isGood(await ask().over)).toBe(true)
    expect(wired.lines.map(({ asked }) => asked.length)).toEqual([2, 1])
  })

  test('that the upstream finds too old is replaced too', async () => {
    await ask().over
    wired.onAsk = (line, { model }) =>
      line.number === 1
        ? line.send({
            type: 'error',
            status: 400,
            error: { code: 'websocket_connection_limit_reached', message: 'Old.' },
          })
        : line.send(...answerEvents(model))
    expect(isGood(await ask().over)).toBe(true)
    await until(() => wired.lines[0]?.isClosed === true)
  })

  test('that is new and closes is asked nothing again, nor is one that had begun to answer', async () => {
    wired.onAsk = (line) => line.socket.terminate()
    expect((await ask().over).error?.kind).toBe('upstream_error')
    expect(wired.asked()).toHaveLength(1)
    wired.onAsk = (line, { model }) => {
      const events = answerEvents(model)
      if (line.asked.length === 1) line.send(...events)
      else {
        line.send(...events.slice(0, 2))
        line.socket.terminate()
      }
    }
    expect(isGood(await ask().over)).toBe(true)
    const cut = await ask().over
    expect(cut.error?.reason).toBe('upstream_connection_broke')
    expect(cut.sent).toBe(true)
    expect(cut.text).toContain('response.output_item.added')
    expect(wired.asked()).toHaveLength(3)
  })

  test('that is closed with a goodbye in its answer ends the stream early', async () => {
    wired.onAsk = (line, { model }) => {
      line.send(...answerEvents(model).slice(0, 2))
      line.socket.close(1001)
    }
    const early = await ask().over
    expect(early.error).toBeUndefined()
    expect(early.text).not.toContain('response.completed')
    const whole = await ask({}, { stream: false }).over
    expect(whole.error?.reason).toBe('upstream_ended_early')
  })

  test('ends when its call is aborted, and after an error', async () => {
    wired.onAsk = (line, { model }) => line.send(...answerEvents(model).slice(0, 1))
    const left = ask()
    await until(() => left.text !== '')
    const reason = new Error('gone') as GatewayError
    left.call.abort(reason)
    expect((await left.over).error).toBe(reason)
    await until(() => wired.lines[0]?.isClosed === true)
    wired.onAsk = (line) => line.send({ type: 'error', status: 500, error: { message: 'Oh.' } })
    expect(await ask().over).toMatchObject({
      status: 500,
      text: '{"error":{"message":"Oh."}}',
      error: undefined,
    })
    await until(() => wired.lines[1]?.isClosed === true)
  })

  test('waits within bounds of time, age and number', async () => {
    upstreams = make({ upstreamSocketIdleMs: 50 })
    await ask().over
    await until(() => wired.lines[0]?.isClosed === true)

    upstreams = make({ upstreamSocketAgeMs: 50 })
    await ask().over
    await until(() => wired.lines[1]?.isClosed === true)

    upstreams = make({ upstreamIdleSocketsMax: 1 })
    await Promise.all([ask().over, ask().over])
    await until(() => wired.lines.filter(({ isClosed }) => !isClosed).length === 1)
    await ask().over
    expect(wired.lines).toHaveLength(4)
  })

  test('that gets a message while it waits is closed', async () => {
    await ask().over
    wired.lines[0]?.send({ type: 'error', status: 400, error: { message: 'You are too old.' } })
    await until(() => wired.lines[0]?.isClosed === true)
    expect(isGood(await ask().over)).toBe(true)
  })

  test('is closed when the catalog has no such channel any more, at once or after its call', async () => {
    await ask().over
    upstreams.followChannels(new Map([[id, channelOf()]]))
    await ask().over
    expect(wired.lines).toHaveLength(1)

    const go = Promise.withResolvers<void>()
    wired.onAsk = (line, { model }) => void go.promise.then(() => line.send(...answerEvents(model)))
    const running = ask()
    await until(() => wired.asked().length === 3)
    upstreams.followChannels(new Map([[id, channelOf({ secret: 'another' })]]))
    go.resolve()
    expect(isGood(await running.over)).toBe(true)
    await until(() => wired.lines[0]?.isClosed === true)

    await ask().over
    upstreams.followChannels(new Map())
    await until(() => wired.lines[1]?.isClosed === true)
  })

  test('is gone when the process ends, and so is the call on it', async () => {
    await ask().over
    wired.onAsk = () => {}
    const running = [ask(), ask()]
    await until(() => wired.asked().length === 3)
    await upstreams.destroy()
    for (const { over } of running) expect((await over).error?.reason).toBe('upstream_dropped_at_exit')
    await until(() => wired.lines.every(({ isClosed }) => isClosed))
  })
})

describe('an answer', () => {
  test('is the event stream that HTTP would bring', async () => {
    const events = answerEvents('m', 'Two\nlines.')
    wired.onAsk = (line) => {
      for (const event of events)
        line.socket.send(JSON.stringify(event, undefined, event.sequence_number === 2 ? 2 : 0))
    }
    const { status, headers, text } = await ask().over
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/event-stream')
    expect(headers['x-request-id']).toBe('upgrade-1')
    const pretty = JSON.stringify(events[2], undefined, 2).replaceAll('\n', '\ndata: ')
    expect(text).toBe(asEventStream(events).replace(JSON.stringify(events[2]), pretty))
  })

  test('is read no faster than it is taken', async () => {
    const big = 'x'.repeat(100_000)
    let sent = 0
    wired.onAsk = (line, { model }) => {
      const [first = {}, ...rest] = answerEvents(model)
      line.send(first)
      const more = () => {
        if (sent++ < 400)
          line.socket.send(JSON.stringify({ type: 'response.output_text.delta', delta: big }), more)
        else line.send(...rest)
      }
      more()
    }
    const slow = ask({}, { pausing: true })
    await until(() => slow.chunks > 0)
    // What had arrived with the frame that was taken still comes.
    const taken = await untilSteady(() => slow.text.length, 50)
    await holdsFor(200, () => expect(slow.text.length).toBe(taken))
    expect(sent).toBeLessThan(400)
    slow.call.resume()
    expect(isGood(await slow.over)).toBe(true)
  })

  test('may come late, and may stop, within bounds', async () => {
    upstreams = make({ upstreamFirstByteMs: 100 })
    wired.onAsk = () => {}
    expect((await ask().over).error?.reason).toBe('upstream_answer_late')
    upstreams = make({ upstreamIdleMs: 100 })
    wired.onAsk = (line, { model }) => line.send(...answerEvents(model).slice(0, 2))
    const stopped = await ask().over
    expect(stopped.error?.reason).toBe('upstream_stalled')
    expect(stopped.text).toContain('response.created')
    upstreams = make({ upstreamIdleMs: 100, upstreamFirstByteMs: 400 })
    const whole = ask({}, { stream: false })
    await holdsFor(200, () => expect(whole.isOver).toBe(false))
    expect((await whole.over).error?.reason).toBe('upstream_answer_late')
    upstreams = make({ upstreamTotalMs: 100 })
    expect((await ask().over).error?.reason).toBe('upstream_too_slow')
    await until(() => wired.lines.every(({ isClosed }) => isClosed))
  })

  test('is not silent while no one takes it', async () => {
    upstreams = make({ upstreamIdleMs: 100 })
    const go = Promise.withResolvers<void>()
    wired.onAsk = (line, { model }) => {
      const [first = {}, ...rest] = answerEvents(model)
      line.send(first)
      void go.promise.then(() => line.send(...rest))
    }
    const paused = ask({}, { pausing: true })
    await until(() => paused.chunks > 0)
    await holdsFor(300, () => expect(paused.error).toBeUndefined())
    paused.call.resume()
    go.resolve()
    expect(isGood(await paused.over)).toBe(true)
  })

  test('with a frame above the bound, a binary one or one that is not an event is an error', async () => {
    upstreams = make({ upstreamFrameBytesMax: 1024 })
    wired.onAsk = (line) => line.send({ type: 'response.created', text: 'x'.repeat(2000) })
    expect((await ask().over).error).toMatchObject({
      reason: 'upstream_answer_too_large',
      fault: 'gateway',
    })
    wired.onAsk = (line) => line.socket.send(Buffer.from('{}'), { binary: true })
    expect((await ask().over).error?.reason).toBe('upstream_frame_invalid')
    wired.onAsk = (line) => line.socket.send('[1]')
    expect((await ask().over).error?.message).toBe(
      'The upstream sent a frame that is not an event in the Responses format.',
    )
    await until(() => wired.lines.every(({ isClosed }) => isClosed))
  })
})

describe('an upgrade', () => {
  test('that is refused is the answer', async () => {
    wired.onUpgrade = () => ({ status: 503, body: '{"error":1}', headers: { 'retry-after': '3' } })
    expect(await ask().over).toMatchObject({ status: 503, text: '{"error":1}', error: undefined })
    wired.onUpgrade = () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } })
    expect(await ask().over).toMatchObject({ status: 302 })
    wired.onUpgrade = () => ({ status: 200 })
    expect((await ask().over).error?.reason).toBe('upstream_upgrade_refused')
    expect(wired.overHttp).toEqual([])
  })

  test('with 426 sends the request over HTTP, whole, also one in parts', async () => {
    wired.onUpgrade = () => ({ status: 426 })
    for (const parts of [false, true]) {
      const answer = await ask({ input: 'Hi.' }, { parts }).over
      expect(isGood(answer)).toBe(true)
      expect(answer.notes).toEqual(['the response to the WebSocket upgrade was 426'])
      expect(wired.overHttp.at(-1)?.body).toBe('{"model":"m","stream":true,"input":"Hi."}')
    }
    expect(load.of({ id, concurrency: undefined }).running).toBe(0)
  })

  test('is sent with the headers of the channel, and the credential in headers alone', async () => {
    const entry = { headers: { 'openai-beta': 'own', 'x-team': 'blue' } }
    await ask({}, { way: { entry } }).over
    expect(wired.lines[0]?.headers).toMatchObject({
      authorization: 'Bearer a-credential',
      'openai-beta': 'own',
      'x-team': 'blue',
      'user-agent': 'tollgate/0.1',
    })
    expect(wired.lines[0]?.headers).not.toHaveProperty('content-type')
    expect(wired.lines[0]?.headers).not.toHaveProperty('sec-websocket-extensions')
    expect(wired.lines[0]?.path).toBe('/v1/responses')
    expect(JSON.stringify(wired.asked())).not.toContain('a-credential')
  })

  test('of a client that has left is not used', async () => {
    const { error, sent } = await ask({}, { isWanted: false }).over
    expect(error).toMatchObject({ reason: 'upstream_call_abandoned', fault: 'client' })
    expect(sent).toBe(false)
    expect(wired.asked()).toEqual([])
    expect(isGood(await ask().over)).toBe(true)
    expect(wired.lines).toHaveLength(1)
  })

  test('that is aborted is given up', async () => {
    const call = ask()
    const reason = new Error('enough') as GatewayError
    call.call.abort(reason)
    expect(await call.over).toMatchObject({ error: reason, sent: false })
    expect(wired.asked()).toEqual([])
  })
})

describe('the way', () => {
  test('to an address that the channel may not call is refused, by its spelling and by its name', async () => {
    const refusal = /connection to the upstream was lost/
    expect((await ask({}, { way: { allowed: false } }).over).error?.message).toMatch(refusal)
    const lookup: Lookup = (_name, _options, done) => done(null, [{ address: '127.0.0.1', family: 4 }])
    upstreams = make({}, lookup)
    const baseUrl = wired.url.replace('127.0.0.1', 'rebinds.example')
    for (const allowed of [false, ['10.0.0.0/8']]) {
      const { error } = await ask({}, { way: { allowed, baseUrl } }).over
      expect(error?.message).toMatch(refusal)
      expect(String(error?.cause)).toContain('127.0.0.1 is a loopback address')
    }
    expect(wired.lines).toEqual([])
    expect(isGood(await ask({}, { way: { allowed: ['127.0.0.1/32'], baseUrl } }).over)).toBe(true)
  })

  test('by TLS trusts what the channel trusts', async () => {
    expect((await ask({}, { way: { baseUrl: secure.url } }).over).error?.kind).toBe('upstream_error')
    expect(secure.lines).toEqual([])
    expect(isGood(await ask({}, { way: { baseUrl: secure.url, entry: { ca: ours.cert } } }).over)).toBe(true)
  })

  test('through a proxy is a tunnel, also to an upstream without TLS', async () => {
    const entry = { proxy: proxy.url, ca: ours.cert }
    for (const { url: baseUrl } of [wired, secure]) {
      expect(isGood(await ask({}, { way: { baseUrl, entry } }).over)).toBe(true)
    }
    expect(proxy.asked).toEqual([
      `CONNECT ${new URL(wired.url).host} 200`,
      `CONNECT ${new URL(secure.url).host} 200`,
    ])
    expect(wired.lines[0]?.headers).not.toHaveProperty('proxy-authorization')
    for (const scheme of ['http', 'https']) {
      const { error } = await ask({}, { way: { baseUrl: `${scheme}://nobody.invalid/v1`, entry } }).over
      expect(error?.kind).toBe('upstream_error')
    }
    expect(proxy.asked.slice(2)).toEqual(['CONNECT nobody.invalid:80 200', 'CONNECT nobody.invalid:443 200'])
    const wrong = { proxy: proxy.url.replace('proxy-pass-word', 'wrong') }
    expect((await ask({}, { way: { entry: wrong } }).over).error?.message).toContain(
      'responded with status 407',
    )
  })
})
