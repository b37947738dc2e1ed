import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

const origin = 'app://obsidian.md'
const open = [
  '/v1/chat/completions',
  '/v1/responses',
  '/v1/responses/resp_1',
  '/v1/messages?beta=true',
  '/v1/messages/count_tokens',
  '/v1/embeddings',
  '/v1/images/generations/x',
  '/v1/models',
  '/v1/models/main',
  '/v1/usage/requests?limit=1',
]
const shut = [
  '/admin/v1/tenants',
  '/v1/keys',
  '/v1/key',
  '/v1/files',
  '/v1/conversations',
  '/v1/modelsx',
  '/public/v1/catalog',
  '/',
]

async function preflight(bed: Testbed, path: string, from = origin): Promise<Response> {
  return await fetch(bed.tollgate.url + path, {
    method: 'OPTIONS',
    headers: {
      origin: from,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-stainless-os',
    },
  })
}

const allowed = (answer: Response) => answer.headers.get('access-control-allow-origin')

describe('with origins', () => {
  let bed: Testbed
  beforeAll(async () => {
    bed = await startTestbed({
      env: { CORS_ORIGINS: `https://App.example, ${origin}`, CORS_EXPOSED_HEADERS: 'x-request-id' },
    })
  })
  afterAll(() => bed?.close())

  test.each(open)('a page may call %s, without credentials', async (path) => {
    const answer = await preflight(bed, path)
    expect(answer.status).toBe(204)
    const headers = Object.fromEntries(answer.headers)
    expect(headers).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-headers': 'authorization, content-type, x-stainless-os',
      'access-control-allow-methods': 'GET, POST, DELETE',
      vary: 'origin',
    })
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  test.each(shut)('and not %s', async (path) => {
    const answer = await preflight(bed, path)
    expect(answer.status).toBe(404)
    expect(allowed(answer)).toBeNull()
  })

  test('its requests, their errors and streams say so; those of others do not', async () => {
    const call = (from: string, body: object, key = freeKey) =>
      bed.chat({ model: 'main', ...body }, { key, headers: { origin: from } })
    const messages = [{ role: 'user', content: 'Hello' }]
    const answers = [
      await call(origin, { messages }),
      await call(origin, { messages, stream: true }),
      await call(origin, { messages: [] }),
      await call(origin, { messages }, 'no-such-key-000000000'),
      await call('https://app.example', { messages }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 401, 200])
    for (const answer of answers) {
      expect(allowed(answer)).toMatch(/^(app:\/\/obsidian.md|https:\/\/app.example)$/)
      expect(answer.headers.get('access-control-expose-headers')).toBe('x-request-id')
      await answer.text()
    }
    const other = await call('https://evil.example', { messages })
    expect([other.status, allowed(other)]).toEqual([200, null])
    await other.text()
    expect(allowed(await bed.chat({ model: 'main', messages }))).toBeNull()
  })

  test('another origin is refused by name', async () => {
    const answer = await preflight(bed, '/v1/chat/completions', 'https://evil.example')
    expect([answer.status, allowed(answer)]).toEqual([404, null])
    expect(answer.headers.get('x-tollgate-reason')).toBe('origin_not_allowed')
    expect(await answer.text()).toContain(
      'Web pages from the origin https://evil.example are not allowed to call',
    )
  })

  test('a preflight has no row', async () => {
    const before = await bed.rows()
    await preflight(bed, '/v1/models')
    expect(await bed.rows()).toHaveLength(before.length)
  })
})

test('by default no page may, and the answer names the setting', async () => {
  const bed = await startTestbed()
  try {
    for (const path of open) {
      const answer = await preflight(bed, path)
      expect([answer.status, allowed(answer)]).toEqual([404, null])
      expect(await answer.text()).toContain('The operator can allow origins with CORS_ORIGINS')
    }
  } finally {
    await bed.close()
  }
})

test('any origin, and headers of its own', async () => {
  const bed = await startTestbed({ env: { CORS_ORIGINS: '*', CORS_HEADERS: 'authorization, x-own' } })
  try {
    const answer = await preflight(bed, '/v1/responses', 'null')
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'authorization, x-own',
    })
    expect(answer.headers.get('vary')).toBeNull()
  } finally {
    await bed.close()
  }
})

test.each([
  'https://app.example/',
  'https://app.example/path',
  'app.example',
  'https://a b',
  'null',
  'https://me@app.example',
  '',
])('%j is not an origin', (value) => {
  if (value === '') expect(readConfig({ CORS_ORIGINS: value }).corsOrigins).toBeUndefined()
  else
    expect(() => readConfig({ CORS_ORIGINS: value })).toThrow('CORS_ORIGINS: must be origins without a path')
})
