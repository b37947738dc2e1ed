import type { Socket } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { callAnew } from '../support/fresh-connection.ts'
import { freeKey, gatewayYaml } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

const messages = [{ role: 'user', content: 'Hello' }]
const nearKey = 'near-key-for-tests-0001'

describe('behind trusted proxies', () => {
  let bed: Testbed
  beforeAll(async () => {
    bed = await startTestbed({
      env: {
        TRUSTED_PROXIES: '127.0.0.1, 10.0.0.0/8, 2001:db8:1::/48',
        UNAUTHENTICATED_ROWS_PER_MINUTE: '1',
      },
      yaml: (url) =>
        gatewayYaml(
          url,
          `  - name: near
    keys: [ { name: near, group: default, secret: ${nearKey}, allowed_cidrs: [ 203.0.113.0/24 ] } ]
`,
        ).replace(
          'channels:\n',
          `  - { id: picture, images: {} }
channels:
  - { name: painter, protocols: { openai-images: "${url}" }, api_keys: [ "" ], models: [ picture ], allow_private_address: true }
`,
        ),
    })
  })
  afterAll(() => bed?.close())
  beforeEach(() => {
    bed.upstream.requests.length = 0
  })

  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['198.51.100.1, 203.0.113.9, 10.1.2.3, 10.0.0.1', '203.0.113.9'],
    ['10.1.2.3, 10.0.0.1', '10.1.2.3'],
    ['203.0.113.9:4711', '203.0.113.9'],
    ['2001:db8::5', '2001:db8::5'],
    ['2001:0DB8:0::5, 2001:db8:1::9', '2001:db8::5'],
    ['[2001:db8::5]:4711', '2001:db8::5'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['203.0.113.9,,  ,10.0.0.1', '203.0.113.9'],
    ['198.51.100.1, unknown, 10.0.0.1', '10.0.0.1'],
    ['198.51.100.1, _hidden', '127.0.0.1'],
    ['2130706433', '127.0.0.1'],
    ['203.0.113.9<script>', '127.0.0.1'],
    ['', '127.0.0.1'],
  ])('"x-forwarded-for: %s" is a call from %s', async (header, address) => {
    const answer = await bed.chat({ model: 'any', messages }, { headers: { 'x-forwarded-for': header } })
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      status: 200,
      client_address: address,
    })
  })

  test('a second header line continues the first one', async () => {
    const headers = new Headers({ authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' })
    headers.append('x-forwarded-for', '198.51.100.1')
    headers.append('x-forwarded-for', '203.0.113.9')
    const body = JSON.stringify({ model: 'any', messages })
    const answer = await fetch(`${bed.tollgate.url}/v1/chat/completions`, { method: 'POST', headers, body })
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({ client_address: '203.0.113.9' })
  })

  test('the address blocks of a key apply to the client, not to the proxy', async () => {
    const from = async (address: string) =>
      (
        await bed.chat(
          { model: 'any', messages },
          { key: nearKey, headers: { 'x-forwarded-for': `203.0.113.9, ${address}` } },
        )
      ).status
    expect(await from('203.0.113.8')).toBe(200)
    expect(await from('198.51.100.1')).toBe(403)
    expect(await from('127.0.0.1')).toBe(200)
  })

  test('a flood of unknown keys from one client does not fold the rows of another', async () => {
    const stranger = (address: string) =>
      bed.chat({ model: 'any', messages }, { key: 'nobody', headers: { 'x-forwarded-for': address } })
    for (let i = 0; i < 5; i++) await stranger('198.51.100.66')
    const other = await stranger('198.51.100.67')
    expect(await bed.row(other.headers.get('x-request-id'))).toMatchObject({
      client_address: '198.51.100.67',
      folded: 1,
    })
  })

  test.each([
    ['/v1/chat/completions', (text: string) => ({ error: { type: 'permission_error', message: text } })],
    ['/v1/responses', (text: string) => ({ error: { type: 'permission_error', message: text } })],
    [
      '/v1/messages',
      (text: string) => ({ type: 'error', error: { type: 'permission_error', message: text } }),
    ],
    ['/v1/models', (text: string) => ({ error: { type: 'permission_error', message: text } })],
  ])(
    'a request to %s that the client sent over plain HTTP is refused in its format, and its key is not looked up',
    async (path, shape) => {
      for (const scheme of ['http', 'HTTP', 'https, http', 'http, https', 'ws']) {
        const answer = await fetch(`${bed.tollgate.url}${path}`, {
          method: path === '/v1/models' ? 'GET' : 'POST',
          headers: {
            authorization: `Bearer ${freeKey}`,
            'x-forwarded-for': `203.0.113.${path.length}`,
            'x-forwarded-proto': scheme,
          },
          ...(path === '/v1/models' ? {} : { body: JSON.stringify({ model: 'any', messages }) }),
        })
        expect(answer.status).toBe(403)
        expect(answer.headers.get('x-tollgate-reason')).toBe('plain_http_refused')
        expect(answer.headers.get('connection')).toBe('close')
        expect(await answer.json()).toMatchObject(
          shape(expect.stringContaining('https://') as unknown as string),
        )
      }
      const [row] = await rowsOf(`203.0.113.${path.length}`)
      expect(row).toMatchObject({
        status: 403,
        outcome: 'refused',
        error_kind: 'permission_denied',
        endpoint: path,
        key_id: null,
        tenant_id: null,
      })
      expect(bed.upstream.requests).toEqual([])
    },
  )

  test('a request that the client sent over HTTPS is served', async () => {
    for (const scheme of ['https', 'HTTPS', 'https, https']) {
      const answer = await bed.chat({ model: 'any', messages }, { headers: { 'x-forwarded-proto': scheme } })
      expect(answer.status).toBe(200)
    }
  })

  test('health checks are answered over plain HTTP too', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await fetch(bed.tollgate.url + path, { headers: { 'x-forwarded-proto': 'http' } })
      expect(answer.status).toBe(200)
    }
  })

  test.each<[Record<string, string>, (port: number) => string]>([
    [
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'gateway.example.com' },
      () => 'https://gateway.example.com/',
    ],
    [
      { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'gateway.example.com:8443' },
      () => 'https://gateway.example.com:8443/',
    ],
    [{ 'x-forwarded-host': 'gateway.example.com:' }, () => 'http://gateway.example.com/'],
    [{ 'x-forwarded-proto': 'https' }, (port) => `https://127.0.0.1:${port}/`],
    [{ 'x-forwarded-host': 'gateway.example.com' }, () => 'http://gateway.example.com/'],
    [{ 'x-forwarded-host': 'evil.example/path?' }, (port) => `http://127.0.0.1:${port}/`],
    [{ 'x-forwarded-host': 'evil.example, gateway.example.com' }, (port) => `http://127.0.0.1:${port}/`],
  ])('links to images lead where the client called: %o', async (headers, origin) => {
    expect(await linkGiven(bed, headers)).toMatch(
      new RegExp(`^${origin(bed.tollgate.port).replaceAll('.', '\\.')}v1/images/files/`),
    )
  })

  function rowsOf(address: string): Promise<Record<string, unknown>[]> {
    return until(async () => {
      const rows = (await bed.rows()).filter((row) => row.client_address === address)
      return rows.length > 0 ? rows : undefined
    })
  }
})

describe('without trusted proxies', () => {
  let bed: Testbed
  beforeAll(async () => {
    bed = await startTestbed({
      env: { TRUSTED_PROXIES: '10.0.0.0/8, 203.0.113.9' },
      yaml: (url) =>
        gatewayYaml(url).replace(
          'channels:\n',
          `  - { id: picture, images: {} }
channels:
  - { name: painter, protocols: { openai-images: "${url}" }, api_keys: [ "" ], models: [ picture ], allow_private_address: true }
`,
        ),
    })
  })
  afterAll(() => bed?.close())

  test("a client's own forwarded headers change nothing", async () => {
    const headers = {
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'evil.example',
      forwarded: 'for=203.0.113.9;proto=http;host=evil.example',
      'x-real-ip': '203.0.113.9',
    }
    const answer = await bed.chat({ model: 'any', messages }, { headers })
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      status: 200,
      client_address: '127.0.0.1',
    })
    expect(await linkGiven(bed, headers)).toMatch(`http://127.0.0.1:${bed.tollgate.port}/v1/images/files/`)
  })
})

describe('a client that comes from another machine without TLS', () => {
  const chat = (bed: Testbed, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${bed.tollgate.port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${freeKey}`, ...headers },
      body: JSON.stringify({ model: 'any', messages }),
    })

  /** The connections are on loopback, but their sockets report the address that `address` returns. */
  const from = (address: () => string, env: Record<string, string>) =>
    startTestbed({
      env: { HOST: '0.0.0.0', ...env },
      onServer: (server) => {
        server.prependListener('connection', (socket: Socket) => {
          Object.defineProperty(socket, 'remoteAddress', { value: address() })
        })
      },
    })

  let here = ''
  let strict: Testbed
  beforeAll(async () => {
    strict = await from(() => here, { TRUSTED_PROXIES: '198.51.100.0/24' })
  })
  afterAll(() => strict.close())

  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['fe80::7%eth0', 'fe80::7'],
    ['10.1.2.3', '10.1.2.3'],
  ])('is refused with a row: from %s', async (address, recorded) => {
    here = address
    for (const headers of [{}, { 'x-forwarded-proto': 'https', 'x-forwarded-for': '127.0.0.1' }]) {
      const answer = await callAnew(`http://127.0.0.1:${strict.tollgate.port}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${freeKey}`, ...headers },
        body: JSON.stringify({ model: 'any', messages }),
      })
      expect(answer.status).toBe(403)
      expect(await strict.row(String(answer.headers['x-request-id']))).toMatchObject({
        status: 403,
        error_kind: 'permission_denied',
        key_id: null,
        client_address: recorded,
      })
    }
    expect(strict.upstream.requests).toEqual([])
    expect((await fetch(`http://127.0.0.1:${strict.tollgate.port}/readyz`)).status).toBe(200)
  })

  test('is served if PLAIN_HTTP allows it', async () => {
    const bed = await from(() => '203.0.113.7', { PLAIN_HTTP: 'allow' })
    const answer = await chat(bed, { 'x-forwarded-proto': 'http' })
    expect(answer.status).toBe(200)
    expect(await bed.row(answer.headers.get('x-request-id') ?? '')).toMatchObject({
      client_address: '203.0.113.7',
    })
    await bed.close()
  })

  test('is served behind a trusted proxy only if the proxy says https', async () => {
    const bed = await from(() => '::ffff:203.0.113.7', { TRUSTED_PROXIES: '203.0.113.0/24' })
    const statusWith = async (headers: Record<string, string>) => (await chat(bed, headers)).status
    expect(await statusWith({})).toBe(403)
    expect(await statusWith({ 'x-forwarded-proto': '' })).toBe(403)
    expect(await statusWith({ 'x-forwarded-proto': 'http' })).toBe(403)
    expect(await statusWith({ 'x-forwarded-proto': 'https' })).toBe(200)
    await bed.close()
  })

  test('is the first hop of all if every address is a trusted proxy', async () => {
    const bed = await from(() => '203.0.113.7', { TRUSTED_PROXIES: '0.0.0.0/0' })
    const forwarded = '198.51.100.1, 203.0.113.9'
    const answer = await chat(bed, { 'x-forwarded-proto': 'https', 'x-forwarded-for': forwarded })
    expect(await bed.row(answer.headers.get('x-request-id') ?? '')).toMatchObject({
      status: 200,
      client_address: '198.51.100.1',
    })
    await bed.close()
  })
})

test('TRUSTED_PROXIES takes addresses and blocks, and names a part that is neither', () => {
  expect(readConfig({ TRUSTED_PROXIES: ' 10.0.0.1 ,2001:db8::/32,, ::1' }).trustedProxies).toEqual([
    '10.0.0.1/32',
    '2001:db8::/32',
    '::1/128',
  ])
  expect(() => readConfig({ TRUSTED_PROXIES: '10.0.0.1,nginx' })).toThrow(
    /TRUSTED_PROXIES: .*"nginx" is neither/,
  )
})

/** The link to an image in the answer to a client that sends these headers. */
async function linkGiven(bed: Testbed, headers: Record<string, string>): Promise<string> {
  const pixel =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  bed.upstream.script((request) =>
    request.path.endsWith('/images/generations')
      ? { body: JSON.stringify({ created: 1, data: [{ b64_json: pixel }] }) }
      : { body: '{}' },
  )
  const answer = await fetch(`${bed.tollgate.url}/v1/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}`, ...headers },
    body: JSON.stringify({ model: 'picture', prompt: 'a door', response_format: 'url' }),
  })
  const { data } = (await answer.json()) as { data: { url: string }[] }
  return data[0]?.url ?? ''
}
