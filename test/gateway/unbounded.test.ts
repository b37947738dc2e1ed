import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan } from '../support/upstream.ts'
import { chat } from '../support/upstream-plans.ts'

/** Work without a bound: ours on the JSON of a request, and an upstream's that goes on after its answer. */

const valuesMax = 5_000

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { JSON_VALUES_MAX: String(valuesMax) } })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
})

const messages = [{ role: 'user', content: 'Hello' }]
const clients = [
  ['native', '/v1/chat/completions', { model: 'chat', messages }],
  ['translated', '/v1/messages', { model: 'chat', max_tokens: 20, messages }],
  ['translated', '/v1/responses', { model: 'chat', input: 'Hello' }],
] as const

test.each(clients)(
  '%s, %s: more JSON keys and values than the bound are refused, unparsed',
  async (_, path, body) => {
    bed.upstream.script(chat)
    const many = Array.from({ length: valuesMax }, () => [])
    const refused = await post(path, { ...body, unknown: many })
    expect(refused.status).toBe(400)
    expect(await refused.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        message: expect.stringMatching(/^body: more than 5000 JSON keys and values.*JSON_VALUES_MAX/),
      },
    })
    expect(bed.upstream.requests).toHaveLength(0)
    const taken = await post(path, { ...body, unknown: many.slice(100) })
    expect(taken.status).toBe(200)
    await taken.text()
  },
)

const queued = {
  id: 'resp_background_1',
  object: 'response',
  status: 'queued',
  background: true,
  model: 'up',
  output: [],
  usage: null,
}

test.each(['queued', 'in_progress'])(
  'an answer in the background that is %s is delivered, once, at an unknown cost',
  async (status) => {
    const id = `resp_${status}`
    bed.upstream.script(() => json({ ...queued, id, status }))
    const answer = await post('/v1/responses', { model: 'two', input: 'Hello', background: true })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({ ...queued, id, status })
    expect(bed.upstream.requests).toHaveLength(1)
    expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
      status: 200,
      outcome: 'succeeded',
      stream_end: 'complete',
      usage_source: 'none',
      input_tokens: null,
      output_tokens: null,
      cost_nano: null,
    })

    const [asked] = bed.upstream.requests
    const finished = { ...queued, id, status: 'completed' }
    bed.upstream.script(() => json(finished))
    const fetched = await fetch(`${bed.tollgate.url}/v1/responses/${id}`, { headers: authorized(freeKey) })
    expect(await fetched.json()).toEqual(finished)
    const root = asked?.path.replace(/\/responses$/, '')
    expect(bed.upstream.requests.map(({ path }) => path)).toEqual([asked?.path, `${root}/responses/${id}`])
  },
)

test('an answer in the background that is too large to hold has an unknown cost as well', async () => {
  const large = { ...queued, id: 'resp_large', instructions: 'x'.repeat(200_000) }
  bed.upstream.script(() => json(large))
  const answer = await post('/v1/responses', { model: 'two', input: 'Hello', background: true })
  expect(await answer.json()).toEqual(large)
  expect(await bed.row(answer.headers.get('x-request-id'))).toMatchObject({
    usage_source: 'none',
    cost_nano: null,
  })
})

test('a limited key may not ask for a background answer, because its cost is unknown', async () => {
  bed.upstream.script(() => json(queued))
  const body = { model: 'two', input: 'Hello', max_output_tokens: 20 }
  const refused = await post('/v1/responses', { ...body, background: true }, paidKey)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({
    error: { code: 'permission_denied', param: 'background', message: expect.stringContaining('background') },
  })
  expect(bed.upstream.requests).toHaveLength(0)
  bed.upstream.script(() =>
    json({ ...queued, status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } }),
  )
  for (const background of [false, null]) {
    expect((await post('/v1/responses', { ...body, background }, paidKey)).status).toBe(200)
  }
})

test('a whole answer with a usage of zeros is estimated, not free', async () => {
  const text = 'A word or two. '.repeat(20)
  const output = [
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
  ]
  bed.upstream.script(() =>
    json({ ...queued, status: 'completed', output, usage: { input_tokens: 0, output_tokens: 0 } }),
  )
  const answer = await post('/v1/responses', { model: 'two', input: 'Hello' })
  expect(answer.status).toBe(200)
  const row = await bed.row(answer.headers.get('x-request-id'))
  expect(row).toMatchObject({ usage_source: 'estimated', output_tokens: Math.ceil(text.length / 4) })
  expect(BigInt(String(row.cost_nano))).toBeGreaterThan(0n)
})

function post(path: string, body: object, key = freeKey): Promise<Response> {
  return fetch(bed.tollgate.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', ...authorized(key) },
    body: JSON.stringify(body),
  })
}

function authorized(key: string) {
  return { authorization: `Bearer ${key}` }
}

function json(body: object): Plan {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

function yaml(url: string): string {
  const origin = url.replace(/\/v1$/, '')
  const model = 'context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" }'
  const channel = 'api_keys: [upstream-credential-0001], allow_private_address: true'
  return `
models:
  - { id: chat, ${model} }
  - { id: two, ${model} }
channels:
  - { name: c, protocols: { openai-chat: ${url} }, models: [chat], ${channel} }
  - { name: one, protocols: { openai-responses: ${origin}/one }, models: [two], ${channel} }
  - { name: other, protocols: { openai-responses: ${origin}/other }, models: [two], ${channel} }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [ { name: free, secret: ${freeKey} } ] }
  - { name: paid, balance_usd: "1.00", keys: [ { name: paid, secret: ${paidKey} } ] }
`
}
