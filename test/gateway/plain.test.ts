import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { idsOf, reasonIn, say, statusesOf } from '../support/raw-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Pass-through endpoints: the upstream gets the client's bytes, the client gets the upstream's bytes, and there is one row. */

const yaml = (upstreamUrl: string) => `
models:
  - { id: text-embedding-main, context_length: 8192, price: { input: "1000" } }
  - { id: omni-moderation-latest }
  - { id: gpt-instruct, context_length: 4096, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: chatty }
  - { id: claude }
channels:
  - name: scripted
    protocols: { openai-chat: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: { text-embedding-main: upstream-embedding, omni-moderation-latest: omni-moderation-latest, gpt-instruct: gpt-instruct, chatty: chatty }
    allow_private_address: true
  - name: elsewhere
    protocols: { anthropic-messages: ${upstreamUrl} }
    models: { claude: claude }
    api_keys: [ "another-credential-0001" ]
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'] }
  - { name: narrow, models: [chatty], channels: ['*'] }
tenants:
  - name: free
    keys:
      - { name: free, group: default, secret: ${freeKey} }
      - { name: narrow, group: narrow, secret: ${narrowKey} }
      - { name: slow, group: default, secret: ${slowKey}, limits: { requests_per_minute: 1 } }
  - name: paid
    balance_usd: "0.10"
    keys:
      - { name: paid, group: default, secret: ${paidKey} }
`
const narrowKey = 'narrow-key-for-tests-001'
const slowKey = 'slow-key-for-tests-00001'

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
})

/** The bytes that an official client sent and received. */
function client(apiKey = freeKey) {
  const wire = { sent: Buffer.alloc(0), got: Buffer.alloc(0), id: '' }
  const openai = new OpenAI({
    baseURL: `${bed.tollgate.url}/v1`,
    apiKey,
    maxRetries: 0,
    async fetch(url, init) {
      wire.sent = Buffer.from(String(init?.body))
      const response = await fetch(url, init)
      wire.id = response.headers.get('x-request-id') ?? ''
      wire.got = Buffer.from(await response.clone().arrayBuffer())
      return response
    },
  })
  return { openai, wire }
}

function answer(body: unknown): Buffer {
  const bytes = Buffer.from(JSON.stringify(body, null, 1))
  bed.upstream.script(() => ({ headers: { 'content-type': 'application/json' }, body: bytes }))
  return bytes
}

const usage = { prompt_tokens: 8, total_tokens: 8 }

describe.each(['float', 'base64'] as const)('embeddings as %s', (format) => {
  const floats = [0.25, -0.5, 1.75]
  const embedding =
    format === 'float' ? floats : Buffer.from(new Float32Array(floats).buffer).toString('base64')

  test('pass unchanged except for the name of the model, and have one true row', async () => {
    const bytes = answer({
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding }],
      model: 'upstream-embedding',
      usage,
    })
    const { openai, wire } = client()
    const made = await openai.embeddings.create({
      model: 'text-embedding-main',
      input: ['Grüße', 'from\u0000here'],
      encoding_format: format,
      user: 'somebody',
    })
    expect(made.data[0]?.embedding).toEqual(embedding)
    expect(wire.got).toEqual(bytes)
    const [seen] = bed.upstream.requests
    expect(seen?.path).toBe('/v1/embeddings')
    expect(seen?.body.toString()).toBe(
      wire.sent.toString().replace('"text-embedding-main"', '"upstream-embedding"'),
    )
    expect(await bed.row(wire.id)).toMatchObject({
      endpoint: '/v1/embeddings',
      client_protocol: 'openai-chat',
      upstream_protocol: 'openai-chat',
      requested_model: 'text-embedding-main',
      served_model: 'upstream-embedding',
      channel: 'scripted',
      stream: false,
      status: 200,
      outcome: 'succeeded',
      input_tokens: 8,
      output_tokens: 0,
      usage_source: 'upstream',
      stream_end: 'complete',
      // 8 tokens at 1000 USD per million.
      cost_nano: '8000000',
      attempt_count: 1,
    })
  })
})

test('moderations pass unchanged, and have one row', async () => {
  const bytes = answer({ id: 'modr-1', model: 'omni-moderation-latest', results: [{ flagged: false }] })
  const { openai, wire } = client()
  const { results } = await openai.moderations.create({
    model: 'omni-moderation-latest',
    input: [{ type: 'text', text: 'Hello' }],
  })
  expect(results).toEqual([{ flagged: false }])
  expect(wire.got).toEqual(bytes)
  expect(bed.upstream.requests[0]?.body).toEqual(wire.sent)
  expect(await bed.row(wire.id)).toMatchObject({
    endpoint: '/v1/moderations',
    status: 200,
    outcome: 'succeeded',
    usage_source: 'estimated',
  })
})

test('completions pass whole', async () => {
  const bytes = answer({
    id: 'cmpl-1',
    object: 'text_completion',
    model: 'gpt-instruct',
    choices: [{ index: 0, text: 'there', finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  })
  const { openai, wire } = client()
  const { choices } = await openai.completions.create({ model: 'gpt-instruct', prompt: 'Hello' })
  expect(choices[0]?.text).toBe('there')
  expect(wire.got).toEqual(bytes)
  expect(await bed.row(wire.id)).toMatchObject({
    endpoint: '/v1/completions',
    finish_reason: 'stop',
    input_tokens: 3,
    output_tokens: 2,
    cost_nano: '7000',
  })
})

test('completions stream; the gateway asks for usage, and hides it from a client that did not ask', async () => {
  const piece = (text: string, reason: string | null) =>
    `data: ${JSON.stringify({ id: 'cmpl-1', model: 'gpt-instruct', choices: [{ index: 0, text, finish_reason: reason }] })}\n\n`
  const usageFrame = `data: ${JSON.stringify({ id: 'cmpl-1', choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } })}\n\n`
  bed.upstream.script(() => ({
    chunks: [piece('the', null), piece('re', 'stop'), usageFrame, 'data: [DONE]\n\n'],
    ending: 'end',
  }))
  const { openai, wire } = client()
  const stream = await openai.completions.create({ model: 'gpt-instruct', prompt: 'Hello', stream: true })
  let text = ''
  for await (const { choices } of stream) text += choices[0]?.text ?? ''
  expect(text).toBe('there')
  expect(wire.got.toString()).toBe(`${piece('the', null)}${piece('re', 'stop')}data: [DONE]\n\n`)
  expect(bed.upstream.requests[0]?.includeUsage).toBe(true)
  expect(await bed.row(wire.id)).toMatchObject({
    stream: true,
    stream_end: 'complete',
    input_tokens: 3,
    output_tokens: 2,
    usage_source: 'upstream',
  })
  const row = await bed.row(wire.id)
  expect(row.first_token_ms).not.toBeNull()
})

test('a missing field, or one of the wrong type, is refused by name, with a row', async () => {
  for (const [path, body, field] of [
    ['embeddings', { model: 'text-embedding-main' }, 'input'],
    ['embeddings', { model: 'text-embedding-main', input: 5 }, 'input'],
    ['embeddings', { input: 'x' }, 'model'],
    ['moderations', { model: 'omni-moderation-latest', prompt: 'x' }, 'input'],
    ['completions', { model: 'gpt-instruct', input: 'x' }, 'prompt'],
    ['completions', { model: 'gpt-instruct', prompt: 'x', max_tokens: -1 }, 'max_tokens'],
  ] as const) {
    const response = await post(path, body)
    expect(response.status, JSON.stringify(body)).toBe(400)
    expect(await response.json()).toMatchObject({ error: { param: field } })
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
      status: 400,
      outcome: 'refused',
      endpoint: `/v1/${path}`,
    })
  }
  expect(bed.upstream.requests).toEqual([])
})

test('are never translated: a model whose channels speak another format is refused by name', async () => {
  const response = await post('embeddings', { model: 'claude', input: 'x' })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    error: { message: expect.stringContaining('its upstreams support anthropic-messages') },
  })
})

test('a key that may not use the model, and a key beyond its limit, get the same errors as for a chat', async () => {
  const body = { model: 'text-embedding-main', input: 'x' }
  expect((await post('embeddings', body, narrowKey)).status).toBe(403)
  answer({ data: [], usage })
  expect((await post('embeddings', body, slowKey)).status).toBe(200)
  const late = await post('embeddings', body, slowKey)
  expect(late.status).toBe(429)
  expect(late.headers.get('retry-after')).not.toBeNull()
})

test('an embedding holds the price of its input only, and is never sent if the money does not suffice', async () => {
  answer({ data: [], usage })
  const small = await post('embeddings', { model: 'text-embedding-main', input: '12345' }, paidKey)
  expect(small.status).toBe(200)
  const large = await post('embeddings', { model: 'text-embedding-main', input: 'x'.repeat(100) }, paidKey)
  expect(large.status).toBe(402)
  expect(bed.upstream.requests.length).toBe(1)
})

test('many inputs at once hold more than one context', async () => {
  const input = Array.from({ length: 20 }, (_, index) => `${index} ${'long '.repeat(200)}`)
  const refused = await post('embeddings', { model: 'text-embedding-main', input }, paidKey)
  const held = /could cost up to \$([\d.]+)/.exec(await refused.text())?.[1]
  // A thousand dollars a million tokens: each byte is at most one token.
  expect(Number(held)).toBeGreaterThan(20)
})

test('a completion holds money for each of its prompts: two cost twice as much as one', async () => {
  const prompt = ['a', 'b', 'c'].map((letter) => letter.repeat(5))
  const held = (body: unknown) => post('completions', body, paidKey).then((response) => response.text())
  const one = await held({ model: 'gpt-instruct', prompt: 'a', max_tokens: 200_000 })
  expect(one).toContain('could cost up to $0.40')
  const three = await held({ model: 'gpt-instruct', prompt, max_tokens: 200_000, n: 2 })
  expect(three).toContain('could cost up to $2.40')
})

test('GET /v1/models lists the models that are known to answer there', async () => {
  const response = await fetch(`${bed.tollgate.url}/v1/models`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  const { data } = (await response.json()) as { data: { id: string; endpoints: string[] }[] }
  const chats = ['/v1/chat/completions', '/v1/responses', '/v1/messages']
  expect(Object.fromEntries(data.map(({ id, endpoints }) => [id, endpoints]))).toMatchObject({
    'text-embedding-main': ['/v1/embeddings'],
    'omni-moderation-latest': ['/v1/moderations'],
    'gpt-instruct': [...chats, '/v1/completions'],
    chatty: chats,
  })
})

function post(path: string, body: unknown, key = freeKey): Promise<Response> {
  return fetch(`${bed.tollgate.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  })
}

test('an upgrade to WebSocket on another path than /v1/responses gets 426 in the format of the path, with a row of the key', async () => {
  const received = await say(
    bed.tollgate.port,
    `GET /v1/chat/completions HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nauthorization: Bearer ${freeKey}\r\n\r\n`,
  )
  expect(statusesOf(received)).toEqual([426])
  expect(received.toLowerCase()).toMatch(/\r\nupgrade: http\/1\.1\r\n/)
  expect(reasonIn(received)).toBe('websocket_not_served')
  expect(await bed.row(idsOf(received)[0] ?? null)).toMatchObject({
    status: 426,
    outcome: 'refused',
    endpoint: '/v1/chat/completions',
    key_id: expect.any(String),
  })
})
