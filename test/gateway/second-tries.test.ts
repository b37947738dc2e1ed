import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { channelLine, overloaded, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'
import { until } from '../support/until.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { chatAnswer, chatStream } from '../support/upstream-plans.ts'

/** One more try on the same target, with what the upstream refused of our own additions or of foreign reasoning left out. */

const names = ['adds', 'large', 'sealed', 'thoughts', 'details', 'one', 'other', 'gpt-x'] as const
const protocols: Record<string, string> = { sealed: 'openai-responses', thoughts: 'anthropic-messages' }

let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({
    models: [...names, 'pair']
      .map((id) => `  - { id: ${id}, context_length: 200000, max_output_tokens: 1000 }`)
      .join('\n'),
    channels: (origin) =>
      names
        .map((name) =>
          channelLine(origin, name, name === 'one' || name === 'other' ? '[pair]' : `[${name}]`, {
            protocol: protocols[name] ?? 'openai-chat',
          }),
        )
        .join('\n'),
    narrow: 'adds',
    env: { BODY_THREAD_BYTES: '65536', ATTEMPTS_MAX: '4' },
  })
})
afterAll(() => bed.close())
afterEach(() => bed.reset())

const textOf = ({ body }: SeenRequest) => body.toString()
const refusal = (status: number, body: unknown): Plan => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const invalid = (message: string, more: Record<string, unknown> = {}) =>
  refusal(400, { error: { message, type: 'invalid_request_error', param: null, code: null, ...more } })
const forbidden = refusal(422, {
  detail: [
    {
      type: 'extra_forbidden',
      loc: ['body', 'stream_options'],
      msg: 'Extra inputs are not permitted',
      input: { include_usage: true },
    },
  ],
})
const raw = async (path: string, body: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer free-key-for-tests-0001',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body,
  })
  return {
    status: response.status,
    text: await response.text(),
    id: response.headers.get('x-request-id'),
    headers: response.headers,
  }
}

test.each([
  ['a list of what the schema lacks', forbidden],
  ['OpenAI', invalid('Unrecognized request argument supplied: stream_options')],
  [
    'Azure',
    invalid("Unknown parameter: 'stream_options'.", { param: 'stream_options', code: 'unknown_parameter' }),
  ],
  ['a server in Go', refusal(400, { error: 'json: unknown field "stream_options"' })],
  ['a plain sentence', refusal(400, { detail: 'This model does not support stream_options.' })],
  ['the member in it', invalid('stream_options.include_usage: Extra inputs are not permitted')],
])('the wish for usage that we add is taken back where it is refused: %s', async (_name, refused) => {
  bed.answers.adds = (seen) =>
    textOf(seen).includes('stream_options') ? refused : chatStream(seen, { usage: 'always' })
  const body =
    '{ "model": "adds", "big": 12345678901234567890, "messages": [{"role":"user","content":"Hi"}], "stream": true }'
  const asked = await raw('/v1/chat/completions', body)
  expect(asked.status).toBe(200)
  expect(asked.text).toContain('[DONE]')
  const calls = bed.asked('adds').map(textOf)
  expect(calls).toHaveLength(2)
  expect(calls[0]).toContain('stream_options')
  expect(calls[1]).toBe(body)
  expect(asked.headers.get('x-tollgate-translation')).toMatch(/^openai-chat; mapped=stream_options/)
  expect(await bed.attemptsOf(asked.id)).toMatchObject([
    { status: expect.any(Number), reason: 'only candidate' },
    { status: 200, reason: expect.stringMatching(/^again without stream_options/) },
  ])
  expect(await bed.row(asked.id)).toMatchObject({ outcome: 'succeeded', usage_source: 'upstream' })
  await bed.database.sql`DELETE FROM verdicts`
})

test('it is learnt by two requests, and then not added to the bytes of the client', async () => {
  bed.answers.adds = (seen) => (textOf(seen).includes('stream_options') ? forbidden : chatStream(seen))
  const ask = () => bed.ask('adds', { stream: true })
  await until(async () => {
    const before = bed.asked('adds').length
    expect((await ask()).status).toBe(200)
    return bed.asked('adds').length === before + 1 || undefined
  })
  // Without what the test before may have left.
  expect(
    await bed.database.sql`SELECT subject, verdict, traits FROM verdicts WHERE subject = 'stream_options'`,
  ).toMatchObject([{ subject: 'stream_options', verdict: 'no', traits: { takes: { streamOptions: false } } }])
  await bed.database.sql`DELETE FROM verdicts`
})

test('what the client itself sends is not taken from a pass-through', async () => {
  bed.answers.adds = () => forbidden
  const own = await bed.ask('adds', { stream: true, stream_options: { include_usage: true } })
  expect(own.status).toBe(422)
  expect(bed.asked('adds')).toHaveLength(1)
  bed.reset()
  bed.answers.adds = () => invalid("Unsupported parameter: 'temperature' is not supported with this model.")
  expect((await bed.ask('adds', { stream: true, temperature: 1 })).status).toBe(400)
  expect(bed.asked('adds')).toHaveLength(1)
})

test('each target has its own second try', async () => {
  const refuse = (then: (seen: SeenRequest) => Plan) => (seen: SeenRequest) =>
    textOf(seen).includes('stream_options') ? forbidden : then(seen)
  bed.answers.one = refuse(() => overloaded())
  bed.answers.other = refuse(() => overloaded())
  const failed = await bed.ask('pair', { stream: true })
  expect(failed.status).toBe(503)
  expect(bed.asked('one')).toHaveLength(2)
  expect(bed.asked('other')).toHaveLength(2)
})

test('a large body is tried again too', async () => {
  bed.answers.large = (seen) => (textOf(seen).includes('stream_options') ? forbidden : chatStream(seen))
  const long = 'x'.repeat(100_000)
  const asked = await bed.ask('large', { stream: true, messages: [{ role: 'user', content: long }] })
  expect(asked.status).toBe(200)
  expect(bed.asked('large')).toHaveLength(2)
})

const responsesAnswer = refusal(200, {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'RECOVERED', annotations: [] }],
    },
  ],
  usage: { input_tokens: 11, output_tokens: 7, total_tokens: 18 },
})
const messagesAnswer = refusal(200, {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'RECOVERED' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 11, output_tokens: 7 },
})
const notVerified =
  'The encrypted content gAAAAABp could not be verified. Reason: Encrypted content could not be decrypted or parsed.'
const said = { type: 'message', role: 'user', content: 'hi' }
const sealed = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'gAAAAABpFOREIGN' }

test.each([
  ['by its code', invalid(notVerified, { code: 'invalid_encrypted_content' })],
  ['by its words', invalid(notVerified)],
  [
    'of another organization',
    invalid(
      'The encrypted content for item rs_1 could not be verified. Reason: Encrypted content organization_id did not match the target organization.',
    ),
  ],
])('reasoning that the upstream refuses as foreign is left out: Responses, %s', async (_name, refused) => {
  bed.answers.sealed = (seen) => (textOf(seen).includes('encrypted_content') ? refused : responsesAnswer)
  const asked = await bed.ask('sealed', {
    path: '/v1/responses',
    store: false,
    big: 1,
    input: [said, sealed, { ...said, role: 'assistant', content: 'yo' }, sealed, said],
  })
  expect(asked.status).toBe(200)
  expect(asked.text).toContain('RECOVERED')
  const [first, second] = bed.asked('sealed').map(textOf)
  expect(second).toBe(first?.replaceAll(`,${JSON.stringify(sealed)}`, ''))
  expect(asked.headers.get('x-tollgate-translation')).toBe('openai-responses; dropped=input')
  const row = await bed.row(asked.id)
  expect(String(row.notes)).toContain('sealed by another account or model')
  expect(await bed.attemptsOf(asked.id)).toMatchObject([
    { status: 400 },
    { status: 200, reason: 'again without foreign reasoning, only candidate' },
  ])
  expect(
    await bed.database
      .sql`SELECT 1 FROM verdicts JOIN channels c ON c.id = channel_id WHERE c.name = 'sealed'`,
  ).toHaveLength(0)
})

test.each([
  'messages.1.content.0: Invalid `signature` in `thinking` block',
  'messages.1.content.0: Invalid `data` in `redacted_thinking` block',
  'messages.1.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.',
])('reasoning that the upstream refuses as foreign is left out: Messages, %s', async (message) => {
  const refused = refusal(400, { type: 'error', error: { type: 'invalid_request_error', message } })
  bed.answers.thoughts = (seen) => (textOf(seen).includes('RU9FOREIGN') ? refused : messagesAnswer)
  const body = (blocks: string) =>
    `{"model":"thoughts","max_tokens":100,"messages":[{"role":"user","content":"hi"},${blocks}{"role":"user","content":"again"}], "x" : 1.0}`
  const thought = '{"type":"thinking","thinking":"x","signature":"RU9FOREIGN"}'
  const hidden = '{"type":"redacted_thinking","data":"RU9FOREIGN"}'
  const text = '{ "type": "text", "text": "yo" }'
  const turn = (...blocks: string[]) => `{"role":"assistant","content":[${blocks.join(' , ')}]},`
  const asked = await raw('/v1/messages', body(turn(thought, hidden, text, thought) + turn(thought)))
  expect(asked.status).toBe(200)
  expect(bed.asked('thoughts').map(textOf)).toEqual([
    body(turn(thought, hidden, text, thought) + turn(thought)),
    body(`{"role":"assistant","content":[  ${text} ]},`),
  ])
  expect(asked.headers.get('x-tollgate-translation')).toBe('anthropic-messages; dropped=messages')
})

test('so are the details of reasoning in Chat, and in a translation of a large body', async () => {
  const refused = invalid('Invalid `signature` in `thinking` block')
  const details = [{ type: 'reasoning.encrypted', data: 'RU9FOREIGN' }]
  bed.answers.details = (seen) => (textOf(seen).includes('RU9FOREIGN') ? refused : chatAnswer())
  const turn = { role: 'assistant', content: 'yo' }
  const asked = await bed.ask('details', { messages: [{ ...turn, reasoning_details: details }, turn] })
  expect(asked.status).toBe(200)
  expect(JSON.parse(textOf(bed.asked('details')[1] as SeenRequest)).messages).toEqual([turn, turn])
  const long = { ...said, content: 'x'.repeat(100_000) }
  bed.answers.sealed = (seen) =>
    textOf(seen).includes('encrypted_content') ? invalid(notVerified) : responsesAnswer
  const large = await bed.ask('sealed', { path: '/v1/responses', input: [long, sealed, said] })
  expect(large.status).toBe(200)
  expect(JSON.parse(textOf(bed.asked('sealed')[1] as SeenRequest)).input).toEqual([long, said])
})

const roles = (seen: SeenRequest) =>
  (JSON.parse(textOf(seen)) as { messages: { role: string }[] }).messages.map(({ role }) => role)
const instructed = {
  path: '/v1/responses',
  instructions: 'INS',
  input: [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'DEV1' }] },
    said,
    { type: 'message', role: 'developer', content: 'DEV2' },
    { ...said, content: 'again' },
  ],
}

test.each([400, 404, 500])(
  'a translation has one leading instruction where more are refused with %i',
  async (status) => {
    bed.answers['gpt-x'] = (seen) =>
      roles(seen).slice(1).includes('system')
        ? refusal(status, { error: { message: 'System message must be at the beginning.', code: status } })
        : chatAnswer()
    const asked = await bed.ask('gpt-x', instructed)
    expect(asked.status).toBe(200)
    const calls = bed.asked('gpt-x')
    expect(calls.map(roles)).toEqual([
      ['system', 'system', 'user', 'system', 'user'],
      ['system', 'user', 'user'],
    ])
    expect(JSON.parse(textOf(calls[1] as SeenRequest)).messages[0].content).toBe('INS\n\nDEV1\n\nDEV2')
    expect(asked.headers.get('x-tollgate-translation')).toContain('mapped=')
  },
)

test('a pass-through keeps its instructions and its parts, whatever the upstream says about them', async () => {
  for (const message of [
    'System message must be at the beginning.',
    "'messages.0.content' must be a string",
  ]) {
    bed.answers['gpt-x'] = () => invalid(message)
    const asked = await bed.ask('gpt-x', {
      messages: [{ role: 'system', content: [{ type: 'text', text: 'x' }] }],
    })
    expect(asked.status).toBe(400)
    expect(bed.asked('gpt-x')).toHaveLength(1)
    bed.reset()
  }
})

test('texts are joined in a second try where the upstream takes no parts', async () => {
  bed.answers['gpt-x'] = (seen) =>
    textOf(seen).includes('"type":"text"')
      ? refusal(500, { error: { message: 'sequence item 0: expected str instance, list found' } })
      : chatAnswer()
  const content = [
    { type: 'text', text: 'one' },
    { type: 'text', text: 'two' },
  ]
  const asked = await bed.ask('gpt-x', {
    path: '/v1/messages',
    max_tokens: 9,
    messages: [{ role: 'user', content }],
  })
  expect(asked.status).toBe(200)
  expect(bed.asked('gpt-x')).toHaveLength(2)
})

test('nothing is left out for a client that wants losses refused, nor where there is no reasoning', async () => {
  bed.answers.sealed = () => invalid(notVerified)
  const strict = await bed.ask('sealed', {
    path: '/v1/responses',
    headers: { 'x-tollgate-strict': 'true' },
    input: [said, sealed],
  })
  expect(strict.status).toBe(400)
  expect((await bed.ask('sealed', { path: '/v1/responses', input: [said] })).status).toBe(400)
  expect(bed.asked('sealed')).toHaveLength(2)
})
