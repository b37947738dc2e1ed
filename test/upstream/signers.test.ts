import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import {
  type ConnectionEntry,
  connectionColumns,
  openConnection,
} from '../../src/catalog/channel-connection.ts'
import type { Channel } from '../../src/catalog/snapshot.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { responsesFrames } from '../../src/protocols/openai-responses/frames.ts'
import { protocolNames } from '../../src/protocols/protocol.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { AwsIdentities } from '../../src/upstream/aws/identities.ts'
import { askList } from '../../src/upstream/model-lists/ask-list.ts'
import type { SignedHeaders, Signer, UnsignedRequest } from '../../src/upstream/signer.ts'
import { signersWith } from '../../src/upstream/signers.ts'
import { type UpstreamCall, type UpstreamRequest, Upstreams } from '../../src/upstream/upstreams.ts'
import { type EgressProxy, startEgressProxy } from '../support/egress-proxy.ts'
import { hmacSigner, isSigned } from '../support/hmac-signer.ts'
import { socketBounds } from '../support/socket-bounds.ts'
import { type SocketUpstream, startSocketUpstream } from '../support/socket-upstream.ts'
import { holdsFor, until } from '../support/until.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** What proves to an upstream whose request it is, on real sockets. */

const bounds = {
  ...socketBounds,
  upstreamConnectMs: 10_000,
  upstreamFirstByteMs: 10_000,
  upstreamIdleMs: 10_000,
  upstreamTotalMs: 20_000,
}
const keeper = new SecretKeeper('a secret key for tests, long enough')
const id = '00000000-0000-7000-8000-000000000001'
const credential = { secret: 'a-credential', name: 'c' }

let upstream: ScriptedUpstream
let wired: SocketUpstream
let proxy: EgressProxy
let upstreams: Upstreams
let load: ChannelLoad

beforeAll(async () => {
  ;[upstream, wired, proxy] = await Promise.all([startUpstream(), startSocketUpstream(), startEgressProxy()])
})
afterAll(() => Promise.all([upstream, wired, proxy].map((one) => one.close())))
beforeEach(() => {
  upstream.requests.length = 0
  upstream.script(() => chatAnswer())
  wired.reset()
  load = new ChannelLoad(1000)
})
afterEach(() => upstreams?.destroy())

function signedBy(signer: Signer, own: Partial<typeof bounds> = {}): void {
  const ways = { signerOf: () => signer }
  upstreams = new Upstreams({ ...bounds, ...own }, load, new Map(), undefined, ways)
}

function channelOf(entry?: ConnectionEntry): Channel {
  const columns = connectionColumns(entry, id, undefined, keeper)
  return {
    id,
    name: 'one',
    protocols: { 'openai-chat': upstream.url, 'openai-responses': wired.url },
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: true,
    credentials: [credential.secret],
    vendor: undefined,
    connection: openConnection({ id, ...columns }, keeper),
  }
}

interface Outcome {
  status: number | undefined
  error: GatewayError | undefined
  sent: boolean | undefined
}

function ask(
  request: Partial<UpstreamRequest> = {},
  { entry }: { entry?: ConnectionEntry } = {},
): { call: UpstreamCall; over: Promise<Outcome> } {
  const { promise: over, resolve } = Promise.withResolvers<Outcome>()
  let status: number | undefined
  const isFramed = request.frames !== undefined
  const call = upstreams.call(
    {
      channel: channelOf({ ...entry, ...(isFramed && { websocket: true }) }),
      baseUrl: isFramed ? wired.url : upstream.url,
      credential,
      protocol: isFramed ? 'openai-responses' : 'openai-chat',
    },
    {
      method: 'POST',
      path: '/chat/completions?a=b',
      body: Buffer.from('{}'),
      stream: false,
      headers: [],
      ...request,
    },
    {
      start: (_, begun) => {
        status = begun
      },
      data: () => {},
      end: () => resolve({ status, error: undefined, sent: undefined }),
      fail: (error, sent) => resolve({ status, error, sent }),
    },
  )
  return { call, over }
}

/** A signer that waits until the test lets it go on. */
function waitingSigner() {
  const { promise, resolve } = Promise.withResolvers<SignedHeaders>()
  const signals: AbortSignal[] = []
  const signer: Signer = (_, { signal }) => {
    signals.push(signal)
    return promise
  }
  return { signer, signals, goOn: () => resolve(['authorization', 'late']) }
}

const overSocket = {
  path: '/responses',
  frames: responsesFrames,
  body: Buffer.from('{"model":"m","stream":true}'),
  stream: true,
}
const inPieces = ['a', 'b', 'c'].map((letter) => Buffer.alloc(300_000, letter))

const noSource = () => Promise.reject(new Error('no source of identities'))
const signerOf = signersWith(
  new AwsIdentities({ ambient: noSource, assume: noSource }, systemClock),
  systemClock,
)

test("without another signer, the channel's secret is sent in the header of its protocol", () => {
  const sent = (protocol: (typeof protocolNames)[number], secret: string, entry?: ConnectionEntry) =>
    signerOf({ channel: channelOf(entry), protocol })(
      { method: 'POST', url: upstream.url, headers: [], body: null, credential: { secret, name: 'c' } },
      new AbortController(),
    )
  expect(protocolNames.map((protocol) => [protocol, sent(protocol, 'k')])).toEqual([
    ['openai-chat', ['authorization', 'Bearer k']],
    ['openai-responses', ['authorization', 'Bearer k']],
    ['anthropic-messages', ['x-api-key', 'k']],
    ['openai-images', ['authorization', 'Bearer k']],
    ['gemini', ['x-goog-api-key', 'k']],
  ])
  for (const protocol of protocolNames) expect(sent(protocol, '')).toEqual([])
  const chosen = (kind: 'bearer' | 'api-key') =>
    protocolNames.map((protocol) => sent(protocol, 'k', { auth: { kind } }))
  expect(chosen('bearer')).toEqual(protocolNames.map(() => ['authorization', 'Bearer k']))
  expect(chosen('api-key')).toEqual([
    ['api-key', 'k'],
    ['api-key', 'k'],
    ['x-api-key', 'k'],
    ['api-key', 'k'],
    ['x-goog-api-key', 'k'],
  ])
})

describe('a signature is valid for what is sent', () => {
  test.each<[string, Partial<UpstreamRequest>, ConnectionEntry]>([
    ['a small body', {}, {}],
    ['no body', { method: 'GET', body: null }, {}],
    ['a body that is sent in pieces', { body: { pieces: inPieces, pace: () => undefined } }, {}],
    [
      'headers of the client and the channel',
      { headers: ['x-client', 'a', 'x-both', 'b'] },
      { headers: { 'x-both': 'c' } },
    ],
    ['a trace', { traceHeaders: ['traceparent', '00-1-2-01'] }, {}],
  ])('with %s', async (_what, request, entry) => {
    signedBy(hmacSigner)
    expect(await ask(request, { entry }).over).toMatchObject({ status: 200 })
    expect(upstream.requests.map((seen) => isSigned(credential.secret, seen))).toEqual([true])
  })

  test('through a proxy that reads the request', async () => {
    signedBy(hmacSigner)
    expect(await ask({}, { entry: { proxy: proxy.url } }).over).toMatchObject({ status: 200 })
    expect(upstream.requests.map((seen) => isSigned(credential.secret, seen))).toEqual([true])
    expect(upstream.requests[0]?.headers.authorization).not.toContain('proxy-authorization')
  })

  test('when it lists the models', async () => {
    signedBy(hmacSigner)
    upstream.script(() => ({ body: '{"object":"list","data":[{"id":"m","object":"model"}]}' }))
    const limits = { modelListMs: 10_000, modelListBytesMax: 1000, modelListNamesMax: 10 }
    expect((await askList(upstreams, limits, channelOf(), { turn: 0 })).protocol).toBe('openai-chat')
    expect(upstream.requests.map((seen) => isSigned(credential.secret, seen))).toEqual([true])
  })
})

test('a signer gets the pieces of a large body themselves, not a copy', async () => {
  const seen: UnsignedRequest['body'][] = []
  signedBy(({ body }) => {
    seen.push(body)
    return []
  })
  await ask({ body: { pieces: inPieces, pace: () => undefined } }).over
  expect(seen).toEqual([expect.objectContaining({ pieces: inPieces })])
  for (const body of seen)
    expect(body === null || Buffer.isBuffer(body) || body.pieces === inPieces).toBe(true)
})

test('neither the client nor the channel can override what a signer adds', async () => {
  signedBy(() => ['Authorization', 'ours', 'x-date', 'today'])
  const headers = ['authorization', 'theirs', 'X-Date', 'yesterday', 'x-other', 'kept']
  await ask({ headers }, { entry: { headers: { 'x-date': 'never' } } }).over
  expect(upstream.requests[0]?.headers).toMatchObject({
    authorization: 'ours',
    'x-date': 'today',
    'x-other': 'kept',
  })
})

test('a signer that does not wait delays nothing: undici has the request before `call` returns', async () => {
  signedBy(hmacSigner)
  let created = 0
  const count = () => void created++
  subscribe('undici:request:create', count)
  const { over } = ask()
  unsubscribe('undici:request:create', count)
  expect(created).toBe(1)
  await over
})

describe.each<[string, Partial<UpstreamRequest>]>([
  ['HTTP', {}],
  ['WebSocket', overSocket],
])('over %s', (_way, request) => {
  const sent = () => upstream.requests.length + wired.lines.length
  const running = () => load.of({ id, concurrency: undefined }).running

  test('nothing is sent while a signer waits', async () => {
    const { signer, signals, goOn } = waitingSigner()
    signedBy(signer)
    const { call, over } = ask(request)
    await until(() => signals.length === 1)
    await holdsFor(50, () => expect(sent()).toBe(0))
    expect(call.isSent).toBe(false)
    goOn()
    expect(await over).toMatchObject({ status: 200, error: undefined })
    expect([...upstream.requests, ...wired.lines].map(({ headers }) => headers.authorization)).toEqual([
      'late',
    ])
  })

  test('a call that is aborted while its signer waits ends at once, stops the signer, and is never sent', async () => {
    const { signer, signals, goOn } = waitingSigner()
    signedBy(signer)
    const { call, over } = ask(request)
    await until(() => signals.length === 1)
    const reason = new Error('enough') as GatewayError
    call.abort(reason)
    expect(await over).toMatchObject({ error: reason, sent: false })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    expect(running()).toBe(0)
    goOn()
    await holdsFor(50, () => expect(sent()).toBe(0))
  })

  test('the time of the call ends a signer that waits too', async () => {
    const { signer, signals } = waitingSigner()
    signedBy(signer, { upstreamTotalMs: 30 })
    expect(await ask(request).over).toMatchObject({ error: { kind: 'upstream_timeout' }, sent: false })
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })

  test.each<[string, Signer]>([
    [
      'throws',
      () => {
        throw new Error('no token')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no token'))],
  ])('a signer that %s ends its call, of which nothing was sent', async (_how, signer) => {
    signedBy(signer)
    expect(await ask(request).over).toMatchObject({
      error: { reason: 'upstream_request_unsigned', cause: { message: 'no token' } },
      sent: false,
    })
    expect(sent()).toBe(0)
    expect(running()).toBe(0)
  })
})

test('only the upgrade of a WebSocket is signed, and calls share it whatever its signature was', async () => {
  let signatures = 0
  signedBy((unsigned) => {
    const { headers, ...asked } = unsigned
    signatures++
    expect(asked).toEqual({ method: 'GET', url: `${wired.url}/responses`, body: null, credential })
    return hmacSigner({ ...unsigned, headers: [...headers, 'x-number', String(signatures)] })
  })
  for (let turn = 0; turn < 2; turn++) expect(await ask(overSocket).over).toMatchObject({ status: 200 })
  expect(wired.lines.map(({ asked }) => asked.length)).toEqual([2])
  expect(signatures).toBe(1)
})

test('a link to an image is not signed', async () => {
  signedBy(() => {
    throw new Error('it was signed')
  })
  const status = await new Promise((resolve) => {
    upstreams.call(
      { channel: channelOf(), credential: undefined, baseUrl: upstream.url },
      { method: 'GET', path: '/image.png', body: null, stream: false, headers: [] },
      { start: (_, begun) => resolve(begun), data() {}, end() {}, fail: resolve },
    )
  })
  expect(status).toBe(200)
  expect(upstream.requests[0]?.headers).not.toHaveProperty('authorization')
})

test('a redirect is not followed, so nothing is signed for its target', async () => {
  let signatures = 0
  signedBy(() => {
    signatures++
    return []
  })
  upstream.script(() => ({ status: 307, headers: { location: `${upstream.url}/elsewhere` }, body: '' }))
  expect(await ask().over).toMatchObject({ status: 307 })
  expect([signatures, upstream.requests.length]).toEqual([1, 1])
})
