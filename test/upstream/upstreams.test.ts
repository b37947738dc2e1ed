import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import {
  type Listener,
  type UpstreamCall,
  type UpstreamRequest,
  Upstreams,
} from '../../src/upstream/upstreams.ts'
import { answerBytes, type RawRequest, type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { socketBounds } from '../support/socket-bounds.ts'
import { until } from '../support/until.ts'

/** Calls and their listeners, on real sockets. */

const bounds = {
  ...socketBounds,
  upstreamConnectMs: 2_000,
  upstreamFirstByteMs: 5_000,
  upstreamIdleMs: 5_000,
  upstreamTotalMs: 10_000,
}

let raw: RawUpstream
let act: (request: RawRequest) => void
let actOnHead: (request: RawRequest) => void

beforeAll(async () => {
  raw = await startRawUpstream({
    onHead: (request) => actOnHead(request),
    onRequest: (request) => act(request),
  })
})
afterAll(() => raw.close())
beforeEach(() => {
  raw.requests.length = 0
  act = ({ socket }) => void socket.write(answerBytes('{}'))
  actOnHead = () => {}
})

test('if a client leaves during the look-up of the name, the connection is made and nothing is sent', async () => {
  const { upstreams, answerLookup } = withSlowLookup()
  let isWanted = true
  const heard = listen({ isWanted: () => isWanted })
  ask(upstreams, heard.listener)
  isWanted = false
  answerLookup()
  const { error, sent } = await heard.over
  expect(error).toMatchObject({ fault: 'client' })
  expect(sent).toBe(false)
  expect(raw.requests).toHaveLength(0)
  await upstreams.destroy()
})

test('an aborted call that waits for its connection ends at once, and nothing is sent later', async () => {
  const { upstreams, answerLookup } = withSlowLookup()
  const heard = listen()
  const call = ask(upstreams, heard.listener)
  const reason = new Error('enough') as GatewayError
  call.abort(reason)
  expect(await heard.over).toEqual({ error: reason, sent: false })
  answerLookup()
  const next = listen()
  ask(upstreams, next.listener)
  expect(await next.over).toEqual({ error: undefined, sent: undefined })
  expect(raw.requests).toHaveLength(1)
  await upstreams.destroy()
})

test.each([
  ['', Buffer.alloc(16_000_000)],
  [', in parts', { pieces: [Buffer.alloc(16_000_000)], pace: () => undefined }],
])(
  'a request that is answered before it was read keeps its memory, and its connection takes no other request%s',
  async (_, body) => {
    const { upstreams, answerLookup } = withSlowLookup()
    answerLookup()
    actOnHead = (request) => {
      if (raw.requests.length > 1) return
      request.socket.pause()
      request.socket.write(answerBytes('{"early":true}'))
    }
    const early = listen()
    ask(upstreams, early.listener, body)
    expect((await early.over).error).toBeUndefined()
    expect(early.atEnd()).toBe(false)
    const next = listen()
    ask(upstreams, next.listener)
    expect((await next.over).error).toBeUndefined()
    expect(next.atEnd()).toBe(true)
    expect(raw.requests.map(({ turn }) => turn)).toEqual([1, 1])
    await upstreams.destroy()
  },
)

test('a large body goes out in parts, at its own pace, and two of them at once keep to their connections', async () => {
  const { upstreams, answerLookup } = withSlowLookup()
  answerLookup()
  const sizes: number[] = []
  const mayGo = Promise.withResolvers<void>()
  const pieces = ['a', 'b', 'c'].map((letter) => Buffer.alloc(300_000, letter))
  const pace = (bytes: number) => {
    sizes.push(bytes)
    return mayGo.promise
  }
  const calls = [listen(), listen()]
  for (const { listener } of calls) ask(upstreams, listener, { pieces, pace })
  // The first part waits for nobody: the head of the request goes out with it.
  await until(() => raw.requests.length === 2 && raw.requests.every(({ body }) => body.length === 262_144))
  mayGo.resolve()
  for (const call of calls) {
    expect((await call.over).error).toBeUndefined()
    expect(call.atEnd()).toBe(true)
  }
  for (const { head, body } of raw.requests) {
    expect(head.toLowerCase()).toContain('content-length: 900000')
    expect(head.toLowerCase()).not.toContain('transfer-encoding')
    expect(body.equals(Buffer.concat(pieces))).toBe(true)
  }
  expect(Math.max(...sizes)).toBeLessThanOrEqual(262_144)
  // A connection is free after its call has reported its end.
  await new Promise((free) => setImmediate(free))
  const next = listen()
  ask(upstreams, next.listener)
  await next.over
  expect(raw.requests.map(({ turn }) => turn)).toEqual([1, 1, 2])
  await upstreams.destroy()
})

test('interim answers are skipped wherever their bytes are split', async () => {
  const { upstreams, answerLookup } = withSlowLookup()
  answerLookup()
  const interim = Buffer.from('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')
  for (let split = 1; split <= interim.length + 12; split++) {
    act = ({ socket }) => {
      const bytes = Buffer.concat([interim, answerBytes(`{"split":${split}}`)])
      socket.write(bytes.subarray(0, split))
      setImmediate(() => setImmediate(() => socket.write(bytes.subarray(split))))
    }
    const heard = listen()
    // Every second request goes out in parts.
    const inParts = { pieces: [Buffer.from('{'), Buffer.from('}')], pace: () => undefined }
    ask(upstreams, heard.listener, split % 2 === 0 ? inParts : undefined)
    expect((await heard.over).error, `split at ${split}`).toBeUndefined()
    expect(heard.text()).toBe(`{"split":${split}}`)
    expect(heard.starts).toEqual([200])
  }
  await upstreams.destroy()
})

test('a call that has ended cannot affect the connection, which another call has', async () => {
  const { upstreams, answerLookup } = withSlowLookup()
  answerLookup()
  let first: UpstreamCall | undefined
  const before = listen({
    start(call) {
      first = call
    },
  })
  ask(upstreams, before.listener)
  await before.over
  // The connection is free after the call has reported its end.
  await new Promise((free) => setImmediate(free))
  act = (request) => {
    request.socket.write(answerBytes(request.turn === 2 ? 'x'.repeat(1_000_000) : '{}'))
  }
  const paused = Promise.withResolvers<UpstreamCall>()
  const held = listen({
    start(call) {
      call.pause()
      paused.resolve(call)
    },
  })
  ask(upstreams, held.listener)
  const second = await paused.promise
  first?.pause()
  first?.resume()
  // Three calls on other connections take longer than a wrong event would.
  for (let i = 0; i < 3; i++) {
    const other = listen()
    ask(upstreams, other.listener)
    await other.over
  }
  expect(held.text()).toHaveLength(0)
  second.resume()
  expect((await held.over).error).toBeUndefined()
  expect(held.text()).toHaveLength(1_000_000)
  expect(raw.requests.slice(0, 2).map(({ turn }) => turn)).toEqual([1, 2])
  await upstreams.destroy()
})

function withSlowLookup() {
  const asked = Promise.withResolvers<void>()
  const upstreams = new Upstreams(bounds, new ChannelLoad(1_000), new Map(), (_hostname, _options, done) => {
    void asked.promise.then(() => done(null, [{ address: '127.0.0.1', family: 4 }]))
  })
  return { upstreams, answerLookup: () => asked.resolve() }
}

function ask(
  upstreams: Upstreams,
  listener: Listener,
  body: UpstreamRequest['body'] = Buffer.from('{}'),
): UpstreamCall {
  const channel = {
    id: '00000000-0000-7000-8000-000000000000',
    name: 'raw',
    protocols: {},
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: true,
    credentials: [''],
    vendor: undefined,
  }
  return upstreams.call(
    {
      ...{ channel, credential: { secret: '', name: '' }, protocol: 'openai-chat' },
      baseUrl: `http://upstream.test:${raw.port}/v1`,
    },
    { method: 'POST', path: '/chat', body, stream: false, headers: [] },
    listener,
  )
}

function listen(more: Partial<Listener> = {}) {
  const over = Promise.withResolvers<{ error: GatewayError | undefined; sent: boolean | undefined }>()
  const chunks: Buffer[] = []
  const starts: number[] = []
  let running: UpstreamCall | undefined
  let hadRequest: boolean | undefined
  const listener: Listener = {
    start: (call, status) => {
      running = call
      starts.push(status)
    },
    data: (_call, chunk) => void chunks.push(chunk),
    end() {
      hadRequest = running?.hasRequest
      over.resolve({ error: undefined, sent: undefined })
    },
    fail: (error, sent) => over.resolve({ error, sent }),
    ...more,
  }
  return {
    listener,
    over: over.promise,
    starts,
    text: () => Buffer.concat(chunks).toString(),
    /** Whether the whole request had been sent when its answer ended. */
    atEnd: () => hadRequest,
  }
}
