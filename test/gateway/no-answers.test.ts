import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { channelLine, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'
import type { Plan } from '../support/upstream.ts'

/** Answers with status 200 that are none: the next channel is asked, and a client without another one gets the true error. */

const protocols = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
} as const
const paths = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const
type Format = keyof typeof paths

/** Each case has channels of its own, because failures open a breaker. */
const numbered = () => nones.map((none, at) => ({ ...none, at: String(at) }))

let bed: RoutingBed
beforeAll(async () => {
  const cases = [...numbered(), { at: 'good', of: 'chat' as const }]
  const line = (origin: string, name: string, model: string, of: Format, priority: number) =>
    channelLine(origin, name, `[${model}]`, {
      protocol: protocols[of],
      more: `, priority: ${priority}`,
    })
  bed = await startRoutingBed({
    models: cases
      .flatMap(({ at }) => [`pair-${at}`, `one-${at}`])
      .map((id) => `  - { id: ${id}, price: { input: "1", output: "2" } }`)
      .join('\n'),
    channels: (origin) =>
      cases
        .flatMap(({ at, of }) => [
          line(origin, `first-${at}`, `pair-${at}`, of, 1),
          line(origin, `second-${at}`, `pair-${at}`, of, 0),
          line(origin, `only-${at}`, `one-${at}`, of, 0),
        ])
        .join('\n'),
    narrow: 'one-good',
    env: { CREDENTIAL_REST_MS: '6' },
  })
})
afterAll(() => bed.close())
afterEach(() => bed.reset())

const json = (body: unknown): Plan => ({
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const sse = (...events: (Record<string, unknown> | string)[]): Plan => ({
  headers: { 'content-type': 'text/event-stream' },
  chunks: events.map((event) => {
    if (typeof event === 'string') return Buffer.from(`data: ${event}\n\n`)
    const name = typeof event.type === 'string' ? `event: ${event.type}\n` : ''
    return Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`)
  }),
  ending: 'end',
})

const used = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const unused = { prompt_tokens: 11, completion_tokens: 0, total_tokens: 11 }
const completion = (choices: unknown, more: Record<string, unknown> = {}) => ({
  ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm', choices },
  ...more,
})
const chunk = (delta: unknown, finish_reason: string | null = null, more: Record<string, unknown> = {}) => ({
  ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' },
  choices: [{ index: 0, delta, finish_reason, ...more }],
})
const choice = (content: unknown, finish_reason: string, more: Record<string, unknown> = {}) => ({
  ...{ index: 0, message: { role: 'assistant', content }, finish_reason },
  ...more,
})
const response = (output: unknown, more: Record<string, unknown> = {}) => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output },
  usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
  ...more,
})
const said = {
  ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
}
const message = (content: unknown, more: Record<string, unknown> = {}) => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content },
  ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 11, output_tokens: 7 } },
  ...more,
})
const slow = { type: 'error', error: { type: 'rate_limit_error', message: 'slow' } }
const begun = { type: 'message_start', message: message([], { stop_reason: null }) }
const ended = (output_tokens: number) => [
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens },
  },
  { type: 'message_stop' },
]
const created = { type: 'response.created', response: response([], { status: 'in_progress', usage: null }) }

const good: Record<Format, (stream: boolean) => Plan> = {
  chat: (stream) =>
    stream
      ? sse(chunk({ role: 'assistant' }), chunk({ content: 'Hello' }), chunk({}, 'stop'), '[DONE]')
      : json(completion([choice('Hello', 'stop')], { usage: used })),
  responses: (stream) =>
    stream
      ? sse(created, { type: 'response.completed', response: response([said]) })
      : json(response([said])),
  messages: (stream) =>
    stream
      ? sse(
          begun,
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
          { type: 'content_block_stop', index: 0 },
          ...ended(7),
        )
      : json(message([{ type: 'text', text: 'Hello' }])),
}

interface None {
  is: string
  of: Format
  stream?: true
  plan: Plan
  status: number
  words: string
}

const nones: None[] = [
  {
    is: 'an error',
    of: 'chat',
    plan: json({ error: { message: 'Provider returned error', code: 502 } }),
    status: 502,
    words: 'Provider returned error',
  },
  {
    is: 'an error with a choice',
    of: 'chat',
    plan: json(completion([choice('x', 'stop')], { error: { message: 'boom' }, usage: used })),
    status: 502,
    words: 'boom',
  },
  {
    is: 'a rate limit',
    of: 'chat',
    plan: json({ error: { message: 'slow', type: 'rate_limit_error' } }),
    status: 429,
    words: 'slow',
  },
  {
    is: 'choices: null',
    of: 'chat',
    plan: json({ ...completion(null), usage: null }),
    status: 502,
    words: 'no answer',
  },
  {
    is: 'no choices',
    of: 'chat',
    plan: json(completion([], { usage: used })),
    status: 502,
    words: 'no answer',
  },
  {
    is: 'a code and words',
    of: 'chat',
    plan: json({ code: 500, msg: '404 NOT_FOUND', success: false }),
    status: 502,
    words: '404 NOT_FOUND',
  },
  { is: 'a text as error', of: 'chat', plan: json({ error: 'away' }), status: 502, words: 'away' },
  {
    is: 'an error of vLLM',
    of: 'chat',
    plan: json({ object: 'error', message: 'away', code: 503 }),
    status: 503,
    words: 'away',
  },
  {
    is: 'an error in the choice',
    of: 'chat',
    plan: json(completion([choice('', 'error', { error: { code: 502, message: 'boom' } })], { usage: used })),
    status: 502,
    words: 'boom',
  },
  {
    is: 'a choice that was broken off',
    of: 'chat',
    plan: json(completion([choice('', 'abort')], { usage: used })),
    status: 502,
    words: 'abort',
  },
  { is: 'an empty object', of: 'chat', plan: json({}), status: 502, words: 'no answer' },
  { is: 'a page', of: 'chat', plan: json('<html></html>'), status: 502, words: 'not complete JSON' },
  {
    is: 'nothing',
    of: 'chat',
    plan: json(completion([choice('', 'stop')], { usage: unused })),
    status: 502,
    words: 'an empty answer',
  },
  {
    is: 'nothing, without usage',
    of: 'chat',
    plan: json(completion([choice(null, 'stop', { logprobs: null })])),
    status: 502,
    words: 'an empty answer',
  },
  {
    is: 'an error',
    of: 'chat',
    stream: true,
    plan: sse({ error: { message: 'boom', code: 502 } }),
    status: 502,
    words: 'boom',
  },
  {
    is: 'an error after the role',
    of: 'chat',
    stream: true,
    plan: sse(chunk({ role: 'assistant', content: '' }), { error: { message: 'boom' } }, '[DONE]'),
    status: 502,
    words: 'boom',
  },
  {
    is: 'an error in the choice',
    of: 'chat',
    stream: true,
    plan: sse(chunk({}, 'error', { error: { message: 'boom' } })),
    status: 502,
    words: 'boom',
  },
  {
    is: 'an end that broke off',
    of: 'chat',
    stream: true,
    plan: sse(chunk({ role: 'assistant' }), chunk({}, 'error'), '[DONE]'),
    status: 502,
    words: 'aborted',
  },
  {
    is: 'nothing',
    of: 'chat',
    stream: true,
    plan: sse(
      chunk({ role: 'assistant', content: '' }),
      chunk({}, 'stop'),
      { ...completion([]), usage: unused },
      '[DONE]',
    ),
    status: 502,
    words: 'an empty answer',
  },
  {
    is: 'nothing, without usage',
    of: 'chat',
    stream: true,
    plan: sse(chunk({ role: 'assistant', content: '' }), chunk({}, 'stop'), '[DONE]'),
    status: 502,
    words: 'an empty answer',
  },
  {
    is: 'only the end, without usage',
    of: 'chat',
    stream: true,
    plan: sse('[DONE]'),
    status: 502,
    words: 'an empty answer',
  },
  { is: 'a rate limit', of: 'messages', plan: json(slow), status: 429, words: 'slow' },
  { is: 'content: null', of: 'messages', plan: json(message(null)), status: 502, words: 'not a message' },
  {
    is: 'content as a text',
    of: 'messages',
    plan: json(message('Hello')),
    status: 502,
    words: 'not a message',
  },
  {
    is: 'nothing',
    of: 'messages',
    plan: json(message([], { usage: { input_tokens: 11, output_tokens: 0 } })),
    status: 502,
    words: 'an empty answer',
  },
  { is: 'an error', of: 'messages', stream: true, plan: sse(slow), status: 429, words: 'slow' },
  {
    is: 'an error after the start',
    of: 'messages',
    stream: true,
    plan: sse(begun, { type: 'ping' }, slow),
    status: 429,
    words: 'slow',
  },
  {
    is: 'an error in a block without content',
    of: 'messages',
    stream: true,
    plan: sse(
      begun,
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      slow,
    ),
    status: 429,
    words: 'slow',
  },
  {
    is: 'nothing',
    of: 'messages',
    stream: true,
    plan: sse(
      { ...begun, message: message([], { usage: { input_tokens: 11, output_tokens: 0 } }) },
      ...ended(0),
    ),
    status: 502,
    words: 'an empty answer',
  },
  {
    is: 'output: null',
    of: 'responses',
    plan: json(response(null)),
    status: 502,
    words: 'no finished answer',
  },
  {
    is: 'an error',
    of: 'responses',
    plan: json({ error: { code: 'rate_limit_exceeded', message: 'slow' } }),
    status: 429,
    words: 'slow',
  },
  {
    is: 'a failed answer',
    of: 'responses',
    plan: json(
      response([], { status: 'failed', error: { code: 'server_error', message: 'boom' }, usage: null }),
    ),
    status: 502,
    words: 'boom',
  },
  {
    is: 'an answer that failed after its start',
    of: 'responses',
    stream: true,
    plan: sse(created, {
      type: 'response.failed',
      response: response([], {
        status: 'failed',
        error: { code: 'server_error', message: 'boom' },
        usage: null,
      }),
    }),
    status: 502,
    words: 'boom',
  },
]

const ask = (model: string, as: Format, stream: boolean) =>
  bed.ask(model, {
    path: paths[as],
    stream,
    ...(as === 'responses' ? { input: 'Hi' } : { max_tokens: 100 }),
  })

test.each(numbered())(
  '$of, stream $stream: $is is no answer',
  async ({ at, of, stream = false, plan, status, words }) => {
    bed.answers[`first-${at}`] = () => plan
    bed.answers[`second-${at}`] = () => good[of](stream)
    bed.answers[`only-${at}`] = () => plan
    const saved = await ask(`pair-${at}`, of, stream)
    expect(saved.status).toBe(200)
    expect(saved.text).toContain('Hello')
    expect(saved.text).not.toContain(words)
    expect(await bed.attemptsOf(saved.id)).toMatchObject([
      { status: 200, error_kind: expect.any(String) },
      { status: 200, error_kind: null },
    ])
    expect(await bed.row(saved.id)).toMatchObject({ outcome: 'succeeded' })
    const failed = await ask(`one-${at}`, of, stream)
    expect(failed.status).toBe(status)
    expect(JSON.parse(failed.text).error.message).toContain(words)
    if (words === 'an empty answer')
      expect(failed.headers.get('x-tollgate-reason')).toBe('upstream_answer_empty')
    const row = await bed.row(failed.id)
    expect(row).toMatchObject({ outcome: 'failed' })
    expect(row.usage_source).not.toBe('estimated')
  },
)

// Of an answer without usage a translation does not know whether it is empty.
test.each(numbered().filter(({ of, is }) => of !== 'messages' && !is.endsWith('without usage')))(
  '$of, stream $stream: $is is no answer for a client of another format',
  async ({ at, of, stream = false, plan, status }) => {
    bed.answers[`first-${at}`] = () => plan
    bed.answers[`second-${at}`] = () => good[of](stream)
    bed.answers[`only-${at}`] = () => plan
    const saved = await ask(`pair-${at}`, 'messages', stream)
    expect(saved.status).toBe(200)
    expect(saved.text).toContain('Hello')
    expect((await ask(`one-${at}`, 'messages', stream)).status).toBe(status === 503 ? 529 : status)
  },
)

test.each([
  ['output without content', json(completion([choice('', 'stop')], { usage: used }))],
  ['a full bound', json(completion([choice('', 'length')], { usage: unused }))],
  ['a filter', json(completion([choice('', 'content_filter')], { usage: unused }))],
  [
    'a member that we do not know',
    json(
      completion([{ ...choice(null, 'stop'), message: { role: 'assistant', content: null, song: 'la' } }]),
    ),
  ],
  [
    'a call',
    json(
      completion([
        { ...choice(null, 'stop'), message: { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] } },
      ]),
    ),
  ],
])('%s is an answer', async (_name, plan) => {
  bed.answers['first-good'] = () => plan
  const asked = await ask('pair-good', 'chat', false)
  expect(asked.status).toBe(200)
  expect(asked.text).toBe('body' in plan ? plan.body : '')
  expect(bed.asked('second-good')).toHaveLength(0)
})

test('an error after content ends the stream, and its bytes pass', async () => {
  const plan = sse(chunk({ content: 'Hel' }), { error: { message: 'boom' } }, '[DONE]')
  bed.answers['first-good'] = () => plan
  const asked = await ask('pair-good', 'chat', true)
  expect(asked.text).toBe('chunks' in plan ? Buffer.concat(plan.chunks as Buffer[]).toString() : '')
  expect(bed.asked('second-good')).toHaveLength(0)
  expect(await bed.row(asked.id)).toMatchObject({ outcome: 'failed' })
})
