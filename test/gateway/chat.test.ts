import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { untilSteady } from '../support/until.ts'
import {
  chatAnswer,
  chatStream,
  errorAnswer,
  frame,
  planByModel,
  usageTold,
} from '../support/upstream-plans.ts'

let bed: Testbed
let openai: OpenAI

beforeAll(async () => {
  bed = await startTestbed({ env: { BODY_BYTES_MAX: '100000' } })
  openai = new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(planByModel)
})

const hello = [{ role: 'user' as const, content: 'Hello' }]

test('the official SDK gets a whole answer, and the row has its usage and cost', async () => {
  const { data, request_id } = await openai.chat.completions
    .create({ model: 'main', messages: hello })
    .withResponse()
  expect(data.choices[0]?.message.content).toBe('Hello there.')
  expect(JSON.parse(String(bed.upstream.requests[0]?.body)).model).toBe('upstream-main')
  expect(bed.upstream.requests[0]?.headers.authorization).toBe('Bearer upstream-credential-0001')
  const row = await bed.row(request_id)
  expect(row).toMatchObject({
    endpoint: '/v1/chat/completions',
    requested_model: 'main',
    served_model: 'scripted-2026-01-01',
    channel: 'scripted',
    status: 200,
    outcome: 'succeeded',
    finish_reason: 'stop',
    input_tokens: 8,
    cache_read_tokens: 3,
    output_tokens: 5,
    reasoning_tokens: 2,
    usage_source: 'upstream',
    stream_end: 'complete',
    // 8 x 1000 + 3 x 500 + 7 x 2000 USD per million tokens
    cost_nano: '23500000',
    attempt_count: 1,
    upstream_request_id: 'upstream-request-1',
  })
  const [payload] = await bed.database.sql`SELECT body FROM request_payloads WHERE request_id = ${request_id}`
  expect(JSON.parse(payload?.body)).toEqual({ model: 'main', messages: hello })
})

test('the official SDK gets a stream without the usage frame it did not ask for, and the row has the usage', async () => {
  const { data, request_id } = await openai.chat.completions
    .create({ model: 'main', messages: hello, stream: true })
    .withResponse()
  const chunks = []
  for await (const chunk of data) chunks.push(chunk)
  expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toContain('token-0 token-1 ')
  expect(chunks.every((chunk) => chunk.choices.length === 1)).toBe(true)
  expect(bed.upstream.requests[0]?.includeUsage).toBe(true)
  expect(await bed.row(request_id)).toMatchObject({
    stream: true,
    input_tokens: 8,
    output_tokens: 5,
    stream_end: 'complete',
  })
})

test('a client that asks for the usage frame gets it', async () => {
  const stream = await openai.chat.completions.create({
    model: 'main',
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
  })
  let usage: unknown
  for await (const chunk of stream) usage = chunk.usage ?? usage
  expect(usage).toEqual(usageTold)
})

test('request bytes reach the upstream unchanged when nothing has to change, unknown fields and odd spacing included', async () => {
  const body = Buffer.from(
    ' {"messages" : [ {"role":"user","content":"h\\u00e9 \\ud83d\\ude00 \u2603","x-new":{"deep":[1e400,-0,1.0]}} ],\n\t"model":"any/model:x" , "unknown_field":[{}],' +
      '"stream":true,"stream_options":{"include_usage":true,"include_obfuscation":false},"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],' +
      '"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{}}},"logprobs":true,"modalities":["text","audio"]} ',
  )
  const response = await bed.chat(body)
  await response.text()
  expect(bed.upstream.requests[0]?.body.equals(body)).toBe(true)
})

test('answer bytes reach the client unchanged at every split of the stream, multi-byte characters and CRLF included', async () => {
  const text =
    `: comment\n\n${frame({ id: 'x', choices: [{ index: 0, delta: { role: 'assistant', content: '\u2603\ud83d\ude00' } }], extra: { a: [] } })}` +
    `event: odd\r\ndata: {"id":"x","choices":[{"index":0,"delta":{"content":"b"}}]}\r\n\r\n` +
    `${frame({ id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${frame({ choices: [], usage: usageTold })}data: [DONE]\n\n`
  const bytes = Buffer.from(text)
  for (let split = 1; split < bytes.length; split++) {
    bed.upstream.script(() => ({
      chunks: [bytes.subarray(0, split), { waitMs: 0 }, bytes.subarray(split)],
      ending: 'end',
    }))
    const response = await bed.chat({
      model: 'any',
      messages: hello,
      stream: true,
      stream_options: { include_usage: true },
    })
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes), `split at ${split}`).toBe(true)
  }
})

test('a recorded answer and a recorded stream pass byte for byte', async () => {
  const fixtures = join(import.meta.dirname, '../fixtures/openai-chat')
  const whole = readFileSync(join(fixtures, 'openai-text.json'))
  bed.upstream.script(() => ({ body: whole }))
  const answer = await bed.chat({ model: 'any', messages: hello })
  expect(Buffer.from(await answer.arrayBuffer()).equals(whole)).toBe(true)
  const lines = readFileSync(join(fixtures, 'openai-text.chunks.txt'), 'utf8').trim().split('\n')
  const stream = Buffer.from(`${lines.map((line) => `data: ${line}\n\n`).join('')}data: [DONE]\n\n`)
  bed.upstream.script(() => ({ chunks: [stream], ending: 'end' }))
  const response = await bed.chat({
    model: 'any',
    messages: hello,
    stream: true,
    stream_options: { include_usage: true },
  })
  expect(Buffer.from(await response.arrayBuffer()).equals(stream)).toBe(true)
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    input_tokens: 16,
    output_tokens: 300,
  })
})

test('an answer larger than the held size passes whole, with its usage', async () => {
  const answer = chatAnswer({ content: 'y'.repeat(3_000_000) })
  bed.upstream.script(() => answer)
  const response = await bed.chat({ model: 'main', messages: hello })
  expect(await response.text()).toBe(answer.body)
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    usage_source: 'upstream',
    output_tokens: 5,
  })
})

const refusals: [
  name: string,
  call: () => Promise<Response>,
  expected: { status: number; code: string | null; says: RegExp; kind: string },
][] = [
  [
    'a bad key',
    () => bed.chat({ model: 'main', messages: hello }, { key: 'no-such-key-anywhere' }),
    { status: 401, code: 'invalid_api_key', says: /is unknown/, kind: 'unauthenticated' },
  ],
  [
    'an unknown model',
    () => bed.chat({ model: '', messages: hello }),
    { status: 400, code: null, says: /model/, kind: 'invalid_request' },
  ],
  [
    'broken JSON',
    () => bed.chat('{"model":"main","messages":[}'),
    { status: 400, code: null, says: /JSON/, kind: 'invalid_request' },
  ],
  [
    'no messages',
    () => bed.chat({ model: 'main' }),
    { status: 400, code: null, says: /messages/, kind: 'invalid_request' },
  ],
  [
    'a body over the limit',
    () => bed.chat({ model: 'main', messages: [{ role: 'user', content: 'x'.repeat(100_001) }] }),
    { status: 413, code: null, says: /100000 bytes/, kind: 'request_too_large' },
  ],
  [
    'a doubled /v1',
    () => wrongPath('/v1/v1/chat/completions'),
    {
      status: 404,
      code: 'unknown_url',
      says: /Use POST \/v1\/chat\/completions.*Remove \/v1 from/,
      kind: 'unknown_path',
    },
  ],
  [
    'a missing /v1',
    () => wrongPath('/chat/completions'),
    {
      status: 404,
      code: 'unknown_url',
      says: /Use POST \/v1\/chat\/completions.*end in \/v1/,
      kind: 'unknown_path',
    },
  ],
  [
    'a broken escape in the path',
    () =>
      fetch(`${bed.tollgate.url}/v1/models/%E0%A4%A`, { headers: { authorization: `Bearer ${freeKey}` } }),
    { status: 400, code: 'path_escape_invalid', says: /not part of a valid escape/, kind: 'invalid_request' },
  ],
  [
    'a wrong method',
    () =>
      fetch(`${bed.tollgate.url}/v1/chat/completions`, { headers: { authorization: `Bearer ${freeKey}` } }),
    { status: 404, code: 'unknown_url', says: /does not support GET. Use POST/, kind: 'unknown_path' },
  ],
]

test.for(refusals)('%s gets an error that says what to change, and a row', async ([, call, expected]) => {
  const response = await call()
  const { error } = (await response.json()) as {
    error: { message: string; type: string; param: string | null; code: string | null }
  }
  expect(response.status).toBe(expected.status)
  expect(error.message).toMatch(expected.says)
  if (expected.code !== null) expect(error.code).toBe(expected.code)
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'request_id', 'type'])
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({
    status: expected.status,
    outcome: 'refused',
    error_kind: expected.kind,
    cost_nano: '0',
    attempt_count: 0,
  })
  expect(bed.upstream.requests).toHaveLength(0)
})

test('an unknown model is refused by name if no channel accepts all names', async () => {
  const own = await startTestbed({
    yaml: (url) => `
models: [ { id: main } ]
channels: [ { name: a, protocols: { openai-chat: ${url} }, api_keys: [ k ], models: [ main ], allow_private_address: true } ]
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: t, keys: [ { name: k, group: default, secret: ${freeKey} } ] } ]
`,
  })
  try {
    const response = await own.chat({ model: 'gpt-unheard-of', messages: hello })
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ error: { code: 'model_not_found', param: 'model' } })
    expect(await own.row(response.headers.get('x-request-id'))).toMatchObject({
      status: 404,
      requested_model: 'gpt-unheard-of',
    })
  } finally {
    await own.close()
  }
})

test("an upstream's own refusal of the request reaches the client unchanged", async () => {
  const refusal = errorAnswer(400, {
    message: 'max_tokens is too large',
    type: 'invalid_request_error',
    param: 'max_tokens',
    code: 'context_length_exceeded',
  })
  bed.upstream.script(() => refusal)
  const response = await bed.chat({ model: 'main', messages: hello })
  expect(response.status).toBe(400)
  expect(await response.text()).toBe(refusal.body)
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({
    status: 400,
    outcome: 'refused',
    error_kind: 'invalid_request',
    error_message: 'max_tokens is too large',
    error_upstream_status: 400,
  })
})

test.for(['application/json', 'text/plain'])(
  "an upstream's error code reaches the client, even when its message had a secret (%s)",
  async (contentType) => {
    const refusal = errorAnswer(400, {
      message: 'upstream-credential-0001 allows 8192 tokens',
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    })
    bed.upstream.script(() => ({ ...refusal, headers: { 'content-type': contentType } }))
    const response = await bed.chat({ model: 'main', messages: hello })
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { code: string; message: string } }
    expect(error.code).toBe('context_length_exceeded')
    expect(error.message).toMatch(/REDACTED.* allows 8192 tokens/)
  },
)

test.for([
  ['error-401', 502],
  ['error-429', 429],
  ['error-500', 502],
  ['error-503', 503],
  ['html', 502],
  ['redirect', 502],
] as const)('upstream answer %s becomes status %i in the client format', async ([model, status]) => {
  const response = await bed.chat({ model, messages: hello })
  expect(response.status).toBe(status)
  const { error } = (await response.json()) as { error: Record<string, unknown> }
  expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'request_id', 'type'])
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    status,
    outcome: 'failed',
    attempt_count: 1,
  })
})

test('a client that stops reading pauses the upstream', async () => {
  const chunk = Buffer.from(frame({ choices: [{ index: 0, delta: { content: 'z'.repeat(60_000) } }] }))
  bed.upstream.script((request) => ({
    ...chatStream(request),
    chunks: Array.from({ length: 5_000 }, () => chunk),
    ending: 'end',
  }))
  const leaving = new AbortController()
  const response = await bed.chat({ model: 'any', messages: hello, stream: true }, { signal: leaving.signal })
  const reader = response.body?.getReader()
  await reader?.read()
  const sent = await untilSteady(() => bed.upstream.requests[0]?.bytesSent ?? 0, 300)
  expect(sent).toBeLessThan(100_000_000)
  expect(sent).toBeGreaterThan(0)
  leaving.abort()
})

function wrongPath(path: string): Promise<Response> {
  return fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'main', messages: hello }),
  })
}
