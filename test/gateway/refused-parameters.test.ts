import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { paidKey } from '../support/gateway-yaml.ts'
import { adminToken } from '../support/operator-client.ts'
import { channelLine, overloaded, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'
import { until } from '../support/until.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'
import { chatAnswer, chatStream } from '../support/upstream-plans.ts'

/** A translated request whose upstream refuses a parameter. Two real processes on one Postgres; the refusals are real ones. */

const names = [
  'strict',
  'dry',
  'stubborn',
  'two',
  'schema',
  'priced',
  'large',
  'forgets',
  'native',
  'stated',
  'thinks',
] as const

const models = names
  .map((id) => {
    const price = id === 'priced' ? ', price: { input: "1", output: "2" }' : ''
    const traits = id === 'stated' ? ', traits: { output_bound: max_tokens }' : ''
    return `  - { id: ${id}, context_length: 200000, max_output_tokens: 1000${price}${traits} }`
  })
  .join('\n')

let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({
    models,
    channels: (origin) =>
      names
        .map((name) =>
          channelLine(origin, name, `[${name}]`, {
            protocol: name === 'thinks' ? 'anthropic-messages' : 'openai-chat',
          }),
        )
        .join('\n'),
    narrow: 'strict',
    gateways: 2,
    env: { ADMIN_TOKEN: adminToken, BODY_THREAD_BYTES: '65536' },
  })
})
afterAll(() => bed.close())
beforeEach(() => bed.database.sql`DELETE FROM verdicts`.then(() => undefined))
afterEach(() => bed.reset())

const bodyOf = ({ body }: SeenRequest) => JSON.parse(body.toString()) as Record<string, unknown>
const refusal = (status: number, body: unknown): Plan => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
/** https://github.com/editor-code-assistant/eca/issues/231 */
const mistral = (member: string) =>
  refusal(422, {
    object: 'error',
    message: {
      detail: [
        { type: 'extra_forbidden', loc: ['body', member], msg: 'Extra inputs are not permitted', input: 1 },
      ],
    },
    type: 'invalid_request_error',
    param: null,
    code: null,
  })
/** https://github.com/ITSpecialist111/ai_automation_suggester/issues/38 */
const tooOld = () =>
  refusal(400, {
    error: {
      message:
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      type: 'invalid_request_error',
      param: 'max_tokens',
      code: 'unsupported_parameter',
    },
  })
const unsupported = (member: string) =>
  refusal(400, {
    error: {
      message: `Unsupported parameter: '${member}' is not supported with this model.`,
      type: 'invalid_request_error',
      param: member,
      code: 'unsupported_parameter',
    },
  })
const refusing = (member: string, refuse: (member: string) => Plan) => (seen: SeenRequest) =>
  member in bodyOf(seen) ? refuse(member) : chatAnswer()

const ask = (model: string, more: Record<string, unknown> = {}) =>
  bed.ask(model, { path: '/v1/messages', max_tokens: 100, ...more })
/** Without the conversation. */
const sent = (channel: string) =>
  bed.asked(channel).map((seen) => {
    const { messages: _, ...parameters } = bodyOf(seen)
    return parameters
  })
const verdicts = async () => [
  ...(await bed.database
    .sql`SELECT c.name AS channel, subject, verdict, evidence, v.traits, cardinality(request_ids) AS requests
    FROM verdicts v JOIN channels c ON c.id = channel_id ORDER BY subject`),
]

/** The verdicts on a channel when no write is under way: those of a process come one after the other. */
async function settledOf(channel: string) {
  bed.answers.strict = refusing('temperature', unsupported)
  await ask('strict', { temperature: 0.5 })
  await until(async () => (await verdicts()).some(({ subject }) => subject === 'temperature') || undefined)
  return (await verdicts()).filter((each) => each.channel === channel)
}

/** The refusal of a member is proved, and both processes have read it. */
async function proved(channel: string, member: string, of?: string) {
  await until(async () => (await verdicts()).some(({ verdict }) => verdict === 'no') || undefined)
  await until(async () => {
    const before = bed.asked(channel).length
    await ask(channel, of === undefined ? {} : { of })
    const calls = sent(channel).slice(before)
    return (calls.length === 1 && !(member in (calls[0] ?? {}))) || undefined
  })
}

test('it is sent once more without the parameter, and after two requests it is never sent so again', async () => {
  bed.answers.strict = refusing('max_tokens', tooOld)
  const asked = await ask('strict', { headers: { 'x-tollgate-route': 'true' } })
  expect(asked.status).toBe(200)
  expect(JSON.parse(asked.text)).toMatchObject({ type: 'message', role: 'assistant' })
  expect(sent('strict')).toMatchObject([{ max_tokens: 100 }, { max_completion_tokens: 100 }])
  expect(sent('strict')[1]).not.toHaveProperty('max_tokens')
  expect(asked.headers.get('x-tollgate-route')).toMatch(
    /^"strict";status=400;error=invalid_request;ms=\d+, "strict";served$/,
  )
  expect(await bed.attemptsOf(asked.id)).toEqual([
    {
      channel: 'strict',
      reason: 'only candidate',
      passed_over: false,
      status: 400,
      error_kind: 'invalid_request',
    },
    {
      channel: 'strict',
      reason: 'again without max_tokens, only candidate',
      passed_over: false,
      status: 200,
      error_kind: null,
    },
  ])
  const row = await bed.row(asked.id)
  expect(row).toMatchObject({ status: 200, outcome: 'succeeded' })
  expect(String(row.notes)).toContain('the upstream refused max_tokens in a first try')
  await until(async () => (await verdicts()).length > 0 || undefined)
  expect(await verdicts()).toEqual([
    {
      channel: 'strict',
      subject: 'max_tokens',
      verdict: 'unknown',
      evidence: expect.stringMatching(/^Unsupported parameter: 'max_tokens'/),
      traits: null,
      requests: 1,
    },
  ])
  // The other process.
  expect((await ask('strict', { of: bed.second?.url })).status).toBe(200)
  expect(sent('strict')).toHaveLength(4)
  await proved('strict', 'max_tokens')
  await proved('strict', 'max_tokens', bed.second?.url)
  expect(await verdicts()).toMatchObject([
    { verdict: 'no', traits: { outputBound: 'max_completion_tokens' } },
  ])
})

test('a stream is sent once more too, and its client sees only the good answer', async () => {
  bed.answers.dry = (seen) => ('temperature' in bodyOf(seen) ? unsupported('temperature') : chatStream(seen))
  const asked = await ask('dry', { stream: true, temperature: 0.5 })
  expect(asked.status).toBe(200)
  expect(asked.text).toContain('event: message_stop')
  expect(asked.text).not.toContain('Unsupported')
  expect(sent('dry').map(({ temperature }) => temperature)).toEqual([0.5, undefined])
  const { notes } = await bed.row(asked.id)
  expect(JSON.parse(String(notes))).toEqual([
    {
      path: 'temperature',
      action: 'dropped',
      reason: 'the model does not support it (the upstream refused temperature in a first try)',
    },
  ])
  expect(asked.headers.get('x-tollgate-translation')).toContain('dropped=temperature')
})

test('thinking with a budget becomes adaptive thinking with an effort where the model takes only that', async () => {
  bed.answers.thinks = (seen) => {
    const { thinking } = bodyOf(seen)
    const { type } = Object(thinking)
    // https://github.com/earendil-works/pi/issues/3297
    const message =
      '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
    if (type === 'enabled')
      return refusal(400, { type: 'error', error: { type: 'invalid_request_error', message } })
    return refusal(200, {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'thinks',
      content: [{ type: 'text', text: 'Bonjour.' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 8, output_tokens: 5 },
    })
  }
  const asked = await bed.ask('thinks', { reasoning_effort: 'high', max_tokens: 9000 })
  expect(asked.status).toBe(200)
  expect(sent('thinks')).toMatchObject([
    { thinking: { type: 'enabled' } },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
  ])
})

test('an upstream that refuses the same again is not asked a third time, and teaches nothing', async () => {
  bed.answers.stubborn = () => unsupported('temperature')
  const asked = await ask('stubborn', { temperature: 0.5 })
  expect(asked.status).toBe(400)
  expect(JSON.parse(asked.text).error.message).toBe(
    "Unsupported parameter: 'temperature' is not supported with this model.",
  )
  expect(sent('stubborn')).toHaveLength(2)
  await ask('stubborn', { temperature: 0.5 })
  expect(await settledOf('stubborn')).toEqual([])
})

test('of two refused parameters, one is learnt after the other', async () => {
  bed.answers.two = (seen) => {
    const body = bodyOf(seen)
    if ('temperature' in body) return unsupported('temperature')
    return 'user' in body ? unsupported('user') : chatAnswer()
  }
  const wish = { temperature: 0.5, metadata: { user_id: 'u-1' } }
  const first = await ask('two', wish)
  expect(first.status).toBe(400)
  expect(JSON.parse(first.text).error.message).toContain("'user'")
  expect(sent('two')).toHaveLength(2)
  await until(async () => (await ask('two', wish)).status === 200 || undefined)
  await until(async () => (await verdicts()).length === 2 || undefined)
  expect(await verdicts()).toMatchObject([{ subject: 'temperature', verdict: 'no' }, { subject: 'user' }])
})

test('what changes the meaning is not left out, nor what a key does not want dropped', async () => {
  const tool = { name: 'f', input_schema: { type: 'object', properties: {} } }
  bed.answers.schema = refusing('tools', unsupported)
  expect((await ask('schema', { tools: [tool] })).status).toBe(400)
  expect(sent('schema')).toHaveLength(1)
  bed.reset()
  const forbidden = (member: string) => ({
    ...{ type: 'extra_forbidden', loc: ['body', member], msg: 'Extra inputs are not permitted' },
  })
  bed.answers.schema = () => refusal(422, { detail: [forbidden('temperature'), forbidden('tools')] })
  expect((await ask('schema', { tools: [tool], temperature: 0.5 })).status).toBe(400)
  expect(sent('schema')).toHaveLength(1)
  bed.reset()
  bed.answers.schema = refusing('temperature', unsupported)
  const strict = await ask('schema', { temperature: 0.5, headers: { 'x-tollgate-strict': 'true' } })
  expect(strict.status).toBe(400)
  expect(JSON.parse(strict.text).error.message).toBe(
    "Unsupported parameter: 'temperature' is not supported with this model.",
  )
  expect(sent('schema')).toHaveLength(1)
  expect(await settledOf('schema')).toEqual([])
})

test('a 422 of a server that lists what it does not know is understood, and its words go to a client that gets no answer', async () => {
  bed.answers.strict = refusing('temperature', mistral)
  expect((await ask('strict', { temperature: 0.5 })).status).toBe(200)
  expect(sent('strict').map(({ temperature }) => temperature)).toEqual([0.5, undefined])
  bed.answers.strict = () => mistral('messages')
  const asked = await ask('strict', { temperature: 0.5 })
  expect(asked.status).toBe(400)
  expect(JSON.parse(asked.text).error.message).toBe('body.messages: Extra inputs are not permitted')
})

test('a pass-through is never sent again', async () => {
  bed.answers.native = refusing('temperature', unsupported)
  const asked = await bed.ask('native', { temperature: 0.5 })
  expect(asked.status).toBe(400)
  expect(JSON.parse(asked.text).error.param).toBe('temperature')
  expect(sent('native')).toHaveLength(1)
})

test('a failure of the second call is the answer, and proves nothing', async () => {
  bed.answers.stubborn = (seen) => ('temperature' in bodyOf(seen) ? unsupported('temperature') : overloaded())
  const asked = await ask('stubborn', { temperature: 0.5 })
  expect(asked.status).toBe(529)
  expect(await bed.attemptsOf(asked.id)).toMatchObject([{ status: 400 }, { status: 503 }])
  expect(await settledOf('stubborn')).toEqual([])
})

test('a request with limited money pays one answer, and what it holds covers the second try', async () => {
  const held: { nano: string; bytes: number }[] = []
  bed.answers.priced = async (seen) => {
    const [row] = await bed.database.sql`SELECT amount_nano::text AS nano FROM reservations`
    held.push({ nano: String(row?.nano), bytes: seen.body.length })
    return refusing('max_tokens', tooOld)(seen)
  }
  const asked = await ask('priced', { key: paidKey })
  expect(asked.status).toBe(200)
  expect(sent('priced')).toHaveLength(2)
  // Each byte of the longer of the two, and 256 more, at $1 for a million; 100 tokens of output at $2.
  for (const { nano, bytes } of held)
    expect(Number(nano)).toBeGreaterThanOrEqual((bytes + 200) * 1000 + 200_000)
  const row = await bed.row(asked.id)
  expect(row).toMatchObject({ outcome: 'succeeded', usage_source: 'upstream' })
  const [entries] = await bed.database
    .sql`SELECT count(*)::int AS count, sum(amount_nano)::text AS sum FROM entries WHERE id = ${asked.id}`
  expect(entries).toEqual({ count: 1, sum: `-${row.cost_nano}` })
})

test('a large body is translated again by a thread', async () => {
  bed.answers.large = refusing('max_tokens', tooOld)
  const long = 'x'.repeat(100_000)
  const asked = await ask('large', { messages: [{ role: 'user', content: long }] })
  expect(asked.status).toBe(200)
  expect(sent('large')).toMatchObject([{ max_tokens: 100 }, { max_completion_tokens: 100 }])
})

test('a verdict ends after a day, or when an operator drops it: then the parameter is sent again', async () => {
  bed.answers.forgets = refusing('max_tokens', tooOld)
  // Where the database is slow, what one request has shown may not be noted.
  await until(async () => {
    await ask('forgets')
    return (
      (await verdicts()).some(({ channel, verdict }) => channel === 'forgets' && verdict === 'no') ||
      undefined
    )
  })
  await proved('forgets', 'max_tokens')
  const sentAgain = () =>
    until(async () => {
      const before = bed.asked('forgets').length
      await ask('forgets')
      return 'max_tokens' in (sent('forgets')[before] ?? {}) || undefined
    })
  await bed.database.sql`UPDATE verdicts SET expires_at = now() - interval '1 second'`
  await sentAgain()
  await bed.database
    .sql`UPDATE verdicts SET expires_at = now() + interval '1 day', verdict = 'no', traits = '{"outputBound":"max_completion_tokens"}'`
  await proved('forgets', 'max_tokens')
  const call = async (method: string, path = '') => {
    const response = await fetch(`${bed.tollgate.url}/admin/v1/verdicts${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}` },
    })
    return JSON.parse(await response.text())
  }
  const { data } = await call('GET', '?channel=forgets')
  expect(data).toMatchObject([
    { subject: 'max_tokens', in_force: true, traits: { output_bound: 'max_completion_tokens' } },
  ])
  expect(await call('DELETE', `/${data[0].id}`)).toMatchObject({ deleted: true })
  await sentAgain()
})

test('what gateway.yaml states is sent first, whatever a verdict says, and is written down no more than needed', async () => {
  bed.answers.stated = refusing('max_tokens', tooOld)
  for (let i = 0; i < 5; i++) expect((await ask('stated')).status).toBe(200)
  expect(sent('stated')).toHaveLength(10)
  await until(async () => (await verdicts())[0]?.verdict === 'no' || undefined)
  const revision = async () => (await bed.database.sql`SELECT catalog FROM revision`)[0]?.catalog
  const before = await revision()
  for (let i = 0; i < 3; i++) await ask('stated')
  expect(await revision()).toBe(before)
})
