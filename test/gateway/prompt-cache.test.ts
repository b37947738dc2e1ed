import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRecord, type Json, recordsOf } from '../../src/canonical/json.ts'
import { freeKey, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** What a client says about caching reaches an upstream of another format: marks where the vendor takes them, a key elsewhere. */

const otherKey = 'other-tenants-key-00001'

const yaml = (url: string) => {
  const channel = (name: string, protocol: string, model: string, more = '') =>
    `  - { name: ${name}, protocols: { ${protocol}: ${url} }, api_keys: [x], models: ["${model}"], allow_private_address: true${more} }\n`
  return `
models:
${['anthropic/claude-sonnet-4.5', 'claude-litellm', 'qwen3-max', 'gpt-5', 'gpt-4o', 'gpt-5.6-sol', 'gpt-6-sol', 'unknown-model'].map((id) => `  - { id: "${id}", context_length: 1000 }`).join('\n')}
channels:
${channel('router', 'openai-chat', 'anthropic/claude-sonnet-4.5', ', vendor: openrouter')}
${channel('lite', 'openai-chat', 'claude-litellm', ', vendor: litellm')}
${channel('qwen', 'openai-chat', 'qwen3-max', ', vendor: qwen')}
${channel('chat', 'openai-chat', 'gpt-5')}
${channel('chat-new', 'openai-chat', 'gpt-5.6-sol')}
${channel('responses', 'openai-responses', 'gpt-4o')}
${channel('responses-new', 'openai-responses', 'gpt-6-sol')}
${channel('unknown', 'openai-chat', 'unknown-model')}
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants:
  - { name: free, keys: [ { name: free, secret: ${freeKey} } ] }
  - { name: other, keys: [ { name: other, secret: ${otherKey} } ] }
`
}

let bed: Testbed

beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { SECRET_KEY: secretKey } })
  bed.upstream.script(() => chatAnswer())
})
afterAll(() => bed.close())

const cache_control = { type: 'ephemeral' }
const request = {
  max_tokens: 100,
  system: [{ type: 'text', text: 'long prompt', cache_control }],
  tools: [{ name: 'Bash', input_schema: { type: 'object', properties: {} }, cache_control }],
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'callAbc12', name: 'Bash', input: {} }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 'callAbc12', content: 'ok', cache_control }],
    },
    { role: 'user', content: [{ type: 'text', text: 'go on', cache_control }] },
  ],
}

async function sent(
  model: string,
  headers: Record<string, string> = {},
  key = freeKey,
  more: Json = {},
): Promise<Json> {
  const response = await fetch(`${bed.tollgate.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
      ...headers,
    },
    body: JSON.stringify({ ...request, model, ...more }),
  })
  await response.text()
  const body: unknown = JSON.parse(String(bed.upstream.requests.at(-1)?.body))
  return isRecord(body) ? body : {}
}

test.each(['anthropic/claude-sonnet-4.5', 'claude-litellm', 'qwen3-max'])(
  '%s gets marks in Chat',
  async (model) => {
    const { tools, messages } = await sent(model)
    expect(recordsOf(tools)[0]).toMatchObject({ cache_control })
    const content = recordsOf(messages).map((message) => message.content)
    expect(content[0]).toEqual([{ type: 'text', text: 'long prompt', cache_control }])
    expect(content.at(-2)).toEqual([{ type: 'text', text: 'ok', cache_control }])
    expect(content.at(-1)).toEqual([{ type: 'text', text: 'go on', cache_control }])
  },
)

test('OpenAI gets breakpoints since GPT 5.6, and no marks of another vendor', async () => {
  const prompt_cache_breakpoint = { mode: 'explicit' }
  const chat = await sent('gpt-5.6-sol')
  expect(recordsOf(chat.messages)[0]?.content).toEqual([
    { type: 'text', text: 'long prompt', prompt_cache_breakpoint },
  ])
  const responses = await sent('gpt-6-sol')
  expect(recordsOf(responses.input)[0]?.content).toEqual([
    { type: 'input_text', text: 'long prompt', prompt_cache_breakpoint },
  ])
  for (const body of [
    chat,
    responses,
    await sent('gpt-5'),
    await sent('gpt-4o'),
    await sent('unknown-model'),
  ]) {
    expect(JSON.stringify(body)).not.toContain('cache_control')
  }
})

const session = { 'x-claude-code-session-id': '5f6f0a34-0000-4000-8000-000000000001' }

test.each(['gpt-5', 'gpt-4o', 'gpt-5.6-sol', 'gpt-6-sol', 'anthropic/claude-sonnet-4.5'])(
  '%s gets a key made from the session',
  async (model) => {
    const first = await sent(model, session)
    expect(first.prompt_cache_key).toMatch(/^[0-9a-f]{32}$/)
    const again = await sent(model, session, freeKey, { messages: [{ role: 'user', content: 'anew' }] })
    expect(again.prompt_cache_key).toBe(first.prompt_cache_key)
    const inBody = {
      metadata: {
        user_id: JSON.stringify({ device_id: 'd', session_id: session['x-claude-code-session-id'] }),
      },
    }
    expect((await sent(model, {}, freeKey, inBody)).prompt_cache_key).toBe(first.prompt_cache_key)
    const others = [
      await sent(model, session, otherKey),
      await sent(model, { 'x-tollgate-session': 'another' }),
    ]
    for (const other of others) expect(other.prompt_cache_key).not.toBe(first.prompt_cache_key)
    expect(await sent(model)).not.toHaveProperty('prompt_cache_key')
  },
)

test('a server of which nothing is known gets neither', async () => {
  expect(await sent('unknown-model', session)).not.toHaveProperty('prompt_cache_key')
})

test('the key of the client stands, and the row says where a made one comes from', async () => {
  const post = (path: string, body: Json) =>
    fetch(`${bed.tollgate.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}`, ...session },
      body: JSON.stringify(body),
    })
  await (await post('/v1/responses', { model: 'gpt-5', input: 'hi', prompt_cache_key: 'mine' })).text()
  expect(JSON.parse(String(bed.upstream.requests.at(-1)?.body))).toMatchObject({ prompt_cache_key: 'mine' })
  const answer = await post('/v1/responses', { model: 'gpt-5', input: 'hi' })
  await answer.text()
  const { notes } = await bed.row(answer.headers.get('x-request-id'))
  expect(JSON.parse(String(notes))).toContainEqual(
    expect.objectContaining({ path: 'prompt_cache_key', action: 'defaulted' }),
  )
})
