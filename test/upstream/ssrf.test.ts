import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { type AllowedAddresses, addressRefusal, type Lookup } from '../../src/upstream/allowed-addresses.ts'
import { Upstreams } from '../../src/upstream/upstreams.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { ownPort } from '../support/own-port.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { redirect } from '../support/upstream-plans.ts'

/** Hosts that lead to this machine, in every spelling that a URL accepts. */
const waysHome = [
  '127.0.0.1',
  '127.0.0.2',
  '2130706433',
  '017700000001',
  '0x7f000001',
  '0177.0.0.1',
  '0x7f.0.0.1',
  '127.1',
  '127.0.1',
  '127.0.0.1.',
  '１２７.０.０.１',
  '127。0。0。1',
  '①②⑦.⓪.⓪.①',
  '%31%32%37.0.0.1',
  '%EF%BC%9127.0.0.1',
  'localhost',
  'LOCALHOST.',
  'ｌｏｃａｌｈｏｓｔ',
  '0',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b:1::127.0.0.1]',
  '[2002:7f00:1::]',
  '[2001:0:7f00:1::]',
  '[2606:4700::5efe:7f00:1]',
] as const

/** The addresses of cloud metadata services, and special addresses that belong to no host. */
const nobody = [
  '169.254.169.254',
  '2852039166',
  '0xa9fea9fe',
  '0251.0376.0251.0376',
  '169.254.43518',
  '１６９.254.169.254',
  '169.254.170.2',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
  '[fd00:ec2::254]',
  '[fd00:ec2::23]',
  '[fd20:ce::254]',
  '[fe80::1]',
  '[::ffff:169.254.169.254]',
  '[::a9fe:a9fe]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:a9fe:a9fe::1]',
  '[2606:4700::200:5efe:a9fe:a9fe]',
  '0.0.0.0',
  '0.1.2.3',
  '[::]',
  '224.0.0.1',
  '[ff02::1]',
  '255.255.255.255',
  '240.0.0.1',
  '[4000::1]',
  '[100::1]',
] as const

let bed: Testbed
let elsewhere: Elsewhere
/** On the port of `elsewhere`. */
let here: Elsewhere
beforeAll(async () => {
  const port = await ownPort()
  elsewhere = await startElsewhere('127.0.0.2', port)
  here = await startElsewhere('127.0.0.1', port)
  bed = await startTestbed({
    yaml,
    env: {
      IMAGE_RUNS_MAX: '1',
      ATTEMPTS_MAX: '1',
      IMAGE_SWEEP_MS: '100',
      WEBHOOK_PRIVATE_ADDRESSES: 'allow',
    },
  })
})
afterAll(async () => {
  await bed?.close()
  elsewhere?.server.close()
  here?.server.close()
})
beforeEach(() => {
  bed.upstream.requests.length = 0
  elsewhere.requests.length = 0
  here.requests.length = 0
})

const messages = [{ role: 'user', content: 'Hello' }]

test.each(waysHome.map((host, i) => [host, i] as const))(
  'a channel to %s is refused where private addresses are not allowed, with a row',
  async (_, i) => await isRefused(`home-${i}`),
)

test.each(nobody.map((host, i) => [host, i] as const))(
  'a channel to %s is refused where private addresses are allowed, with a row',
  async (_, i) => await isRefused(`nobody-${i}`),
)

test('a channel reaches private addresses within its blocks, and none outside of them', async () => {
  expect((await bed.chat({ model: 'within', messages })).status).toBe(200)
  expect((await bed.chat({ model: 'within-mapped', messages })).status).toBe(200)
  bed.upstream.requests.length = 0
  await isRefused('outside')
})

test('a connection that one channel may use is not used by another that may not', async () => {
  expect((await bed.chat({ model: 'allowed', messages })).status).toBe(200)
  expect((await bed.chat({ model: 'within', messages })).status).toBe(200)
  bed.upstream.requests.length = 0
  await isRefused('home-0')
  await isRefused('outside')
})

test.each([
  ['metadata', () => 'http://169.254.169.254/latest/meta-data/'],
  ['another server', () => `http://127.0.0.2:${elsewhere.port}/v1/chat/completions`],
])('a redirect to %s is not followed', async (_, location) => {
  for (const status of [301, 302, 303, 307, 308]) {
    bed.upstream.script(() => ({ ...redirect(location()), status }))
    const answer = await bed.chat({ model: 'allowed', messages })
    expect(answer.status).toBe(502)
    expect(answer.headers.get('location')).toBeNull()
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      status: 502,
      outcome: 'failed',
    })
  }
  expect(elsewhere.requests).toEqual([])
})

test.each([
  ['metadata', () => 'http://169.254.169.254/latest/meta-data/iam'],
  ['metadata in disguise', () => 'http://0xa9fea9fe/'],
  ['another private address', () => `http://127.0.0.2:${elsewhere.port}/image.png`],
])('a link to an image at %s is not fetched', async (_, link) => {
  bed.upstream.script(() => ({ body: JSON.stringify({ created: 1, data: [{ url: link() }] }) }))
  const answer = await fetch(`${bed.tollgate.url}/v1/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}` },
    body: JSON.stringify({ model: 'picture', prompt: 'a door' }),
  })
  expect(answer.status).toBe(502)
  expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({ outcome: 'failed' })
  expect(bed.upstream.requests).toHaveLength(1)
  expect(elsewhere.requests).toEqual([])
})

test.each(['169.254.169.254', '0xa9fea9fe', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '0.0.0.0'])(
  'a webhook to %s is refused before the job costs anything, even if webhooks may go to private addresses',
  async (host) => {
    const asked = await fetch(`${bed.tollgate.url}/v1/images/generations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${freeKey}`,
        prefer: 'respond-async',
        'x-tollgate-webhook': `http://${host}:${elsewhere.port}/hook`,
      },
      body: JSON.stringify({ model: 'picture', prompt: 'a door' }),
    })
    expect(asked.status).toBe(400)
    expect(await asked.json()).toMatchObject({ error: { param: 'x-tollgate-webhook' } })
    expect(await bed.row(asked.headers.get('x-request-id'))).toMatchObject({ status: 400, attempt_count: 0 })
    expect(elsewhere.requests).toEqual([])
  },
)

test('the start names channels whose address is never allowed', () => {
  const log = bed.tollgate.stderr()
  expect(log).toContain('channel c-nobody-0, openai-chat: upstream address refused: 169.254.169.254')
  expect(log).not.toContain('channel allowed,')
})

describe('a name', () => {
  const bounds = readConfig({ UPSTREAM_CONNECT_MS: '2000' }).bounds

  test('is connected at the address that was checked, which is resolved once for each connection', async () => {
    const lookups: string[] = []
    const upstreams = new Upstreams(
      bounds,
      new ChannelLoad(1_000),
      new Map(),
      answering(lookups, [['127.0.0.2'], ['127.0.0.1']]),
    )
    expect(await call(upstreams, ['127.0.0.2/32'])).toBe(200)
    expect(lookups).toEqual(['rebinds.example'])
    expect([elsewhere.requests, here.requests]).toEqual([['rebinds.example'], []])
    await upstreams.close()
  })

  test('that leads elsewhere at the next connection is refused then', async () => {
    const lookups: string[] = []
    const answers = [['127.0.0.2'], ['127.0.0.1'], ['169.254.169.254'], ['::ffff:127.0.0.1'], ['127.0.0.2']]
    const upstreams = new Upstreams(bounds, new ChannelLoad(1_000), new Map(), answering(lookups, answers))
    const seen: (number | string)[] = []
    for (const _ of answers) {
      seen.push(await call(upstreams, ['127.0.0.2/32']))
      elsewhere.server.closeAllConnections()
    }
    expect(seen).toEqual([200, 'upstream_error', 'upstream_error', 'upstream_error', 200])
    expect(here.requests).toEqual([])
    await upstreams.destroy()
  })

  test('with allowed and forbidden addresses is called only at the allowed ones', async () => {
    const both = [['127.0.0.1', '127.0.0.2', '169.254.169.254']]
    const upstreams = new Upstreams(bounds, new ChannelLoad(1_000), new Map(), answering([], both))
    expect(await call(upstreams, ['127.0.0.2/32'])).toBe(200)
    expect([elsewhere.requests, here.requests]).toEqual([['rebinds.example'], []])
    await upstreams.destroy()
  })

  test('is resolved again for each policy, so that no connection passes from one to another', async () => {
    const lookups: string[] = []
    const upstreams = new Upstreams(
      bounds,
      new ChannelLoad(1_000),
      new Map(),
      answering(lookups, [['127.0.0.2']]),
    )
    expect(await call(upstreams, true)).toBe(200)
    expect(await call(upstreams, false)).toBe('upstream_error')
    expect(await call(upstreams, ['127.0.0.1/32'])).toBe('upstream_error')
    expect(await call(upstreams, ['127.0.0.2/32'])).toBe(200)
    expect(await call(upstreams, true)).toBe(200)
    expect(lookups).toHaveLength(4)
    await upstreams.destroy()
  })

  async function call(upstreams: Upstreams, allowPrivateAddress: AllowedAddresses): Promise<number | string> {
    const channel = { ...anyChannel, allowPrivateAddress }
    return await new Promise((resolve) => {
      let status = 0
      upstreams.call(
        { channel, credential: undefined, baseUrl: `http://rebinds.example:${elsewhere.port}` },
        { method: 'GET', path: '/', body: null, stream: false, headers: [] },
        {
          start: (_, got) => {
            status = got
          },
          data() {},
          end: () => resolve(status),
          fail: (error) => resolve(error.kind),
        },
      )
    })
  }
})

test.each<[string, string]>([
  ['10.0.0.1', '10.0.0.0/8'],
  ['172.31.255.255', '172.16.0.0/12'],
  ['192.168.1.1', '192.168.0.0/16'],
  ['100.64.0.1', '100.64.0.0/10'],
  ['198.18.0.1', '198.18.0.0/15'],
  ['198.51.100.1', '198.51.100.0/24'],
  ['192.0.0.8', '192.0.0.0/24'],
  ['192.88.99.1', '192.88.99.0/24'],
  ['fd12::1', 'fc00::/7'],
  ['fd12::1%eth0', 'fd12::/64'],
  ['2001:db8::1', '2001:db8::/32'],
  ['3fff::1', '3fff::/20'],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.0/104'],
  ['::ffff:10.0.0.1', '10.0.0.0/8'],
  ['64:ff9b::a00:1', '10.0.0.0/8'],
])('%s is called where private addresses, or %s, are allowed, and only there', (address, cidr) => {
  expect(addressRefusal(address, false)).toContain('the channel needs allow_private_address')
  expect(addressRefusal(address, ['203.0.113.0/24', '2001:2::/48'])).toContain('outside the blocks')
  expect(addressRefusal(address, [])).toContain('outside the blocks')
  expect(addressRefusal(address, ['203.0.113.0/24', cidr])).toBeUndefined()
  expect(addressRefusal(address, true)).toBeUndefined()
})

test('an address that stands for another is allowed only if both are', () => {
  const tunnel = '2002:a00:1::1'
  expect(addressRefusal(tunnel, ['10.0.0.0/8'])).toContain('outside')
  expect(addressRefusal(tunnel, ['2002::/16'])).toContain('outside')
  expect(addressRefusal(tunnel, ['2002::/16', '10.0.0.0/8'])).toBeUndefined()
})

test.each([
  '1.1.1.1',
  '8.8.8.8',
  '223.255.255.254',
  '::ffff:1.1.1.1',
  '64:ff9b::1.1.1.1',
  '2606:4700::1111',
  '2a00::1',
])('%s is public, and every channel may call it', (address) => {
  for (const allowed of [false, [], true]) expect(addressRefusal(address, allowed)).toBeUndefined()
})

/** Expects a 502 at once, one row that says so, and no call. */
async function isRefused(model: string): Promise<void> {
  const answer = await bed.chat({ model, messages })
  expect(await answer.json()).toMatchObject({ error: { code: 'upstream_error' } })
  expect(answer.status).toBe(502)
  expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
    status: 502,
    outcome: 'failed',
    error_kind: 'upstream_error',
    cost_nano: '0',
  })
  expect(bed.upstream.requests).toEqual([])
}

function yaml(upstreamUrl: string): string {
  const { port } = new URL(upstreamUrl)
  const channels: [model: string, host: string, allowed: string][] = [
    ...waysHome.map((host, i): [string, string, string] => [`home-${i}`, host, 'false']),
    ...nobody.map((host, i): [string, string, string] => [`nobody-${i}`, host, 'true']),
    ['allowed', '127.0.0.1', 'true'],
    ['within', '127.0.0.1', '["10.0.0.0/8", "127.0.0.1/32"]'],
    ['within-mapped', '[::ffff:127.0.0.1]', '["127.0.0.0/8"]'],
    ['outside', '127.0.0.1', '["10.0.0.0/8", "127.0.0.2/32"]'],
  ]
  return `
models:
  - { id: picture, images: {} }
${channels.map(([model]) => `  - { id: ${model} }`).join('\n')}
channels:
  - { name: painter, protocols: { openai-images: "${upstreamUrl}" }, api_keys: [ "" ], models: [ picture ], allow_private_address: ["127.0.0.1/32"] }
${channels
  .map(
    ([model, host, allowed]) =>
      `  - { name: c-${model}, protocols: { openai-chat: "http://${host}:${port}/v1" }, api_keys: [ "" ], models: [ ${model} ], allow_private_address: ${allowed} }`,
  )
  .join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] }
`
}

/** A server that notes the host names of its calls. */
interface Elsewhere {
  server: Server
  port: number
  requests: string[]
}

async function startElsewhere(address: string, port: number): Promise<Elsewhere> {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push((request.headers.host ?? '').replace(/:\d+$/, ''))
    response.end('{}')
  })
  server.listen(port, address)
  await once(server, 'listening')
  return { server, port, requests }
}

/** A resolver that gives each answer once, and then the last one forever. */
function answering(lookups: string[], answers: string[][]): Lookup {
  return (hostname, _options, done) => {
    const answer = answers[Math.min(lookups.length, answers.length - 1)] ?? []
    lookups.push(hostname)
    done(
      null,
      answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}

const anyChannel = {
  id: '00000000-0000-4000-8000-0000000000c1',
  name: 'any',
  protocols: {},
  ...defaultsOf(settingsOfChannels),
  credentials: [''],
  vendor: undefined,
}
