import { afterAll, beforeAll, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { planByModel } from '../support/upstream-plans.ts'

const listedKey = 'listed-key-for-tests-01'
let bed: Testbed

beforeAll(async () => {
  bed = await startTestbed({
    yaml: (url) => `
models:
  - { id: main, aliases: [latest, vendor/main], context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: passed, aliases: [other-name] }
channels:
  - { name: scripted, protocols: { openai-chat: ${url} }, api_keys: [k], models: { main: upstream-main }, allow_private_address: [127.0.0.0/8, "::1"] }
  - { name: any, protocols: { openai-chat: ${url} }, api_keys: [k], models: "*", allow_private_address: true }
groups: [{ name: default }]
tenants:
  - name: free
    keys:
      - { name: free, secret: ${freeKey} }
      - { name: listed, secret: ${listedKey}, allowed_models: [main] }
`,
  })
  bed.upstream.script(planByModel)
})
afterAll(() => bed.close())

const hello = [{ role: 'user', content: 'Hello' }]

/** The answer's status and kind of error, and the model names in the upstream calls. */
async function ask(model: string, key = freeKey) {
  bed.upstream.requests.length = 0
  const response = await bed.chat({ model, messages: hello }, { key })
  const { error } = (await response.json()) as { error?: { code?: string } }
  const asked = bed.upstream.requests.map(({ body }) => JSON.parse(String(body)).model)
  return { status: response.status, code: error?.code, asked, id: response.headers.get('x-request-id') }
}

test('an alias stands for its model: the channels, the price, and the requested name on the row', async () => {
  for (const alias of ['latest', 'vendor/main']) {
    const { status, asked, id } = await ask(alias)
    expect([status, asked]).toEqual([200, ['upstream-main']])
    const row = await bed.row(id)
    expect(row).toMatchObject({ requested_model: alias, channel: 'scripted', outcome: 'succeeded' })
    expect(row.cost_nano).not.toBeNull()
  }
})

test("a channel that passes any name gets the model's id, and gets a name without a model unchanged", async () => {
  expect((await ask('other-name')).asked).toEqual(['passed'])
  expect((await ask('never-heard-of')).asked).toEqual(['never-heard-of'])
})

test('a list that names a model allows its aliases, and those of no other model', async () => {
  expect((await ask('latest', listedKey)).status).toBe(200)
  for (const model of ['passed', 'other-name', 'never-heard-of', '*']) {
    const { status, asked } = await ask(model, listedKey)
    expect([model, status, asked]).toEqual([model, 403, []])
  }
})
