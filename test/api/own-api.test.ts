import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ env: { ROUTING_HEADERS: 'show' } })
})
afterAll(() => bed.close())

const messages = [{ role: 'user', content: 'Hello' }]

function get(path: string, key = freeKey): Promise<Response> {
  return fetch(`${bed.tollgate.url}${path}`, { headers: { authorization: `Bearer ${key}` } })
}

test('a client can read its last request, with body and parts of the cost, as soon as it has its answer', async () => {
  const response = await bed.chat({ model: 'main', messages })
  const id = response.headers.get('x-request-id')
  await response.text()
  const list = (await (await get('/v1/usage/requests?limit=1')).json()) as { data: { id: string }[] }
  expect(list.data[0]).toMatchObject({
    id,
    endpoint: '/v1/chat/completions',
    requested_model: 'main',
    status: 200,
    outcome: 'succeeded',
    tokens: { input: 8, cache_read: 3, cache_write: 0, output: 5, reasoning: 2 },
    cost_nano_usd: '23500000',
    error: null,
  })
  const detail = (await (await get(`/v1/usage/requests/${id}`)).json()) as Record<string, unknown>
  expect(JSON.stringify(detail)).toContain('Hello')
  expect(detail.attempts).toMatchObject([{ channel: 'scripted', status: 200 }])
})

test('the rows of another tenant are neither listed nor found', async () => {
  const response = await bed.chat({ model: 'main', messages })
  const id = response.headers.get('x-request-id')
  await response.text()
  expect(await (await get('/v1/usage/requests', paidKey)).json()).toEqual({ data: [], next_cursor: null })
  expect((await get(`/v1/usage/requests/${id}`, paidKey)).status).toBe(404)
})

test('a bad cursor and an unknown filter are refused by name, with a row of their own', async () => {
  for (const [query, field] of [
    ['cursor=nonsense', 'cursor'],
    ['colour=red', 'colour'],
    ['status=teapot', 'status'],
  ]) {
    const response = await get(`/v1/usage/requests?${query}`)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: field } })
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
      status: 400,
      endpoint: '/v1/usage/requests',
    })
  }
})

test('the official SDK lists models and retrieves one whose id has slashes', async () => {
  const openai = new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
  const models = (await openai.models.list()).data
  expect(models.map((model) => model.id)).toEqual(['main', 'priced'])
  expect(models[0]).toMatchObject({
    object: 'model',
    endpoints: ['/v1/chat/completions', '/v1/responses', '/v1/messages'],
    context_length: 1000,
    max_output_tokens: 100,
    pricing: { input: '1000.00', output: '2000.00' },
  })
  expect(await openai.models.retrieve('vendor/any-model')).toMatchObject({ id: 'vendor/any-model' })
})

test.each([
  '/v1/usage/requests',
  '/v1/usage/summary',
  '/v1/usage/export',
  '/v1/key',
  '/v1/files',
  '/v1/models',
  '/v1/usage/budget',
  '/v1/files/none',
])('no cache keeps the answer of %s, good or bad, whatever header has the key', async (path) => {
  for (const headers of [
    { authorization: `Bearer ${freeKey}` },
    { 'x-api-key': freeKey },
    { 'x-api-key': 'bad' },
  ]) {
    const response = await fetch(`${bed.tollgate.url}${path}`, { headers })
    expect(response.headers.get('cache-control')).toBe('no-store')
    await response.text()
  }
})

test('a bad key gets the same error on our own endpoints', async () => {
  const response = await get('/v1/models', 'not-a-key-of-this-gateway')
  expect(response.status).toBe(401)
  expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } })
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    status: 401,
    endpoint: '/v1/models',
  })
})
