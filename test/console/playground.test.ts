import { expect, test } from 'vitest'
import { AnswerReader } from '../../console/src/pages/playground/answer.ts'
import { modelsFor, ownModels } from '../../console/src/pages/playground/choices.ts'
import { firstSnippets } from '../../console/src/pages/playground/first-snippets.ts'
import {
  type Endpoint,
  endpoints,
  firstRequest,
  formOf,
  inFormat,
  parseRequest,
  withForm,
} from '../../console/src/pages/playground/formats.ts'
import { runRequest } from '../../console/src/pages/playground/run.ts'
import { EventReader } from '../../console/src/pages/playground/sse.ts'
import { firstModel, stepsOf } from '../../console/src/pages/set-up/steps.ts'

const chat = '/v1/chat/completions'

test('a change of the form keeps all that the form does not know', () => {
  const picture = { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x' } }] }
  const request = {
    model: 'm',
    seed: 7,
    messages: [
      { role: 'developer', content: 'Be short' },
      { role: 'user', content: 'Hi', name: 'ann' },
      picture,
    ],
  }
  const form = formOf(chat, request)
  expect(form.system).toBe('Be short')
  expect(form.messages.map(({ parts }) => parts)).toEqual([false, true])
  expect(withForm(chat, request, { messages: form.messages })).toEqual(request)
  expect(withForm(chat, request, { messages: form.messages.slice(1) })).toEqual({
    ...request,
    messages: [{ role: 'developer', content: 'Be short' }, picture],
  })
  expect(withForm(chat, request, { system: '' }).messages).toEqual(request.messages.slice(1))
  expect(withForm(chat, request, { temperature: 1, maxTokens: 5 })).toEqual({
    ...request,
    temperature: 1,
    max_completion_tokens: 5,
  })
})

test('a request goes from format to format and back', () => {
  const tools = [
    { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' } } },
  ]
  const request = {
    model: 'm',
    stream: true,
    messages: [
      { role: 'system', content: 'S' },
      { role: 'user', content: 'Hi' },
    ],
    max_completion_tokens: 9,
    temperature: 0.5,
    tools,
  }
  const path: Endpoint[] = [chat, '/v1/messages', '/v1/responses', chat]
  let now: Readonly<Record<string, unknown>> = request
  for (const [index, to] of path.slice(1).entries()) {
    const made = inFormat(path[index] as Endpoint, to, now)
    expect(made.lost.filter((name) => name !== 'max_completion_tokens')).toEqual([])
    now = made.request
    if (to === '/v1/messages') {
      expect(now).toMatchObject({ system: 'S', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] })
    }
    if (to === '/v1/responses') {
      expect(now).toMatchObject({ instructions: 'S', input: [{ role: 'user', content: 'Hi' }] })
    }
  }
  expect(now).toEqual(request)
  expect(inFormat(chat, '/v1/messages', { ...request, seed: 1 }).lost).toEqual(['seed'])
  expect(inFormat(chat, '/v1/images/generations', request).request).toEqual({ model: 'm', prompt: 'Hi' })
})

test('a mistake in the JSON has its line', () => {
  expect(parseRequest('{\n  "a": 1,\n  b\n}')).toMatchObject({ line: 3 })
  expect(parseRequest('[]')).toMatchObject({ line: 1 })
  expect(parseRequest('{"a": 1}')).toEqual({ request: { a: 1 } })
})

test('events are read wherever the text is cut', () => {
  const text = 'event: a\r\ndata: 1\r\n\r\ndata: 2\ndata: 3\n\n: comment\n\ndata: cut'
  for (let size = 1; size < text.length; size++) {
    const reader = new EventReader()
    const events = []
    for (let at = 0; at < text.length; at += size) events.push(...reader.add(text.slice(at, at + size)))
    expect(events).toEqual([
      { event: 'a', data: '1' },
      { event: 'message', data: '2\n3' },
    ])
    expect(reader.end()).toEqual([{ event: 'message', data: 'cut' }])
  }
})

test('a long line in small parts takes no time that grows with its square', () => {
  const reader = new EventReader()
  const began = performance.now()
  for (let part = 0; part < 64; part++) reader.add('x'.repeat(65_536))
  expect(performance.now() - began).toBeLessThan(5_000)
})

const sse = (...events: object[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

test('answers of all formats are read alike', () => {
  const streams = [
    sse(
      { choices: [{ delta: { reasoning_content: 'hm' } }] },
      { choices: [{ delta: { content: 'Hi' } }] },
      {
        choices: [
          { delta: { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{' } }] } },
        ],
      },
      {
        choices: [
          { delta: { tool_calls: [{ index: 0, function: { arguments: '}' } }] }, finish_reason: 'stop' },
        ],
      },
    ),
    sse(
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'hm' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_start', index: 2, content_block: { type: 'tool_use', name: 'f' } },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{}' } },
      { type: 'message_delta', delta: { stop_reason: 'stop' } },
    ),
    sse(
      { type: 'response.reasoning_summary_text.delta', delta: 'hm' },
      { type: 'response.output_text.delta', delta: 'Hi' },
      { type: 'response.output_item.added', item: { id: 'i', type: 'function_call', name: 'f' } },
      { type: 'response.function_call_arguments.delta', item_id: 'i', delta: '{}' },
      { type: 'response.completed', response: { status: 'stop' } },
    ),
  ]
  for (const stream of streams) {
    const reader = new AnswerReader('text/event-stream')
    reader.add(stream)
    expect(reader.answer).toMatchObject({
      text: 'Hi',
      reasoning: 'hm',
      toolCalls: [{ name: 'f', input: '{}' }],
      finish: 'stop',
      error: undefined,
    })
  }
  const wholes = [
    { choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }] },
    { content: [{ type: 'text', text: 'Hi' }], stop_reason: 'stop' },
    { output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hi' }] }], status: 'stop' },
  ]
  for (const whole of wholes) {
    const reader = new AnswerReader('application/json')
    reader.add(JSON.stringify(whole))
    reader.end()
    expect(reader.answer).toMatchObject({ text: 'Hi', finish: 'stop' })
  }
  const refused = new AnswerReader('application/json')
  refused.add('{"error":{"message":"No such model"}}')
  refused.end()
  expect(refused.answer.error).toBe('No such model')
})

const wire = (...events: [string, object][]) =>
  events.map(([event, data]) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('')

test('a run has the wires of the client and of each attempt', async () => {
  const body = wire(
    ['upstream.request', { attempt: 1, channel: 'a', address: 'http://a', method: 'POST', body: '{}' }],
    ['upstream.end', { attempt: 1, error: 'refused' }],
    ['upstream.request', { attempt: 2, channel: 'b', address: 'http://b', method: 'POST', body: '{}' }],
    ['upstream.start', { attempt: 2, status: 200 }],
    [
      'client.start',
      { status: 200, content_type: 'text/event-stream', request_id: 'r', headers: { x: 'y' } },
    ],
    ['client.data', { text: sse({ choices: [{ delta: { content: 'Hi' } }] }) }],
    ['client.end', {}],
    ['end', { request_id: 'r' }],
  )
  const run = await runRequest(
    { keyId: 'k', endpoint: chat, request: { model: 'm' } },
    { signal: new AbortController().signal, tell() {}, post: async () => new Response(body), now: () => 0 },
  )
  expect(run).toMatchObject({ state: 'ended', requestId: 'r', answer: { text: 'Hi' }, firstTextAt: 0 })
  expect(run.upstreams).toMatchObject([
    { title: 'Attempt 1: a', error: 'refused' },
    { title: 'Attempt 2: b', status: 200 },
  ])
})

test('a run that is cancelled keeps what came, and its request id', async () => {
  const controller = new AbortController()
  const stream = new ReadableStream<Uint8Array>({
    start(to) {
      to.enqueue(new TextEncoder().encode(wire(['client.start', { status: 200, request_id: 'r' }])))
      controller.signal.addEventListener('abort', () => to.error(new DOMException('left', 'AbortError')))
    },
  })
  const run = await runRequest(
    { keyId: 'k', endpoint: chat, request: {} },
    {
      signal: controller.signal,
      tell: ({ requestId }) => requestId !== undefined && controller.abort(),
      post: async () => new Response(stream),
    },
  )
  expect(run).toMatchObject({ state: 'cancelled', requestId: 'r', failure: undefined })
})

test('a refusal of the playground itself is a failure, with its words', async () => {
  const run = await runRequest(
    { keyId: 'k', endpoint: chat, request: {} },
    {
      signal: new AbortController().signal,
      tell() {},
      post: async () => Response.json({ title: 'Not found', detail: 'No such key.' }, { status: 404 }),
    },
  )
  expect(run.state).toBe('failed')
  expect(run.failure).toMatchObject({ status: 404, message: 'No such key.' })
})

test('the steps of the set-up follow from what there is', () => {
  const nothing = { channels: [], models: [], groups: [], tenants: [], keys: [], rows: [] }
  expect(Object.values(stepsOf(nothing)).filter((state) => state === 'done')).toEqual(['done'])
  const demo = {
    name: 'demo',
    state: 'enabled' as const,
    protocols: { gemini: 'http://tollgate-demo.internal/v1' },
    models: { small: 'small' },
  }
  const real = { ...demo, protocols: { 'openai-chat': 'https://api.test/v1' } }
  expect(stepsOf({ ...nothing, channels: [demo] }).channel).toBe('demo')
  expect(stepsOf({ ...nothing, channels: [demo, real] }).channel).toBe('done')
  const added = { ...real, models: { large: 'large' } }
  const known = ['demo-chat', 'large'].map((id) => ({ id, price: null }))
  const both = { ...nothing, channels: [demo, added], models: known }
  expect(firstModel(both, ['demo-chat', 'large'])).toBe('large')
  expect(firstModel({ ...both, channels: [demo] }, ['demo-chat', 'large'])).toBe('demo-chat')
  const models = (input: string | null) => [{ id: 'small', price: input === null ? null : { input } }]
  expect(stepsOf(nothing).price).toBe('open')
  expect(stepsOf({ ...nothing, channels: [demo] }).price).toBe('demo')
  expect(stepsOf({ ...nothing, channels: [real], models: models(null) }).price).toBe('open')
  expect(stepsOf({ ...nothing, channels: [real], models: models('1') }).price).toBe('done')
  const key = { id: 'k', name: 'k', tenant: 't', revoked_at: null, disabled: false }
  expect(stepsOf({ ...nothing, keys: [{ ...key, disabled: true }] }).key).toBe('open')
  expect(stepsOf({ ...nothing, keys: [key] }).key).toBe('done')
})

const price = { input: '1', output: '2' }
const plain = { state: 'enabled', images: null, price } as const

test('code for a key names a model that the key can use: enabled, of its group and its own list, and with a price', () => {
  const catalog = [
    { ...plain, id: '*' },
    { ...plain, id: 'gone', state: 'disabled' as const },
    { ...plain, id: 'painter', images: { sizes: ['1x1'] } },
    { ...plain, id: 'gpt-free', price: null },
    { ...plain, id: 'claude-5' },
    { ...plain, id: 'gpt-5' },
  ]
  for (const [group, key, expected] of [
    [['*'], null, ['claude-5', 'gpt-5', 'gpt-free']],
    [undefined, null, ['claude-5', 'gpt-5', 'gpt-free']],
    [['gpt-*'], null, ['gpt-5', 'gpt-free']],
    [['*'], ['gpt-*'], ['gpt-5', 'gpt-free']],
    [['claude-*'], ['*5'], ['claude-5']],
    [['gpt-5'], ['claude-5'], []],
  ] as const)
    expect(modelsFor(catalog, [group, key], chat)).toEqual(expected)
  expect(modelsFor(catalog, [['*'], null], '/v1/images/generations')).toEqual(['painter'])
  // Who may not read the catalog knows what the key's own list spells out.
  expect(modelsFor([], [undefined, ['gpt-*', 'gpt-5', 'gpt-5']], chat)).toEqual(['gpt-5'])
})

test('the answer to a first request is bounded in each format of conversations, and so is that of each code', () => {
  for (const { path, kind } of endpoints.filter(({ kind }) => kind === 'chat'))
    expect(formOf(path, firstRequest(path, 'm')).maxTokens, kind).toBe(1024)
  for (const { id, text } of firstSnippets('http://127.0.0.1', 'm', 'secret'))
    expect(text, id).toMatch(/(max_(completion_)?tokens|maxOutputTokens)\W+1024/)
})

test('a member is offered the models of the group of its key, for the endpoint', () => {
  const model = (id: string, images: object | null = null) =>
    ({ id, capabilities: { images }, pricing: {} }) as Parameters<typeof ownModels>[0][0]['models'][0]
  const groups = [
    { id: 'a', name: 'a', models: [model('small'), model('painter', {})] },
    { id: 'b', name: 'b', models: [model('small'), model('large')] },
  ]
  expect(modelsFor(ownModels(groups, 'a'), [null], chat)).toEqual(['small'])
  expect(modelsFor(ownModels(groups, 'a'), [null], '/v1/images/generations')).toEqual(['painter'])
  expect(modelsFor(ownModels(groups, undefined), [['large']], chat)).toEqual(['large'])
})
