import type { BetaUsage } from '@anthropic-ai/sdk/resources/beta/messages/messages'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'

/** What an answer costs, from the upstream's bytes to the row. */

const yaml = (url: string) => {
  const origin = url.replace(/\/v1$/, '')
  return `
models:
  - id: claude
    context_length: 200000
    max_output_tokens: 8000
    price:
      input: "5"
      output: "25"
      cache_write: "6.25"
      cache_write_1h: "10"
      web_search: "0.01"
      tiers: [{ above_input_tokens: 150000, input: "10", output: "37.5" }]
      service_tiers: { batch: "0.5" }
  - { id: advisor, price: { input: "15", output: "75" } }
  - { id: no-searches, context_length: 200000, max_output_tokens: 8000, price: { input: "5", output: "25" } }
channels:
  - name: messages
    protocols: { anthropic-messages: ${origin} }
    api_keys: [upstream-credential-1]
    models: { claude: claude-opus-5, advisor: claude-advisor-1, no-searches: claude-haiku-5 }
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [{ name: free, secret: ${freeKey} }] }
  - { name: paid, balance_usd: "10.00", keys: [{ name: paid, secret: ${paidKey} }] }
`
}

const none = { cache_creation: null, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
/** A compaction before the message: the vendor's top-level counts leave it out. */
const compacted: BetaUsage = {
  ...none,
  input_tokens: 682,
  output_tokens: 1320,
  output_tokens_details: null,
  server_tool_use: null,
  service_tier: 'standard',
  speed: null,
  inference_geo: null,
  fallback_credit: null,
  iterations: [
    { ...none, type: 'compaction', input_tokens: 60_385, output_tokens: 592 },
    { ...none, type: 'message', model: 'claude-opus-5', input_tokens: 682, output_tokens: 1320 },
  ],
}

const message = (usage: BetaUsage) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-5',
  content: [{ type: 'text', text: 'Bonjour.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage,
})

const answer =
  (usage: BetaUsage) =>
  ({ stream }: SeenRequest): Plan => {
    if (!stream)
      return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(message(usage)) }
    const { iterations, ...first } = usage
    const events = [
      {
        type: 'message_start',
        message: { ...message(usage), content: [], stop_reason: null, usage: { ...first, output_tokens: 1 } },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Bonjour.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ]
    return {
      chunks: events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
      ending: 'end',
    }
  }

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
})

const hello = [{ role: 'user' as const, content: 'Hello' }]
const body = { model: 'claude', max_tokens: 2000, messages: hello }
const post = (path: string, body: unknown, key = freeKey) =>
  fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify(body),
  })
/** The row of an answer that was read to its end, and the row's detail. */
async function rowOf(response: Response) {
  expect(response.status, await response.clone().text()).toBe(200)
  await response.text()
  const row = await bed.row(response.headers.get('x-request-id'))
  const shown = await fetch(`${bed.tollgate.url}/v1/usage/requests/${row.id}`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  return { row, detail: (await shown.json()) as Record<string, unknown> }
}

describe('an answer after a compaction is charged with the tokens of the compaction', () => {
  const cost = String(61_067n * 5_000n + 1_912n * 25_000n)
  const expected = { input_tokens: 61_067, output_tokens: 1_912, usage_source: 'upstream', cost_nano: cost }

  test.each([
    ['passed through, whole', '/v1/messages', { ...body }],
    ['passed through, streamed', '/v1/messages', { ...body, stream: true }],
    ['translated, whole', '/v1/chat/completions', { ...body }],
    ['translated, streamed', '/v1/chat/completions', { ...body, stream: true }],
    ['translated for Responses', '/v1/responses', { model: 'claude', input: 'Hello', stream: true }],
  ])('%s', async (_, path, body) => {
    bed.upstream.script(answer(compacted))
    const { row, detail } = await rowOf(await post(path, body))
    expect(row).toMatchObject(expected)
    expect(detail).toMatchObject({
      cost_nano_usd: cost,
      cost_parts_nano_usd: { input: String(61_067n * 5_000n), output: String(1_912n * 25_000n) },
      price_source: 'catalog',
      cost_facts: [],
    })
  })
})

test('cache writes of an hour, searches and the service tier are charged, and the row says so', async () => {
  const usage: BetaUsage = {
    ...compacted,
    iterations: null,
    input_tokens: 100,
    output_tokens: 10,
    cache_creation_input_tokens: 50,
    cache_creation: { ephemeral_1h_input_tokens: 30, ephemeral_5m_input_tokens: 20 },
    server_tool_use: { web_search_requests: 3, web_fetch_requests: 0 },
    service_tier: 'batch',
  }
  bed.upstream.script(answer(usage))
  const { row, detail } = await rowOf(await post('/v1/messages', body))
  // Half of the prices of tokens; searches cost the same.
  const parts = {
    input: 250_000n,
    cache_write: 20n * 3_125n + 30n * 5_000n,
    output: 125_000n,
    fees: 30_000_000n,
  }
  const cost = Object.values(parts).reduce((sum, part) => sum + part, 0n)
  expect(row).toMatchObject({ cost_nano: String(cost) })
  expect(detail).toMatchObject({
    cost_parts_nano_usd: Object.fromEntries(
      Object.entries(parts).map(([part, nano]) => [part, String(nano)]),
    ),
    cost_facts: [
      { part: 'cache_write_1h', count: 30 },
      { part: 'web_searches', count: 3 },
      { part: 'service_tier', name: 'batch' },
    ],
  })
})

test('a long input has the price of its tier', async () => {
  bed.upstream.script(answer({ ...compacted, iterations: null, input_tokens: 150_001, output_tokens: 10 }))
  const { row } = await rowOf(await post('/v1/messages', body))
  expect(row).toMatchObject({ cost_nano: String(150_001n * 10_000n + 10n * 37_500n) })
})

describe('an advisor', () => {
  const advised = (model: string): BetaUsage => ({
    ...compacted,
    iterations: [
      { ...none, type: 'message', model: 'claude-opus-5', input_tokens: 682, output_tokens: 1320 },
      { ...none, type: 'advisor_message', model, input_tokens: 1000, output_tokens: 100 },
    ],
  })
  const own = 682n * 5_000n + 1_320n * 25_000n
  const advice = 1000n * 15_000n + 100n * 75_000n

  test("is charged at its own model's price", async () => {
    bed.upstream.script(answer(advised('claude-advisor-1')))
    for (const stream of [false, true]) {
      const { row, detail } = await rowOf(await post('/v1/messages', { ...body, stream }))
      expect(row).toMatchObject({ input_tokens: 682, output_tokens: 1320, cost_nano: String(own + advice) })
      expect(detail).toMatchObject({
        cost_parts_nano_usd: { others: String(advice) },
        cost_facts: [{ part: 'model', name: 'claude-advisor-1', cost_nano_usd: String(advice) }],
      })
    }
  })

  test('whose price is not known makes the cost unknown, and the row says which', async () => {
    bed.upstream.script(answer(advised('claude-stranger')))
    const { row, detail } = await rowOf(await post('/v1/messages', body))
    expect(row).toMatchObject({ input_tokens: 682, cost_nano: null })
    expect(detail).toMatchObject({
      cost_parts_nano_usd: null,
      cost_facts: [{ part: 'model', name: 'claude-stranger', cost_nano_usd: null }],
    })
  })
})

test('a key with a budget may search the web only where a search has a price', async () => {
  bed.upstream.script(answer({ ...compacted, iterations: null }))
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]
  const taken = await post('/v1/messages', { ...body, tools }, paidKey)
  expect(taken.status, await taken.text()).toBe(200)
  const refused = await post('/v1/messages', { ...body, model: 'no-searches', tools }, paidKey)
  expect(refused.status).toBe(403)
  expect(await refused.json()).toMatchObject({ error: { message: expect.stringContaining('search') } })
  const plain = await post('/v1/messages', { ...body, model: 'no-searches' }, paidKey)
  expect(plain.status, await plain.text()).toBe(200)
})
