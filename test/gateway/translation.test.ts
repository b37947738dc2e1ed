import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freeKey, secretKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { chatAnswer, chatStream, errorAnswer, planByModel } from '../support/upstream-plans.ts'

/** The gateway's work around a translation. test/protocols tests the translation of each field. */

const strictKey = 'strict-key-for-tests-01'
const poorKey = 'poor-tenants-key-000001'
const otherKey = 'other-tenants-key-00001'

const yaml = (url: string) => {
  const origin = url.replace(/\/v1$/, '')
  const channel = (name: string, protocols: string, models: string, more = '') =>
    `  - { name: ${name}, protocols: { ${protocols} }, api_keys: [credential-of-${name}], models: ${models}, allow_private_address: true${more} }\n`
  return `
models:
  - { id: via-chat, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: via-messages, context_length: 1000, max_output_tokens: 100, price: { input: "1", output: "2" } }
  - { id: via-responses, context_length: 1000 }
  - { id: claude-native, context_length: 1000 }
  - { id: dear, context_length: 1000, price: { input: "0", output: "1000000" } }
  - { id: two-ways, context_length: 1000 }
  - { id: last-resort, context_length: 1000 }
channels:
${channel('chat', `openai-chat: ${url}`, '[via-chat]')}
${channel('messages', `anthropic-messages: ${origin}/m`, '[via-messages, claude-native]')}
${channel('responses', `openai-responses: ${origin}/r/v1`, '[via-responses, dear]')}
${channel('far', `anthropic-messages: ${origin}/m`, '[two-ways]', ', weight: 1000')}
${channel('near', `openai-chat: ${url}`, '[two-ways]')}
${channel('first', `openai-chat: ${url}`, '[last-resort]', ', priority: 1')}
${channel('second', `openai-chat: ${origin}/spare/v1`, '[last-resort]')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - name: free
    keys:
      - { name: free, secret: ${freeKey} }
      - { name: strict, secret: ${strictKey}, strict: true }
  - name: other
    keys: [ { name: other, secret: ${otherKey} } ]
  - name: poor
    balance_usd: "10"
    keys: [ { name: poor, secret: ${poorKey} } ]
`
}

const messagesAnswer = {
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'claude-upstream',
  content: [{ type: 'text', text: 'Bonjour.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, cache_read_input_tokens: 3, output_tokens: 5 },
}

const responsesAnswer = (id: string) => ({
  id,
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-upstream',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Salut.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
})

/** Each base URL answers in its own format. */
function byPath(request: SeenRequest): Plan {
  if (request.path.startsWith('/m/v1/messages/count_tokens')) return json({ input_tokens: 42 })
  if (request.path.startsWith('/m/')) return json(messagesAnswer)
  if (request.path.startsWith('/r/v1/responses')) return json(responsesAnswer('resp_held_1'))
  return planByModel(request)
}

const json = (body: unknown, status = 200): Plan => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

let bed: Testbed
let openai: OpenAI
let anthropic: Anthropic

beforeAll(async () => {
  bed = await startTestbed({
    yaml,
    env: { SECRET_KEY: secretKey, KEEP_ALIVE_MS: '50', DENIED_BETAS: 'denied-2026, other' },
  })
  openai = new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
  anthropic = new Anthropic({ baseURL: bed.tollgate.url, apiKey: freeKey, maxRetries: 0 })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.script(byPath)
  bed.upstream.requests.length = 0
})

const hello = [{ role: 'user' as const, content: 'Hello' }]
const post = (path: string, body: unknown, headers: Record<string, string> = {}, key = freeKey) =>
  fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: JSON.stringify(body),
  })
const versioned = { 'anthropic-version': '2023-06-01' }

test('what an answer loses is in its row, and in the header of an answer that is not streamed', async () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const message = { role: 'assistant', content: 'A cat.', images: [image] }
  const answer = { id: 'c', choices: [{ index: 0, message, finish_reason: 'stop' }] }
  const chunk = { id: 'c', choices: [{ index: 0, delta: message, finish_reason: 'stop' }] }
  bed.upstream.script(({ stream }) =>
    stream ? { chunks: [`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`], ending: 'end' } : json(answer),
  )
  for (const stream of [false, true]) {
    const body = { model: 'via-chat', max_tokens: 9, messages: hello, stream }
    const response = await post('/v1/messages', body, versioned)
    expect(await response.text()).toContain('A cat.')
    const row = await bed.row(response.headers.get('x-request-id'))
    expect(JSON.parse(String(row.notes))).toContainEqual(
      expect.objectContaining({ path: 'answer.images', action: 'dropped' }),
    )
    const header = response.headers.get('x-tollgate-translation') ?? ''
    if (!stream) expect(header).toContain('answer.images')
  }
})

test('a tool is not called with arguments that its model did not give', async () => {
  const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{"a":' } }]
  const message = { role: 'assistant', content: null, tool_calls: calls }
  bed.upstream.script(() => json({ id: 'c', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }))
  const body = { model: 'via-chat', max_tokens: 9, messages: hello }
  const response = await post('/v1/messages', body, versioned)
  expect(response.status).toBe(502)
  expect(await response.text()).toContain('with arguments that are not a JSON object')
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({ outcome: 'failed', error_kind: 'upstream_error' })
})

test('the row of a translated request has both formats, the notes with their reasons, and the cost', async () => {
  const response = await post('/v1/chat/completions', { model: 'via-messages', messages: hello, seed: 7 })
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    object: 'chat.completion',
    model: 'via-messages',
    choices: [{ message: { content: 'Bonjour.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 11, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 3 } },
  })
  const header = response.headers.get('x-tollgate-translation') ?? ''
  expect(header).toMatch(/^anthropic-messages; .*dropped=seed/)
  expect(header).toContain('defaulted=')
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(row).toMatchObject({
    client_protocol: 'openai-chat',
    upstream_protocol: 'anthropic-messages',
    served_model: 'claude-upstream',
    finish_reason: 'end_turn',
    outcome: 'succeeded',
    input_tokens: 8,
    cache_read_tokens: 3,
    output_tokens: 5,
    usage_source: 'upstream',
    cost_nano: '21000',
  })
  expect(JSON.parse(String(row.notes))).toContainEqual({
    path: 'seed',
    action: 'dropped',
    reason: expect.stringMatching(/.../),
  })
  const listed = await fetch(`${bed.tollgate.url}/v1/usage/requests/${row.id}`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  expect(await listed.json()).toMatchObject({
    notes: expect.arrayContaining([expect.objectContaining({ path: 'seed' })]),
  })
})

test('strict, by header or by key, refuses a field that would be dropped, names it, and calls no upstream', async () => {
  const body = { model: 'via-messages', messages: hello, seed: 7 }
  for (const asked of [
    post('/v1/chat/completions', body, { 'x-tollgate-strict': 'true' }),
    post('/v1/chat/completions', body, {}, strictKey),
  ]) {
    const response = await asked
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { code: 'unsupported_parameter', param: 'seed', message: expect.stringContaining('seed') },
    })
  }
  expect(bed.upstream.requests).toHaveLength(0)
  expect((await post('/v1/chat/completions', { ...body, seed: undefined }, {}, strictKey)).status).toBe(200)
})

test('within a priority the channel that speaks the format comes first, whatever the weights', async () => {
  for (let round = 0; round < 5; round++) {
    const response = await post('/v1/chat/completions', { model: 'two-ways', messages: hello })
    expect(response.headers.get('x-tollgate-translation')).toBeNull()
  }
  bed.upstream.script((request) =>
    request.path.startsWith('/m/') ? json(messagesAnswer) : errorAnswer(500, {}),
  )
  const response = await post('/v1/chat/completions', { model: 'two-ways', messages: hello })
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'Bonjour.' } }] })
  expect(response.headers.get('x-tollgate-translation')).toContain('anthropic-messages')
})

test('when a translated answer fails before its first content, the next channel is called', async () => {
  const overloaded = 'data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n'
  bed.upstream.script((request) =>
    request.path.startsWith('/spare/') ? chatStream(request) : { chunks: [overloaded], ending: 'end' },
  )
  const message = await anthropic.messages
    .stream({ model: 'last-resort', max_tokens: 10, messages: hello })
    .finalMessage()
  expect(message.content[0]).toMatchObject({ type: 'text' })
  expect(bed.upstream.requests.map(({ path }) => path)).toEqual([
    '/v1/chat/completions',
    '/spare/v1/chat/completions',
  ])
})

test('when no channel is left, such an error has its own status, in the format of the client', async () => {
  bed.upstream.script(() => ({
    chunks: ['data: {"error":{"message":"Overloaded","type":"overloaded_error"}}\n\n'],
    ending: 'end',
  }))
  await expect(
    anthropic.messages.stream({ model: 'last-resort', max_tokens: 10, messages: hello }).finalMessage(),
  ).rejects.toMatchObject({ status: 529, error: { error: { type: 'overloaded_error' } } })
})

test('when an upstream breaks off after content, the stream ends with an error in its format, and the row has the error', async () => {
  bed.upstream.script((request) => chatStream(request, { done: false, ending: 'cut' }))
  const response = await post(
    '/v1/messages',
    { model: 'via-chat', max_tokens: 10, stream: true, messages: hello },
    versioned,
  )
  const text = await response.text()
  expect(response.status).toBe(200)
  expect(text).toMatch(/^event: message_start\n/)
  expect(text.trimEnd().split('\n\n').at(-1)).toMatch(/^event: error\ndata: \{"type":"error"/)
  expect(text).not.toContain('message_stop')
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    outcome: 'failed',
    stream_end: 'upstream_cut',
  })
})

test('a client gets a stream if it asked for one, and a whole answer otherwise, whatever the upstream sends', async () => {
  bed.upstream.script((request) => chatStream({ ...request, includeUsage: true }))
  const whole = await anthropic.messages.create({ model: 'via-chat', max_tokens: 10, messages: hello })
  expect(whole).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' })
  bed.upstream.script(() => chatAnswer())
  const stream = anthropic.messages.stream({ model: 'via-chat', max_tokens: 10, messages: hello })
  const streamed = await stream.finalMessage()
  expect(streamed.content).toMatchObject([{ type: 'text', text: 'Hello there.' }])
  expect(await bed.row(stream.request_id ?? null)).toMatchObject({ outcome: 'succeeded', stream: true })
})

test('a translated stream gets pings while its upstream is silent', async () => {
  bed.upstream.script(async (request) => {
    const plan = chatStream(request)
    if (!('chunks' in plan)) return plan
    const [first = '', ...rest] = plan.chunks as string[]
    return { ...plan, chunks: [first, { waitMs: 300 }, ...rest] }
  })
  const response = await post(
    '/v1/messages',
    { model: 'via-chat', max_tokens: 10, stream: true, messages: hello },
    versioned,
  )
  const events = [...(await response.text()).matchAll(/^event: (\w+)$/gm)].map(([, name]) => name)
  expect(events[0]).toBe('message_start')
  expect(events).toContain('ping')
  expect(events.at(-1)).toBe('message_stop')
})

test('the Messages format requires a known version, and names the known ones', async () => {
  for (const headers of [{}, { 'anthropic-version': '2020-01-01' }]) {
    const response = await post(
      '/v1/messages',
      { model: 'via-chat', max_tokens: 1, messages: hello },
      headers,
    )
    expect(response.status).toBe(400)
    const body = (await response.json()) as { error: { message: string }; request_id: string }
    expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } })
    expect(body.error.message).toContain('anthropic-version')
    expect(body.error.message).toContain('2023-06-01')
    expect(response.headers.get('request-id')).toBe(body.request_id)
  }
})

test('a native channel gets version and beta headers byte for byte, and no credential of the client', async () => {
  const beta = 'claude-code-20250219,  interleaved-thinking-2025-05-14'
  const response = await post(
    '/v1/messages?beta=true',
    { model: 'claude-native', max_tokens: 1, messages: hello },
    { 'anthropic-version': '2026-10-21', 'anthropic-beta': beta, 'x-api-key': 'another-value-entirely' },
  )
  expect(response.status).toBe(200)
  const [seen] = bed.upstream.requests
  expect(seen?.path).toBe('/m/v1/messages')
  expect(seen?.headers).toMatchObject({
    'anthropic-version': '2026-10-21',
    'anthropic-beta': beta,
    'x-api-key': 'credential-of-messages',
  })
  expect(seen?.headers.authorization).toBeUndefined()
})

test('the gateway removes the beta features that the operator denies, and nothing else of the header', async () => {
  const send = (beta: string) =>
    post(
      '/v1/messages',
      { model: 'claude-native', max_tokens: 1, messages: hello },
      { ...versioned, 'anthropic-beta': beta },
    )
  await send('a-2026, denied-2026 ,b-2026')
  await send('denied-2026')
  expect(bed.upstream.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual([
    'a-2026,b-2026',
    undefined,
  ])
})

test('a native channel does not get the reasoning that another channel signed', async () => {
  const answer = (content: unknown) => [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content },
    { role: 'user', content: 'More' },
  ]
  const text = { type: 'text', text: 'Hi' }
  const foreign = { type: 'thinking', thinking: 'Hm', signature: 'tg1.e30.AAAA' }
  const own = { type: 'thinking', thinking: 'Hm', signature: 'EqQBown' }
  const body = { model: 'claude-native', max_tokens: 1, messages: answer([foreign, own, text]) }
  const response = await post('/v1/messages', body, versioned)
  expect(response.status).toBe(200)
  const [seen] = bed.upstream.requests
  expect(JSON.parse(String(seen?.body))).toEqual({ ...body, messages: answer([own, text]) })
  expect(response.headers.get('x-tollgate-translation')).toContain('dropped=messages[1].content[0]')
  await post('/v1/messages', { ...body, messages: answer([own, text]) }, versioned)
  expect(String(bed.upstream.requests[1]?.body)).toBe(
    JSON.stringify({ ...body, messages: answer([own, text]) }),
  )
})

test('an empty list of tools is left out of every request, also where the bytes pass, with a note', async () => {
  const body = { model: 'via-chat', messages: hello, tools: [], tool_choice: 'auto' }
  const response = await post('/v1/chat/completions', body, {}, strictKey)
  expect(response.status).toBe(200)
  expect(String(bed.upstream.requests[0]?.body)).toBe(JSON.stringify({ model: 'via-chat', messages: hello }))
  expect(response.headers.get('x-tollgate-translation')).toBe('openai-chat; mapped=tools,tool_choice')
  const row = await bed.row(response.headers.get('x-request-id'))
  expect(JSON.parse(String(row.notes))).toMatchObject([{ path: 'tools' }, { path: 'tool_choice' }])

  const shown = await post('/v1/translate', { from: 'openai-chat', to: 'openai-chat', request: body })
  const { body: sent, notes } = (await shown.json()) as { body: unknown; notes: unknown }
  expect(sent).toEqual({ model: 'via-chat', messages: hello })
  expect(notes).toMatchObject([{ path: 'tools' }, { path: 'tool_choice' }])

  const translated = await post('/v1/chat/completions', { ...body, model: 'via-responses' })
  expect(translated.headers.get('x-tollgate-translation')).toContain('tools')
  expect(JSON.parse(String(bed.upstream.requests[1]?.body))).not.toHaveProperty('tools')
})

test("a client of another format gets an upstream's refusal with the upstream's message, in the client's format", async () => {
  const text = 'messages.1.role: Input should be "user" or "assistant"'
  bed.upstream.script(() =>
    json({ type: 'error', error: { type: 'invalid_request_error', message: text } }, 400),
  )
  const response = await post('/v1/chat/completions', { model: 'via-messages', messages: hello })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { message: text, type: 'invalid_request_error' } })
})

test('a channel counts the tokens if it can, otherwise the gateway estimates them, and the answer says which', async () => {
  const count = (model: string) => anthropic.messages.countTokens({ model, messages: hello }).withResponse()
  const asked = await count('claude-native')
  expect(asked.data.input_tokens).toBe(42)
  expect(asked.response.headers.get('x-tollgate-estimated')).toBeNull()
  expect(bed.upstream.requests[0]?.path).toBe('/m/v1/messages/count_tokens')
  const guessed = await count('via-chat')
  expect(guessed.data.input_tokens).toBeGreaterThan(0)
  expect(guessed.response.headers.get('x-tollgate-estimated')).toBe('true')
  const response = await post('/v1/responses/input_tokens', { model: 'via-chat', input: 'Hello' })
  expect(await response.json()).toMatchObject({
    object: 'response.input_tokens',
    input_tokens: expect.any(Number),
  })
})

test('an answer that an upstream keeps is continued, fetched and deleted there, by its own tenant only', async () => {
  const first = await openai.responses.create({ model: 'via-responses', input: 'Hello' })
  expect(first.id).toBe('resp_held_1')
  await openai.responses.create({ model: 'via-responses', input: 'More', previous_response_id: first.id })
  expect(JSON.parse(String(bed.upstream.requests[1]?.body))).toMatchObject({ previous_response_id: first.id })

  const stranger = new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: otherKey, maxRetries: 0 })
  await expect(
    stranger.responses.create({ model: 'via-responses', input: 'More', previous_response_id: first.id }),
  ).rejects.toMatchObject({ status: 400, code: 'previous_response_not_found' })
  await expect(stranger.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
  expect(bed.upstream.requests).toHaveLength(2)

  expect(await openai.responses.retrieve(first.id)).toMatchObject({ id: first.id, object: 'response' })
  expect(bed.upstream.requests[2]).toMatchObject({ method: 'GET', path: '/r/v1/responses/resp_held_1' })
  bed.upstream.script(() => json({ id: first.id, object: 'response.deleted', deleted: true }))
  await openai.responses.delete(first.id)
  await expect(openai.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 })
})

test('an earlier answer is refused by name if its request would need a translation', async () => {
  await expect(
    openai.responses.create({ model: 'via-chat', input: 'More', previous_response_id: 'resp_held_1' }),
  ).rejects.toMatchObject({ status: 400, param: 'previous_response_id' })
})

test('if a format takes no output bound as small as the client’s, the larger one is reserved', async () => {
  // A token costs a dollar, and the Responses format takes no bound below 16.
  const bound = { model: 'dear', max_completion_tokens: 5, messages: hello }
  expect((await post('/v1/chat/completions', bound, {}, poorKey)).status).toBe(402)
  const native = { model: 'dear', max_output_tokens: 5, input: 'Hello', store: false }
  expect((await post('/v1/responses', native, {}, poorKey)).status).toBe(200)
})

test('a dry run shows path, body and notes, calls no upstream, and has a row', async () => {
  const response = await post('/v1/translate', {
    from: 'openai-chat',
    to: 'anthropic-messages',
    model: 'claude-x',
    request: { model: 'via-messages', messages: hello, seed: 7 },
  })
  expect(await response.json()).toMatchObject({
    path: '/v1/messages',
    body: { model: 'claude-x', max_tokens: 100, messages: [{ role: 'user' }] },
    notes: expect.arrayContaining([expect.objectContaining({ path: 'seed', action: 'dropped' })]),
  })
  expect(bed.upstream.requests).toHaveLength(0)
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    endpoint: '/v1/translate',
    status: 200,
    cost_nano: '0',
  })
  const wrong = await post('/v1/translate', { from: 'gemini', to: 'nowhere', request: {} })
  expect(await wrong.json()).toMatchObject({ error: { param: 'from' } })
})

test('a wrong path that looks like a path of a format gets an error in that format', async () => {
  const response = await post('/v1/v1/messages', { model: 'via-chat' }, versioned)
  expect(response.status).toBe(404)
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: {
      type: 'not_found_error',
      message: "There is no POST /v1/v1/messages. Use POST /v1/messages. Remove /v1 from the SDK's base URL.",
    },
  })
})

test('the Messages SDK lists and retrieves models', async () => {
  const page = await anthropic.models.list({ limit: 2 })
  expect(page.data.map(({ id, type }) => [id, type])).toEqual([
    ['claude-native', 'model'],
    ['dear', 'model'],
  ])
  expect(page.has_more).toBe(true)
  expect(await anthropic.models.retrieve('via-chat')).toMatchObject({ id: 'via-chat', type: 'model' })
})
