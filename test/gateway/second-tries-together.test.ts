import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { channelLine, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'
import type { Plan } from '../support/upstream.ts'
import { chatAnswer, chatStream } from '../support/upstream-plans.ts'

/** One more try for a target leaves out at once all that the refusal names, and what is known to be refused for the same reason. */

const protocols = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
} as const
type Name = keyof typeof protocols
const names = ['chat', 'responses', 'messages'] as const

let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({
    models: names
      .map((id) => `  - { id: ${id}, context_length: 200000, max_output_tokens: 9000 }`)
      .join('\n'),
    channels: (origin) =>
      names.map((name) => channelLine(origin, name, `[${name}]`, { protocol: protocols[name] })).join('\n'),
    narrow: 'chat',
    env: { BODY_THREAD_BYTES: '65536' },
  })
})
afterAll(() => bed.close())
afterEach(async () => {
  bed.reset()
  await bed.database.sql`DELETE FROM verdicts`
})

const json = (status: number, body: unknown): Plan => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const invalid = (message: string) =>
  json(400, { type: 'error', error: { type: 'invalid_request_error', message, param: null, code: null } })
const answers: Record<Name, () => Plan> = {
  chat: () => chatAnswer(),
  responses: () =>
    json(200, {
      ...{ id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm' },
      output: [
        {
          ...{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: 'GOOD', annotations: [] }],
        },
      ],
      usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
    }),
  messages: () =>
    json(200, {
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' },
      content: [{ type: 'text', text: 'GOOD' }],
      ...{ stop_reason: 'end_turn', stop_sequence: null, usage: { input_tokens: 11, output_tokens: 7 } },
    }),
}
const said = { role: 'user', content: 'hi' }
const sealedThought = { type: 'thinking', thinking: 'x', signature: 'RU9FOREIGN' }
const sealedItem = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'RU9FOREIGN' }

/** A turn whose thoughts the channel has sealed, as a client of Chat Completions got it. */
async function turnOf(model: 'messages' | 'responses') {
  bed.answers[model] = () => {
    const plan = answers[model]()
    const answer = JSON.parse('body' in plan ? String(plan.body) : '')
    if (model === 'messages') answer.content.unshift(sealedThought)
    else answer.output.unshift(sealedItem)
    return { ...plan, body: JSON.stringify(answer) }
  }
  const { text } = await bed.ask(model, { reasoning_effort: 'low' })
  bed.reset()
  return JSON.parse(text).choices[0].message as Record<string, unknown>
}

interface Case {
  name: string
  model: Name
  path: string
  request: Record<string, unknown>
  /** The request ends after a turn with sealed thoughts. */
  continues?: 'messages' | 'responses'
  /** What the upstream says while one of these words is in the body. */
  refuses: string[]
  says: string
  /** Members or words that the second try is without, of those that the first one had. */
  without: string[]
  /** Words that the second try keeps. */
  keeps?: string[]
  /** What the attempt says. */
  reason: string
  /** What is learnt: the members that the refusal names. */
  learns: string[]
}

const sampled = { temperature: 0.5, top_p: 0.5 }
const cases: Case[] = [
  {
    name: 'a refused temperature takes the rest of the sampling along',
    model: 'chat',
    path: '/v1/messages',
    request: { max_tokens: 9, messages: [said], ...sampled },
    refuses: ['"temperature"', '"top_p"'],
    says: "Unsupported parameter: 'temperature' is not supported with this model.",
    without: ['"temperature"', '"top_p"'],
    reason: 'again without temperature, top_p, ',
    learns: ['temperature'],
  },
  {
    name: 'and a refused top_p too',
    model: 'responses',
    path: '/v1/messages',
    request: { max_tokens: 20, messages: [said], ...sampled },
    refuses: ['"temperature"', '"top_p"'],
    says: '`top_p` is deprecated for this model.',
    without: ['"temperature"', '"top_p"'],
    reason: 'again without top_p, temperature, ',
    learns: ['top_p'],
  },
  {
    name: 'a field that the server does not know takes nothing along',
    model: 'chat',
    path: '/v1/messages',
    request: { max_tokens: 9, messages: [said], ...sampled },
    refuses: ['"top_p"'],
    says: "Unknown parameter: 'top_p'.",
    without: ['"top_p"'],
    keeps: ['"temperature"'],
    reason: 'again without top_p, ',
    learns: ['top_p'],
  },
  {
    name: 'a refused parameter and foreign thoughts go together',
    model: 'messages',
    path: '/v1/chat/completions',
    request: { temperature: 0.5 },
    continues: 'messages',
    refuses: ['"temperature"', 'RU9FOREIGN'],
    says: 'temperature: Extra inputs are not permitted; messages.1.content.0: Invalid `signature` in `thinking` block',
    without: ['"temperature"', 'RU9FOREIGN'],
    reason: 'again without temperature, foreign reasoning, ',
    learns: ['temperature'],
  },
  {
    name: 'so do what we added to a pass-through and foreign thoughts',
    model: 'chat',
    path: '/v1/chat/completions',
    request: {
      stream: true,
      temperature: 0.5,
      messages: [
        said,
        {
          role: 'assistant',
          content: 'yo',
          reasoning_details: [{ type: 'reasoning.encrypted', data: 'RU9FOREIGN' }],
        },
        said,
      ],
    },
    refuses: ['"stream_options"', 'RU9FOREIGN'],
    says: 'stream_options: Extra inputs are not permitted; messages.1: Invalid `signature` in `thinking` block',
    without: ['"stream_options"', 'RU9FOREIGN'],
    keeps: ['"temperature":0.5'],
    reason: 'again without stream_options, foreign reasoning, ',
    learns: ['stream_options'],
  },
  {
    name: 'a model that takes no encrypted thoughts gets none of earlier turns either',
    model: 'responses',
    path: '/v1/chat/completions',
    request: { reasoning_effort: 'low' },
    continues: 'responses',
    refuses: ['"include"', 'RU9FOREIGN'],
    says: 'Encrypted content is not supported with this model.',
    without: ['"include"', 'RU9FOREIGN'],
    reason: 'again without include, unread reasoning, ',
    learns: ['include'],
  },
  {
    name: 'a server that does not know include still gets the effort',
    model: 'responses',
    path: '/v1/chat/completions',
    request: { reasoning_effort: 'low' },
    refuses: ['"include"'],
    says: "Unknown parameter: 'include'.",
    without: ['"include"'],
    keeps: ['"effort":"low"'],
    reason: 'again without include, ',
    learns: ['include'],
  },
  {
    name: 'a model that is not told to think gets no sealed thoughts of earlier turns',
    model: 'messages',
    path: '/v1/chat/completions',
    request: { reasoning_effort: 'low' },
    continues: 'messages',
    refuses: ['"thinking":{', 'RU9FOREIGN'],
    says: 'thinking: Extra inputs are not permitted',
    without: ['"thinking":{', 'RU9FOREIGN'],
    reason: 'again without thinking, unread reasoning, ',
    learns: ['thinking'],
  },
]

test.each(cases)('$name', async (each) => {
  const { model, path, continues, refuses, says, without, keeps = [] } = each
  const request =
    continues === undefined
      ? each.request
      : { ...each.request, messages: [said, await turnOf(continues), said] }
  bed.answers[model] = ({ body, includeUsage }) =>
    refuses.some((word) => body.toString().includes(word))
      ? invalid(says)
      : each.request.stream === true
        ? chatStream({ includeUsage }, { usage: 'always' })
        : answers[model]()
  const asked = await bed.ask(model, { path, ...request })
  expect(asked.status).toBe(200)
  const [first, second, ...more] = bed.asked(model).map(({ body }) => body.toString())
  expect(more).toEqual([])
  for (const word of without) expect(first).toContain(word)
  for (const word of without) expect(second).not.toContain(word)
  for (const word of keeps) expect(second).toContain(word)
  expect(await bed.attemptsOf(asked.id)).toMatchObject([
    { status: 400 },
    { status: 200, reason: expect.stringContaining(each.reason) },
  ])
  const row = await bed.row(asked.id)
  if (without.includes('RU9FOREIGN')) expect(JSON.stringify(row.notes)).toMatch(/sealed/)
  expect(asked.headers.get('x-tollgate-translation')).toMatch(/dropped=|mapped=/)
  await expect
    .poll(async () => [
      ...(await bed.database.sql`SELECT subject FROM verdicts ORDER BY subject`).map(
        ({ subject }) => subject,
      ),
    ])
    .toEqual(each.learns)
})

test('a refusal of what must stay beside what may go is not a reason for another try', async () => {
  const says =
    'tools: Extra inputs are not permitted; messages.1.content.0: Invalid `signature` in `thinking` block'
  const turn = await turnOf('messages')
  bed.answers.messages = () => invalid(says)
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
  ]
  const asked = await bed.ask('messages', { tools, messages: [said, turn, said] })
  expect(asked.status).toBe(400)
  expect(bed.asked('messages')).toHaveLength(1)
})

test.each(['constructor', '__proto__', 'toString'])(
  'a refusal that names "%s" is the vendor\'s',
  async (word) => {
    bed.answers.chat = () => invalid(`Unknown parameter: '${word}'.`)
    for (const request of [{}, { path: '/v1/messages', max_tokens: 9 }]) {
      const { status, text } = await bed.ask('chat', request)
      expect(status, text).toBe(400)
      expect(text).toContain(`Unknown parameter: '${word}'.`)
    }
  },
)

test('a refusal of what was not sent takes nothing along', async () => {
  bed.answers.chat = () => invalid("Unsupported parameter: 'temperature' is not supported with this model.")
  const { status } = await bed.ask('chat', { path: '/v1/messages', max_tokens: 9, top_p: 0.3 })
  expect(status).toBe(400)
  expect(bed.asked('chat')).toHaveLength(1)
})
