import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { usageTold } from '../support/upstream-plans.ts'

/** Prices of the library, from gateway.yaml to the row of a request, and their renewal by a real process. */

const renewed = [
  {
    id: 'openai',
    name: 'OpenAI',
    api_pattern: 'https://api\\.openai\\.com',
    models: [{ id: 'gpt-4o', match: { equals: 'gpt-4o' }, prices: { input_mtok: 4, output_mtok: 20 } }],
  },
]
/** Answers nothing until it is told to: the first prices are the package's. */
const { promise: mayRenew, resolve: renew } = Promise.withResolvers<void>()
const mirror = createServer(async (_, response) => {
  await mayRenew
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(renewed))
})

let bed: Testbed
beforeAll(async () => {
  await new Promise<void>((listening) => mirror.listen(0, '127.0.0.1', listening))
  const { port } = mirror.address() as AddressInfo
  bed = await startTestbed({
    yaml: (url) => `
prices: { library: true, renew: daily, renew_from: "http://127.0.0.1:${port}/data.json" }
models:
  - { id: named, context_length: 10000, max_output_tokens: 1000 }
  - { id: advised, context_length: 10000, max_output_tokens: 10000 }
  - { id: stranger, context_length: 10000, max_output_tokens: 1000 }
  - { id: "*", context_length: 10000, max_output_tokens: 1000 }
channels:
  - { name: openai, vendor: openai, protocols: { openai-chat: ${url} }, api_keys: [k], models: { named: gpt-4o, stranger: no-such-model, "*": "*" }, allow_private_address: true }
  - { name: anthropic, vendor: anthropic, protocols: { anthropic-messages: ${url} }, api_keys: [k], models: { advised: claude-3-haiku-20240307 }, allow_private_address: true }
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [{ name: free, secret: ${freeKey} }] }
  - { name: paid, balance_usd: "1.00", keys: [{ name: paid, secret: ${paidKey} }] }
`,
  })
})
afterAll(async () => {
  await bed.close()
  mirror.close()
})

const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: details } = usageTold
const costAt = (input: bigint, cacheRead: bigint, output: bigint) =>
  String(
    BigInt(prompt - details.cached_tokens) * input +
      BigInt(details.cached_tokens) * cacheRead +
      BigInt(completion) * output,
  )

async function rowOf(model: string, key = freeKey) {
  const response = await bed.chat({ model, messages: [{ role: 'user', content: 'Hello' }] }, { key })
  expect(response.status, await response.clone().text()).toBe(200)
  await response.text()
  return await bed.row(response.headers.get('x-request-id'))
}

const sourceOf = async (row: Record<string, unknown>) =>
  (await bed.database.sql`SELECT source FROM prices WHERE id = ${String(row.price_id)}`)[0]?.source

test('an offer and a name that passes through cost what the library says, also for a key with a budget', async () => {
  const cost = costAt(2_500n, 1_250n, 10_000n)
  for (const key of [freeKey, paidKey]) {
    for (const model of ['named', 'gpt-4o']) {
      const row = await rowOf(model, key)
      expect(row).toMatchObject({ cost_nano: cost })
      expect(await sourceOf(row)).toMatch(/^library @pydantic\/genai-prices [\d.]+, openai\/gpt-4o$/)
    }
  }
})

test('what the library does not know has no cost, and is refused where money is limited', async () => {
  for (const model of ['stranger', 'nobody-knows-this-name']) {
    expect(await rowOf(model)).toMatchObject({ cost_nano: null, price_id: null })
    const refused = await bed.chat(
      { model, messages: [{ role: 'user', content: 'Hello' }] },
      { key: paidKey },
    )
    expect(refused.status).toBe(403)
  }
})

test('an advisor that only the library knows is held for', async () => {
  const ask = (type: string) =>
    fetch(`${bed.tollgate.url}/v1/messages`, {
      method: 'POST',
      headers: {
        'x-api-key': paidKey,
        'anthropic-version': '2023-06-01',
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: 'advised',
        max_tokens: 5000,
        messages: [{ role: 'user', content: 'Hello' }],
        tools: [{ type, name: 'advisor', model: 'claude-opus-4-1', input_schema: { type: 'object' } }],
      }),
    })
  const held = await ask('advisor_20260301')
  expect(held.status, await held.text()).toBe(402)
  expect((await ask('custom')).status).not.toBe(402)
})

test('fetched prices are in force without a restart, and rows before them keep theirs', async () => {
  const before = await rowOf('named')
  renew()
  const cost = costAt(4_000n, 4_000n, 20_000n)
  const after = await until(async () => {
    const row = await rowOf('named')
    return row.cost_nano === cost ? row : undefined
  })
  expect(await sourceOf(after)).toContain('renewed')
  const shown = await fetch(`${bed.tollgate.url}/v1/usage/requests/${before.id}`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  expect(await shown.json()).toMatchObject({
    cost_nano_usd: before.cost_nano,
    cost_parts_nano_usd: { output: String(BigInt(completion - 2) * 10_000n), reasoning: '20000' },
    price_source: expect.stringContaining('openai/gpt-4o'),
  })
})
