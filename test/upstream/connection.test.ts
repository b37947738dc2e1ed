import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { ConnectionEntry } from '../../src/catalog/channel-connection.ts'
import { connectionColumns, openConnection } from '../../src/catalog/channel-connection.ts'
import type { Channel } from '../../src/catalog/snapshot.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { Upstreams } from '../../src/upstream/upstreams.ts'
import { makeCertificate } from '../support/certificate.ts'
import { type EgressProxy, startEgressProxy } from '../support/egress-proxy.ts'
import { socketBounds } from '../support/socket-bounds.ts'
import { until } from '../support/until.ts'
import { type Script, type ScriptedUpstream, startUpstream } from '../support/upstream.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** How a channel is reached: through a proxy, with a CA of its own, in its own time. Real sockets and TLS. */

const bounds = {
  ...socketBounds,
  upstreamConnectMs: 10_000,
  upstreamFirstByteMs: 10_000,
  upstreamIdleMs: 10_000,
  upstreamTotalMs: 20_000,
}
const keeper = new SecretKeeper('a secret key for tests, long enough')
const ours = makeCertificate('upstream')
const client = makeCertificate('gateway')
const id = '00000000-0000-7000-8000-000000000001'

let secure: ScriptedUpstream
let plain: ScriptedUpstream
let demanding: ScriptedUpstream
let proxy: EgressProxy
let upstreams: Upstreams

beforeAll(async () => {
  ;[secure, plain, demanding, proxy] = await Promise.all([
    startUpstream({ tls: ours }),
    startUpstream(),
    startUpstream({ tls: { ...ours, requestCert: true, ca: client.cert } }),
    startEgressProxy(),
  ])
})
afterAll(() => Promise.all([secure, plain, demanding, proxy].map((one) => one.close())))
beforeEach(async () => {
  await upstreams?.destroy()
  upstreams = new Upstreams(bounds, new ChannelLoad(1000))
  proxy.asked.length = 0
  for (const one of [secure, plain, demanding]) {
    one.requests.length = 0
    one.script(() => chatAnswer())
  }
})
afterAll(() => upstreams.destroy())

/** A channel as it comes from its rows. */
function channel(entry: ConnectionEntry | undefined, more: Partial<Channel> = {}): Channel {
  const columns = connectionColumns(entry, id, undefined, keeper)
  return {
    id,
    name: 'one',
    protocols: {},
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: true,
    credentials: [''],
    vendor: undefined,
    connection: openConnection({ id, ...columns }, keeper),
    ...more,
  }
}

interface Outcome {
  status: number | undefined
  reason: string | undefined
  kind: string | undefined
  sent: boolean | undefined
}

function ask(
  on: Channel,
  baseUrl: string,
  { isLink = false, headers = [] as string[] } = {},
): Promise<Outcome> {
  return new Promise((resolve) => {
    let status: number | undefined
    upstreams.call(
      isLink
        ? { channel: on, baseUrl, credential: undefined }
        : {
            channel: on,
            baseUrl,
            credential: { secret: 'a-credential', name: 'c' },
            protocol: 'openai-chat',
          },
      {
        method: 'POST',
        path: '/chat/completions',
        body: Buffer.from('{}'),
        stream: false,
        headers,
      },
      {
        start: (_, begun) => {
          status = begun
        },
        data: () => {},
        end: () => resolve({ status, reason: undefined, kind: undefined, sent: undefined }),
        fail: ({ reason, kind }, sent) => resolve({ status, reason, kind, sent }),
      },
    )
  })
}

describe('a proxy', () => {
  test('opens a tunnel to an https upstream, with credentials that the upstream never sees', async () => {
    const on = channel({ proxy: proxy.url, ca: ours.cert })
    expect(await ask(on, secure.url)).toMatchObject({ status: 200 })
    // The connection is free after the call has reported its end.
    await new Promise((free) => setImmediate(free))
    expect(await ask(on, secure.url)).toMatchObject({ status: 200 })
    // The second call takes the tunnel of the first.
    expect(proxy.asked).toEqual([`CONNECT localhost:${secure.port} 200`])
    expect(secure.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
    expect(secure.requests[0]?.headers).not.toHaveProperty('proxy-authorization')
    expect(secure.requests[0]?.headers.host).toBe(`localhost:${secure.port}`)
  })

  test('reads the requests to a plain http upstream itself', async () => {
    expect(await ask(channel({ proxy: proxy.url }), plain.url)).toMatchObject({ status: 200 })
    expect(proxy.asked).toEqual([`POST ${plain.url}/chat/completions 200`])
    expect(plain.requests[0]).toMatchObject({ path: '/v1/chat/completions' })
    expect(plain.requests[0]?.headers.host).toBe(`127.0.0.1:${plain.port}`)
  })

  test('may be reached by TLS, with the CA of the channel', async () => {
    const own = makeCertificate('proxy')
    const hidden = await startEgressProxy({ tls: own })
    const both = channel({ proxy: hidden.url, ca: `${own.cert}${ours.cert}` })
    expect(await ask(both, secure.url)).toMatchObject({ status: 200 })
    expect(await ask(both, plain.url)).toMatchObject({ status: 200 })
    expect(hidden.asked).toEqual([
      `CONNECT localhost:${secure.port} 200`,
      `POST ${plain.url}/chat/completions 200`,
    ])
    const unknown = channel({ proxy: hidden.url, ca: ours.cert })
    expect(await ask(unknown, secure.url)).toMatchObject({ kind: 'upstream_error', sent: false })
    await upstreams.destroy()
    await hidden.close()
  })

  test.each(['https', 'http'])('that refuses our credentials is named in no error (%s)', async (scheme) => {
    const on = channel({ proxy: `http://user:wrong-pass-word@127.0.0.1:${proxy.port}`, ca: ours.cert })
    const outcome = await ask(on, scheme === 'https' ? secure.url : plain.url)
    expect(outcome).toMatchObject({
      kind: 'upstream_error',
      reason: 'upstream_proxy_failed',
      sent: scheme === 'http',
    })
    expect(secure.requests).toHaveLength(0)
    expect(plain.requests).toHaveLength(0)
  })

  test('that is silent costs no more than the time for connecting', async () => {
    const silent = await startEgressProxy({ silent: true })
    const on = channel({ proxy: silent.url, ca: ours.cert, timeouts: { connectMs: 100 } })
    expect(await ask(on, secure.url)).toMatchObject({
      kind: 'upstream_timeout',
      reason: 'upstream_connect_timed_out',
      sent: false,
    })
    await until(() => silent.sockets.size === 0)
    await silent.close()
  })

  test('of one channel carries no call of another, and connections are not shared', async () => {
    const direct = channel({ ca: ours.cert }, { id: '00000000-0000-7000-8000-000000000002' })
    await ask(direct, secure.url)
    expect(proxy.asked).toEqual([])
    await ask(channel({ proxy: proxy.url, ca: ours.cert }), secure.url)
    await ask(direct, secure.url)
    expect(proxy.asked).toHaveLength(1)
  })

  test('that is taken away from the channel keeps its running calls, and loses its connections then', async () => {
    const answered = Promise.withResolvers<void>()
    secure.script(async () => {
      await answered.promise
      return chatAnswer()
    })
    const former = ask(channel({ proxy: proxy.url, ca: ours.cert }), secure.url)
    await secure.arrived(1)
    const next = ask(channel({ ca: ours.cert }), secure.url)
    await secure.arrived(2)
    expect(proxy.sockets.size).toBeGreaterThan(0)
    answered.resolve()
    expect(await former).toMatchObject({ status: 200 })
    expect(await next).toMatchObject({ status: 200 })
    await until(() => proxy.sockets.size === 0)
    expect(proxy.asked).toHaveLength(1)
  })

  test.each([
    'http://127.0.0.1:1/v1',
    'http://localhost:1/v1',
    'http://api.localhost.:1/v1',
    'https://[::1]:1/v1',
    'http://169.254.169.254/v1',
  ])('is not asked for %s where the channel may not call private addresses', async (url) => {
    const on = channel({ proxy: proxy.url }, { allowPrivateAddress: false })
    expect(await ask(on, url)).toMatchObject({ kind: 'upstream_error', sent: false, status: undefined })
    expect(proxy.asked).toEqual([])
  })

  test('may itself be private, but is never a metadata service', async () => {
    const on = channel({ proxy: proxy.url }, { allowPrivateAddress: false })
    // A name is the proxy's business.
    expect(await ask(on, `http://upstream.invalid:${plain.port}/v1`)).not.toMatchObject({ status: 200 })
    expect(proxy.asked).toEqual([`POST http://upstream.invalid:${plain.port}/v1/chat/completions 200`])
    const metadata = channel({ proxy: 'http://169.254.169.254:80' })
    expect(await ask(metadata, plain.url)).toMatchObject({ sent: false })
  })
})

describe('a CA of the channel', () => {
  test('makes its upstream known, and no other channel trusts it', async () => {
    expect(await ask(channel(undefined), secure.url)).toMatchObject({ kind: 'upstream_error', sent: false })
    expect(await ask(channel({ ca: ours.cert }), secure.url)).toMatchObject({ status: 200 })
    expect(await ask(channel({ ca: client.cert }), secure.url)).toMatchObject({ kind: 'upstream_error' })
    expect(secure.requests).toHaveLength(1)
  })

  test('counts beside a certificate of our own, which a link of an image never sees', async () => {
    const on = channel({ ca: ours.cert, cert: client.cert, key: client.key })
    expect(await ask(on, demanding.url)).toMatchObject({ status: 200 })
    expect(await ask(channel({ ca: ours.cert }), demanding.url)).toMatchObject({ status: undefined })
    expect(await ask(on, demanding.url, { isLink: true })).toMatchObject({ status: undefined })
    expect(demanding.requests).toHaveLength(1)
  })
})

describe('headers of the channel', () => {
  test("replace the client's and ours, and no link of an image gets them", async () => {
    const on = channel({ headers: { 'x-team': 'abc', 'user-agent': 'us', 'openai-project': 'p-ours' } })
    await ask(on, plain.url, { headers: ['openai-project', 'p-theirs', 'openai-beta', 'kept'] })
    await ask(on, plain.url, { isLink: true })
    const [own, link] = plain.requests.map(({ headers }) => headers)
    expect(own).toMatchObject({
      'x-team': 'abc',
      'user-agent': 'us',
      'openai-project': 'p-ours',
      'openai-beta': 'kept',
      authorization: 'Bearer a-credential',
    })
    expect(link).not.toHaveProperty('x-team')
    expect(link).not.toHaveProperty('authorization')
  })
})

describe('times of the channel', () => {
  const stalls: Script = () => ({ chunks: ['{'], ending: 'stall' })
  test.each([
    ['first_byte_ms', { firstByteMs: 50 }, () => new Promise<never>(() => {}), 'upstream_answer_late'],
    ['idle_ms', { idleMs: 50 }, stalls, 'upstream_stalled'],
    ['total_ms', { totalMs: 50 }, stalls, 'upstream_too_slow'],
  ] satisfies [string, object, Script, string][])('%s ends a call', async (_, timeouts, script, expected) => {
    plain.script(script)
    const { kind, reason } = await ask(channel({ timeouts }), plain.url)
    expect(kind).toBe('upstream_timeout')
    expect(reason).toBe(expected)
  })

  test('are never longer than those of the process', async () => {
    await upstreams.destroy()
    upstreams = new Upstreams({ ...bounds, upstreamTotalMs: 50 }, new ChannelLoad(1000))
    plain.script(stalls)
    const { reason } = await ask(channel({ timeouts: { totalMs: 100_000 } }), plain.url)
    expect(reason).toBe('upstream_too_slow')
  })
})
