import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import WebSocket from 'ws'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** A few bytes of a body may stand for a whole context: here $1.27, which a tenant with $1 has not. */

const poorKey = 'poor-key-for-tests-0001'
const oneKey = 'one-key-for-tests-00001'
const declaringKey = 'declaring-key-for-tests'
const contextLength = 127_000

const yaml = (url: string) => `
models:
  - { id: large, context_length: ${contextLength}, max_output_tokens: 100, price: { input: "10", output: "0", web_search: "0" } }
  - { id: writing, context_length: ${contextLength}, max_output_tokens: ${contextLength}, price: { input: "0", output: "10" } }
  - { id: unsized, max_output_tokens: 100, price: { input: "10", output: "0" } }
  - id: declared
    context_length: ${contextLength}
    max_output_tokens: 100
    price: { input: "10", output: "0" }
    plain_members: ["messages[].content[].document_url"]
channels:
  - name: scripted
    protocols: { openai-chat: ${url}, openai-responses: ${url}, anthropic-messages: ${url.replace('/v1', '')} }
    api_keys: [upstream-credential-1]
    models: [large, writing, unsized, declared]
    allow_private_address: true
  - name: declaring
    protocols: { openai-chat: ${url} }
    api_keys: [upstream-credential-1]
    models: [large]
    allow_private_address: true
    plain_members: [plugins]
groups:
  - { name: default, models: ['*'], channels: [scripted], responses: { store: true } }
  - { name: declaring, models: ['*'], channels: [declaring] }
tenants:
  - name: poor
    balance_usd: "1.00"
    keys:
      - { name: poor, group: default, secret: ${poorKey} }
      - { name: declaring, group: declaring, secret: ${declaringKey} }
  - { name: one, balance_usd: "2.00", keys: [{ name: one, group: default, secret: ${oneKey} }] }
`

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { BODY_THREAD_BYTES: '4096', ADMIT_MS: '60000' } })
  // Their keys are in memory from here on.
  for (const key of [poorKey, oneKey, declaringKey]) await until(() => isKnown(key))
})
afterAll(() => bed?.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(() =>
    chatAnswer({ usage: { ...usage, prompt_tokens: contextLength, total_tokens: contextLength } }),
  )
})

const usage = {
  prompt_tokens: 10,
  completion_tokens: 0,
  total_tokens: 10,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
}

const user = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const document = user({ type: 'document_url', document_url: 'https://e.example/x.pdf' })
const hello = { messages: [{ role: 'user', content: 'Hello' }] }

/** Each with the name that its refusal gives. */
const kinds: [name: string, path: string, body: Record<string, unknown>][] = [
  ['messages[].content[].document_url', 'chat/completions', document],
  ['plugins', 'chat/completions', { ...hello, plugins: [{ id: 'web' }] }],
  ['tools[].file_search', 'chat/completions', { ...hello, tools: [{ type: 'file_search' }] }],
  ['plugins', 'chat/completions', { messages: [{ role: 'user', content: 'x'.repeat(5000) }], plugins: [{}] }],
  ['tools[].shell', 'responses', { input: 'Hello', tools: [{ type: 'shell' }] }],
  ['tools[].shell', 'responses', { input: 'Hello', tools: [{ type: 'shell' }], background: true }],
  ['input[].compaction', 'responses', { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
  ['container', 'messages', { ...hello, max_tokens: 10, container: { skills: [] } }],
  [
    'tools[].tool_search_tool_regex',
    'messages',
    { ...hello, max_tokens: 10, tools: [{ type: 'tool_search_tool_regex' }] },
  ],
]

test('twenty of all kinds at once are refused, and the refusal names the member and the setting', async () => {
  const all = [...kinds, ...kinds, ...kinds].slice(0, 20)
  const answers = await Promise.all(
    all.map(async ([name, path, body]) => {
      const answer = await post(path, { model: 'large', ...body })
      return { name, status: answer.status, text: await answer.text() }
    }),
  )
  for (const { name, status, text } of answers) {
    expect(status, text).toBe(402)
    expect(text).toContain(`The vendor may add input for ${name}`)
    expect(text).toContain('plain_members')
  }
  expect(bed.upstream.requests).toHaveLength(0)
  expect(await accounts()).toMatchObject([
    { name: 'one' },
    { name: 'poor', balance: 1_000_000_000n, held: 0n },
  ])
})

test('over a WebSocket too', async () => {
  const socket = new WebSocket(`${bed.tollgate.url.replace('http', 'ws')}/v1/responses`, {
    headers: { authorization: `Bearer ${poorKey}` },
  })
  const events: string[] = []
  socket.on('message', (data) => events.push(String(data)))
  await once(socket, 'open')
  socket.send(
    JSON.stringify({ type: 'response.create', model: 'large', input: 'Hello', tools: [{ type: 'shell' }] }),
  )
  await until(async () => events.length > 0)
  socket.terminate()
  expect(events[0]).toContain('The vendor may add input for tools[].shell')
  expect(bed.upstream.requests).toHaveLength(0)
})

test('where the money is enough for one, one is sent', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const answer = await post('chat/completions', { model: 'large', ...document }, oneKey)
      return { status: answer.status, text: await answer.text() }
    }),
  )
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused).toHaveLength(19)
  for (const { text } of refused)
    expect(text).toContain('The vendor may add input for messages[].content[].document_url')
  expect(bed.upstream.requests).toHaveLength(1)
  await bed.rows()
  await expect
    .poll(async () => (await accounts())[0], { timeout: 30_000 })
    .toEqual({ name: 'one', balance: 730_000_000n, held: 0n })
})

test.each([
  ['the model', { model: 'declared', ...document }, poorKey],
  ['the channel', { model: 'large', ...hello, plugins: [] }, declaringKey],
])('a member that %s declares plain holds its bytes', async (_by, body, key) => {
  bed.upstream.script(() => chatAnswer({ usage }))
  const answer = await post('chat/completions', body, key)
  expect(answer.status, await answer.text()).toBe(200)
  const other = await post('chat/completions', { ...body, other: true }, key)
  expect(await other.text()).toContain('The vendor may add input for other that')
})

test('a bound of no output holds what the model can write', async () => {
  for (const bound of [{ max_tokens: 0 }, { max_completion_tokens: 0 }]) {
    const answer = await post('chat/completions', { model: 'writing', ...hello, ...bound })
    expect(answer.status).toBe(402)
  }
  const messages = await post('messages', { model: 'writing', ...hello, max_tokens: 0 })
  expect(messages.status).toBe(402)
  const responses = await post('responses', { model: 'writing', input: 'Hello', max_output_tokens: 0 })
  expect(responses.status).toBe(402)
})

test('a model without a context length is a 403 that says so', async () => {
  const answer = await post('chat/completions', { model: 'unsized', ...document })
  expect(answer.status).toBe(403)
  const text = await answer.text()
  expect(text).toContain(
    'the model has no context_length. The operator can set one. The vendor may add input for messages[].content[].document_url',
  )
  bed.upstream.script(() => chatAnswer({ usage }))
  expect((await post('chat/completions', { model: 'unsized', ...hello })).status).toBe(200)
})

/** As clients do, it asks again after a 503: a machine of CI freezes for seconds. */
async function post(path: string, body: unknown, key = poorKey): Promise<Response> {
  const answer = await fetch(`${bed.tollgate.url}/v1/${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify(body),
  })
  if (answer.status !== 503) return answer
  await answer.text()
  return await post(path, body, key)
}

async function isKnown(key: string): Promise<boolean> {
  const models = await fetch(`${bed.tollgate.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
  await models.text()
  return models.ok
}

async function accounts() {
  const rows = await bed.database.sql`
    SELECT t.name, a.balance_nano, a.reserved_nano FROM accounts a JOIN tenants t USING (id) WHERE a.limited ORDER BY t.name`
  return rows.map(({ name, balance_nano, reserved_nano }) => ({
    name,
    balance: BigInt(balance_nano),
    held: BigInt(reserved_nano),
  }))
}
