import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { channelLine, hello, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'

/** What no offer can do is refused by name; what some offer may be able to do goes there. The traits are in gateway.yaml. */

const models = `
  - { id: blind, traits: { input: [text] } }
  - { id: blind-too, traits: { input: [text] }, fallbacks: [seeing] }
  - { id: seeing, traits: { input: [text, image] } }
  - { id: half }
  - { id: unknown }
  - { id: split }
  - { id: split-all, traits: { input: [text, image], tools: true } }
  - { id: toolless, traits: { tools: false } }
  - { id: unforced, traits: { forced_tools: false } }
  - { id: schemaless, traits: { schema: none, web_search: false } }
  - { id: whole, traits: { streaming: false } }
  - { id: mute, traits: { output: [text] } }
  - { id: responses-only, traits: { protocols: [openai-responses] } }
  - { id: both, traits: { protocols: [openai-responses] } }
  - { id: code, traits: { tools: true } }
  - { id: managed }
`
const channels = (origin: string) =>
  [
    channelLine(
      origin,
      'chat',
      '[blind, blind-too, toolless, unforced, schemaless, whole, mute, responses-only]',
    ),
    channelLine(
      origin,
      'half',
      '{ half: { upstream: half, traits: { input: [text] } }, managed: managed, split: { upstream: split, traits: { input: [text] } } }',
      {
        more: ', priority: 1',
      },
    ),
    channelLine(
      origin,
      'other-half',
      '{ half: half, unknown: unknown, seeing: seeing, split-all: split-all, split: { upstream: split, traits: { tools: false } } }',
    ),
    channelLine(origin, 'native', '[code, managed]', { protocol: 'openai-responses' }),
    `  - { name: both, protocols: { openai-chat: ${origin}/both/v1, openai-responses: ${origin}/both-r/v1 }, api_keys: [k-both-000001], models: [both], allow_private_address: true }`,
  ].join('\n')

let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({ models, channels, narrow: 'half', env: { BODY_THREAD_BYTES: '65536' } })
})
afterAll(() => bed.close())
afterEach(() => bed.reset())

const picture =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${picture}` } }
const seen = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }]
const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }
const errorOf = ({ text }: { text: string }) => JSON.parse(text).error

test('an image for a model whose channel takes none is refused with the models that do', async () => {
  const asked = await bed.ask('blind', { messages: seen })
  expect(asked.status).toBe(400)
  expect(asked.headers.get('x-tollgate-reason')).toBe('model_unable')
  expect(errorOf(asked)).toEqual({
    message:
      'messages[0].content[1]: model "blind" does not accept images on the upstreams that this key may use ("chat"). Models of this key that accept images: "seeing", "split-all".',
    type: 'invalid_request_error',
    param: 'messages[0].content[1]',
    code: 'unsupported_parameter',
    request_id: asked.id,
  })
  expect(bed.upstream.requests).toEqual([])
  expect(await bed.attemptsOf(asked.id)).toEqual([
    {
      channel: 'chat',
      reason: 'does not accept images: messages[0].content[1]',
      passed_over: true,
      status: null,
      error_kind: null,
    },
  ])
  expect(await bed.row(asked.id)).toMatchObject({ status: 400, outcome: 'refused', cost_nano: '0' })
})

test('a request that needs nothing special goes to the same channel', async () => {
  for (const model of ['blind', 'toolless', 'schemaless', 'whole', 'mute', 'unforced']) {
    expect((await bed.ask(model)).status).toBe(200)
  }
  expect((await bed.ask('unforced', { tools: [tool], tool_choice: 'auto' })).status).toBe(200)
  expect((await bed.ask('toolless', { tools: [tool], tool_choice: 'none' })).status).toBe(200)
  expect((await bed.ask('schemaless', { response_format: { type: 'json_object' } })).status).toBe(200)
})

test('a channel that cannot is left out, and another one of the model answers', async () => {
  const asked = await bed.ask('half', { messages: seen, headers: { 'x-tollgate-route': 'true' } })
  expect(asked.status).toBe(200)
  expect(asked.headers.get('x-tollgate-route')).toBe(
    '"half";passed_over="does not accept images: messages[0].content[1]", "other-half";served',
  )
  expect(await bed.attemptsOf(asked.id)).toMatchObject([
    { channel: 'half', passed_over: true, reason: 'does not accept images: messages[0].content[1]' },
    { channel: 'other-half', passed_over: false, status: 200 },
  ])
  const plain = await bed.ask('half')
  expect(plain.headers.get('x-tollgate-channel')).toBe('half')
})

test('a fallback that can answers instead of a model that cannot', async () => {
  const asked = await bed.ask('blind-too', { messages: seen })
  expect(asked.status).toBe(200)
  expect(asked.headers.get('x-tollgate-model')).toBe('seeing')
  expect(await bed.attemptsOf(asked.id)).toMatchObject([
    { channel: 'chat', passed_over: true },
    { channel: 'other-half', passed_over: false },
  ])
})

test('what no one knows is not refused', async () => {
  expect((await bed.ask('unknown', { messages: seen })).status).toBe(200)
  const odd = [{ role: 'wizard', content: [image] }]
  expect((await bed.ask('blind', { messages: odd })).status).toBe(200)
})

test.each([
  ['toolless', { tools: [tool] }, 'tools[0]', 'does not support tools', 'support tools: "code"'],
  [
    'unforced',
    { tools: [tool], tool_choice: 'required' },
    'tool_choice',
    'does not support forced tool calls',
    'might: "blind", "blind-too", "both", "code", "half"',
  ],
  [
    'schemaless',
    { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: {} } } },
    'response_format',
    'does not support JSON Schemas for answers',
    'might: "blind", "blind-too", "both", "code", "half"',
  ],
  ['whole', { stream: true }, 'stream', 'does not support streaming', 'might: '],
  [
    'mute',
    { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } },
    'modalities',
    'does not produce audio',
    'might: ',
  ],
])('%s: %o', async (model, body, path, lacks, others) => {
  const asked = await bed.ask(model, body)
  expect(asked.status).toBe(400)
  const { message, param } = errorOf(asked)
  expect(param).toBe(path)
  expect(message).toContain(`${path}: model "${model}" ${lacks} on the upstreams that this key may use`)
  expect(message).toContain(`Models of this key that ${others}`)
  expect(bed.upstream.requests).toEqual([])
})

test('reasons that differ are said channel by channel', async () => {
  const asked = await bed.ask('split', { messages: seen, tools: [tool] })
  expect(asked.status).toBe(400)
  expect(errorOf(asked)).toMatchObject({
    message:
      'messages[0].content[1]: model "split" does not accept images (messages[0].content[1]) on "half", and does not support tools (tools[0]) on "other-half". Models of this key that support all of this: "split-all".',
    param: 'messages[0].content[1]',
  })
  expect(bed.upstream.requests).toEqual([])
})

test('a large body is looked into by a thread', async () => {
  const long = { type: 'text', text: 'x'.repeat(100_000) }
  const asked = await bed.ask('blind', { messages: [{ role: 'user', content: [long, image] }] })
  expect(asked.status).toBe(400)
  expect(errorOf(asked)).toMatchObject({ param: 'messages[0].content[1]', code: 'unsupported_parameter' })
  expect((await bed.ask('blind', { messages: [{ role: 'user', content: [long] }] })).status).toBe(200)
})

test('a large body without a sign of what its model cannot do is read once', async () => {
  const done = async () => {
    const ready = await fetch(`${bed.tollgate.url}/readyz`)
    const { body_threads_done }: { body_threads_done: number } = JSON.parse(await ready.text())
    return body_threads_done
  }
  const long = [{ role: 'user', content: 'x'.repeat(100_000) }]
  const before = await done()
  for (const model of ['mute', 'toolless', 'schemaless', 'unknown']) {
    expect((await bed.ask(model, { messages: long })).status).toBe(200)
  }
  expect(await done()).toBe(before + 4)
})

test('each format gets the refusal in its own envelope and the class of its SDK', async () => {
  const anthropic = new Anthropic({ baseURL: bed.tollgate.url, apiKey: freeKey, maxRetries: 0 })
  const told = anthropic.messages.create({
    model: 'blind',
    max_tokens: 10,
    messages: [
      {
        role: 'user',
        content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: picture } }],
      },
    ],
  })
  await expect(told).rejects.toBeInstanceOf(Anthropic.BadRequestError)
  await expect(told).rejects.toMatchObject({
    error: {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: expect.stringContaining('messages[0].content[0]: model "blind" does not accept images'),
      },
    },
  })
  const openai = new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey, maxRetries: 0 })
  const responses = openai.responses.create({
    model: 'blind',
    input: [
      {
        role: 'user',
        content: [{ type: 'input_image', image_url: `data:image/png;base64,${picture}`, detail: 'auto' }],
      },
    ],
  })
  await expect(responses).rejects.toBeInstanceOf(OpenAI.BadRequestError)
  await expect(responses).rejects.toMatchObject({
    param: 'input[0].content[0]',
    code: 'unsupported_parameter',
  })
})

test('a channel is asked in the format in which its vendor serves the model', async () => {
  bed.answers['both-r'] = () => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      status: 'completed',
      model: 'both',
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
    }),
  })
  const asked = await bed.ask('both')
  expect(asked.status).toBe(200)
  expect(JSON.parse(asked.text).choices[0].message.content).toBe('Salut.')
  expect(bed.upstream.requests.map(({ path }) => path)).toEqual(['/both-r/v1/responses'])
})

test('a model whose vendor serves it in no format of its channel is refused', async () => {
  const asked = await bed.ask('responses-only')
  expect(asked.status).toBe(400)
  expect(asked.headers.get('x-tollgate-reason')).toBe('vendor_format_not_spoken')
  expect(errorOf(asked)).toMatchObject({
    code: 'endpoint_not_supported',
    message: expect.stringContaining(
      'Model "responses-only" is offered by its vendor only in openai-responses, which no upstream that this key can use supports ("chat").',
    ),
  })
  expect(await bed.attemptsOf(asked.id)).toMatchObject([
    { channel: 'chat', passed_over: true, reason: 'the vendor serves this model only in openai-responses' },
  ])
})

test('a hosted tool without a counterpart is refused with the models that run it', async () => {
  const asked = await bed.ask('unknown', {
    path: '/v1/responses',
    input: 'Hello',
    tools: [{ type: 'code_interpreter', container: { type: 'auto' } }],
  })
  expect(asked.status).toBe(400)
  const { message, param, code } = errorOf(asked)
  expect({ param, code }).toEqual({ param: 'tools[0]', code: 'unsupported_parameter' })
  expect(message).toContain('code_interpreter')
  expect(message).toContain(
    'Model "unknown" is called in the format openai-chat ("other-half"), so the request is translated.',
  )
  expect(message).toContain(
    'Models of this key that accept it without translation: "both", "code", "managed".',
  )
  expect(message).toContain('This model accepts requests without translation on /v1/chat/completions.')
})

test('a context that its vendor shall manage goes to a channel of the format, or is refused by name', async () => {
  const context = {
    path: '/v1/responses',
    input: 'Hello',
    context_management: [{ type: 'compaction', compact_threshold: 1000 }],
  }
  await bed.ask('managed', context)
  expect(bed.upstream.requests.map(({ path, body }) => [path, JSON.parse(String(body))])).toEqual([
    ['/native/v1/responses', expect.objectContaining({ context_management: context.context_management })],
  ])
  const refused = await bed.ask('unknown', context)
  expect(refused.status).toBe(400)
  const { message, param, code } = errorOf(refused)
  expect({ param, code }).toEqual({ param: 'context_management', code: 'unsupported_parameter' })
  expect(message).toContain('compact with POST /v1/responses/compact')
  expect(message).toContain('accept it without translation: "both", "code", "managed".')
  expect(bed.upstream.requests).toHaveLength(1)
})

test('an endpoint that does not serve a model names those that do, and the models that it serves', async () => {
  const asked = await bed.ask('code', { path: '/v1/embeddings', input: 'x' })
  expect(asked.status).toBe(400)
  expect(errorOf(asked).message).toContain(
    'It is served on /v1/chat/completions, /v1/responses, /v1/messages.',
  )
  expect(hello).toHaveLength(1)
})
