import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { metricsUrl, scrape } from '../support/metrics.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan, SeenRequest } from '../support/upstream.ts'

/** What is charged for an answer whose upstream reports counts that cannot be. */

const contextLength = 128_000
const outputMax = 1_000

/** The formats that upstreams speak. A client speaks the first three; `gemini` is asked by a client of Chat. */
const formats = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const
type Format = (typeof formats)[number]

interface Counts {
  input: unknown
  output: unknown
  cached?: unknown
  reasoning?: unknown
  /** Reported first: then the others. */
  before?: { input: number; output: number }
}

const absurd: Record<string, Counts> = {
  huge: { input: 1e15, output: 1e15 },
  'more input than the context': { input: contextLength + 1, output: 7 },
  'a full context for a short body': { input: contextLength - 1, output: 7 },
  'more output than the model writes': { input: 11, output: 500_000 },
  negative: { input: -11, output: -7 },
  'null, as NaN becomes': { input: null, output: null },
  text: { input: 'many', output: '7' },
  'no whole numbers': { input: 11.5, output: 7.5 },
  zero: { input: 0, output: 0 },
  'more cached than read': { input: 11, output: 7, cached: 1e6 },
  'more reasoning than output': { input: 11, output: 7, reasoning: 1e6 },
  'twice, the second time huge': { input: 1e15, output: 1e15, before: { input: 11, output: 7 } },
}
const names = Object.keys(absurd)

const limitedKey = (format: Format, stream: boolean) => `limited-${format}-${stream}-key-000001`
const freeKey = 'key-whose-money-is-free-1'
const cases = formats.flatMap((format) => [true, false].map((stream) => ({ format, stream })))

const yaml = (url: string) => {
  const origin = url.replace(/\/v1$/, '')
  const bases = {
    'openai-chat': url,
    'openai-responses': url,
    'anthropic-messages': origin,
    gemini: `${origin}/v1beta`,
  }
  return `
models:
${formats.map((id) => `  - { id: ${id}, context_length: ${contextLength}, max_output_tokens: ${outputMax}, price: { input: "300", output: "1500" } }`).join('\n')}
channels:
${formats.map((id) => `  - { name: ${id}, protocols: { ${id}: ${bases[id]} }, api_keys: [upstream-credential-1], models: { ${id}: ${id} }, allow_private_address: true }`).join('\n')}
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: free, keys: [{ name: free, secret: ${freeKey} }] }
${cases.map(({ format, stream }) => `  - { name: ${format}-${stream}, balance_usd: "1.00", keys: [{ name: k, secret: ${limitedKey(format, stream)} }] }`).join('\n')}
`
}

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    yaml,
    env: { METRICS_PORT: '0', SHIP_INTERVAL_MS: '20', BUDGET_WAIT_MS: '60000' },
  })
  bed.upstream.script(answer)
})
afterAll(() => bed.close())

test.for(cases)(
  'a tenant with a dollar never falls below zero, whatever $format reports (stream $stream), and pays at most what was held',
  async ({ format, stream }) => {
    const key = limitedKey(format, stream)
    const asked = Array.from({ length: 20 }, (_, at) =>
      ask(format, names[at % names.length] ?? '', stream, key),
    )
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.filter((status) => status !== 200 && status !== 402)).toEqual([])
    expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(2)
    await bed.tollgate.ship()
    const [account] = await bed.database.sql<
      { balance: string; charged: string; below: number; above: number }[]
    >`
      SELECT a.balance_nano AS balance, sum(r.charged_nano) AS charged,
        count(*) FILTER (WHERE r.charged_nano < r.cost_nano)::integer AS below,
        count(*) FILTER (WHERE r.charged_nano IS DISTINCT FROM least(r.cost_nano, r.charged_nano))::integer AS above
      FROM accounts a JOIN tenants t ON t.id = a.id JOIN requests r ON r.tenant_id = t.id
      WHERE t.name = ${`${format}-${stream}`} GROUP BY a.id`
    expect(Number(account?.balance)).toBeGreaterThanOrEqual(0)
    expect(Number(account?.balance)).toBe(1e9 - Number(account?.charged))
    expect(account).toMatchObject({ above: 0 })
    expect(account?.below).toBeGreaterThan(0)
  },
)

test.for(cases)(
  'where money is not limited, counts of $format that cannot be are unknown, and marked (stream $stream)',
  async ({ format, stream }) => {
    for (const name of names) {
      const response = await ask(format, name, stream, freeKey)
      expect(response.status, name).toBe(200)
      const row = await bed.row(response.headers.get('x-request-id'))
      expect(row.charged_nano, name).toBe(row.cost_nano)
      if (row.usage_source === 'implausible') {
        expect(row, name).toMatchObject({ cost_nano: null, input_tokens: null, output_tokens: null })
      } else {
        const input = ['input_tokens', 'cache_read_tokens', 'cache_write_tokens'].map((of) => Number(row[of]))
        const output = ['output_tokens', 'reasoning_tokens'].map((of) => Number(row[of]))
        expect(sum(input), name).toBeLessThanOrEqual(contextLength)
        expect(sum(output), name).toBeLessThanOrEqual(outputMax)
        expect(row.cost_nano, name).not.toBeNull()
      }
      const isImplausible = row.usage_source === 'implausible'
      if (/huge|more (input|output) than the/.test(name)) expect([name, isImplausible]).toEqual([name, true])
    }
  },
)

test('the ledger is sound afterwards, and its sums, its API and the metrics tell what was not charged', async () => {
  await bed.tollgate.ship()
  const { findings } = await verifyLedger(bed.database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  const [total] = await bed.database.sql<{ nano: string; marked: number }[]>`
    SELECT sum(cost_nano - charged_nano) AS nano, count(*) FILTER (WHERE usage_source = 'implausible')::integer AS marked
    FROM requests`
  const metrics = await scrape(await metricsUrl(bed.tollgate))
  expect(metrics.value('tollgate_uncharged_usd_total')).toBeCloseTo(Number(total?.nano) / 1e9, 3)
  expect(metrics.value('tollgate_usage_implausible_total')).toBe(total?.marked)
  const key = limitedKey('openai-chat', false)
  const shown = await fetch(`${bed.tollgate.url}/v1/usage/requests?limit=100`, {
    headers: { authorization: `Bearer ${key}` },
  })
  const { data } = (await shown.json()) as { data: { cost_nano_usd: string; charged_nano_usd: string }[] }
  expect(data.some((row) => BigInt(row.charged_nano_usd ?? 0) < BigInt(row.cost_nano_usd ?? 0))).toBe(true)
})

/** Answers that fail with status 200, and report what they used. `other`: asked in another format. */
const failing = [
  ...(['openai-chat', 'openai-responses', 'gemini'] as const).flatMap((format) => [
    { format, stream: false },
    { format, stream: true },
  ]),
  { format: 'anthropic-messages' as const, stream: true },
].flatMap((one) => [
  { ...one, other: false },
  { ...one, other: true },
])

test.for(failing)(
  'a failed answer of $format that reports its usage is charged for it (stream $stream, other client $other)',
  async ({ format, stream, other }) => {
    const row = await failed(format, stream, 'server_error', other)
    expect(row).toMatchObject({
      ...{ outcome: 'failed', input_tokens: 11, output_tokens: 7 },
      ...{ cost_nano: '13800000', charged_nano: '13800000' },
    })
  },
)

test.for(['openai-chat', 'openai-responses', 'anthropic-messages'] as const)(
  'refused content of %s is charged, and does not count against its channel',
  async (format) => {
    for (let time = 0; time < 12; time++)
      expect(await failed(format, true, 'content_filter', time % 2 === 0)).toMatchObject({
        ...{ outcome: 'failed', error_kind: 'content_filtered', cost_nano: '13800000' },
      })
    const breakers = await bed.database.sql`
      SELECT c.name FROM channel_breakers b JOIN channels c ON c.id = b.channel_id WHERE c.name = ${format}`
    expect(breakers).toEqual([])
  },
)

async function failed(format: Format, stream: boolean, code: string, other: boolean) {
  bed.upstream.script((request) => failure(format, code, request.stream || request.path.includes('stream')))
  try {
    const response = await ask(format, 'failing', stream, freeKey, other)
    return await bed.row(response.headers.get('x-request-id'))
  } finally {
    bed.upstream.script(answer)
  }
}

function failure(format: Format, code: string, stream: boolean): Plan {
  const message =
    code === 'content_filter' ? 'Output blocked by content filtering policy' : 'The server failed.'
  const error = { message, type: format === 'anthropic-messages' ? 'api_error' : code, code }
  const usage = usageOf[format]({ input: 11, output: 7 })
  switch (format) {
    case 'openai-chat': {
      const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
      if (!stream)
        return whole(JSON.stringify({ ...head, object: 'chat.completion', choices: [], error, usage }))
      const chunk = { ...head, object: 'chat.completion.chunk' }
      return events([
        { ...chunk, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
        { ...chunk, choices: [], error, usage },
      ])
    }
    case 'openai-responses': {
      const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm', output: [] }
      const last = { ...response, status: 'failed', error, usage }
      if (!stream) return whole(JSON.stringify(last))
      return events([
        {
          type: 'response.created',
          response: { ...response, status: 'in_progress', error: null, usage: null },
        },
        { type: 'response.failed', response: last },
      ])
    }
    case 'anthropic-messages': {
      const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] }
      return events([
        {
          type: 'message_start',
          message: { ...head, stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
        },
        {
          type: 'message_delta',
          delta: { stop_reason: null, stop_sequence: null },
          usage: { output_tokens: 7 },
        },
        { type: 'error', error },
      ])
    }
    case 'gemini': {
      const candidates = [{ index: 0, finishReason: 'MALFORMED_FUNCTION_CALL' }]
      const response = { responseId: 'r-1', modelVersion: 'm', candidates, usageMetadata: usage }
      return stream ? events([response]) : whole(JSON.stringify(response))
    }
  }
}

const sum = (numbers: number[]) => numbers.reduce((total, one) => total + one, 0)

/** `other`: in another format than the channel's. */
async function ask(
  format: Format,
  what: string,
  stream: boolean,
  key: string,
  other = false,
): Promise<Response> {
  const paths = { 'openai-responses': '/v1/responses', 'anthropic-messages': '/v1/messages' }
  const own = format in paths ? paths[format as keyof typeof paths] : '/v1/chat/completions'
  const path = !other ? own : own === '/v1/messages' ? '/v1/chat/completions' : '/v1/messages'
  const words = `${what}; ${format}`
  const body =
    path === '/v1/responses'
      ? { model: format, stream, max_output_tokens: 100, input: words }
      : { model: format, stream, max_tokens: 100, messages: [{ role: 'user', content: words }] }
  const response = await fetch(bed.tollgate.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${key}`,
    },
    body: JSON.stringify(body),
  })
  await response.text()
  return response
}

function answer({ body, path, stream }: SeenRequest): Plan {
  const text = body.toString('utf8')
  const what = names.find((name) => text.includes(`${name}; `))
  const format = formats.find((each) => text.includes(`; ${each}`))
  if (what === undefined || format === undefined) throw new Error(`no such question: ${text}`)
  const { before, ...counts } = absurd[what] ?? { input: 0, output: 0 }
  const told = [...(before === undefined ? [] : [before]), counts].map((each) => usageOf[format](each))
  return answerOf[format](told, stream || path.includes('streamGenerateContent'))
}

const usageOf: Record<Format, (counts: Counts) => object> = {
  'openai-chat': ({ input, output, cached, reasoning }) => ({
    prompt_tokens: input,
    completion_tokens: output,
    ...(cached === undefined ? {} : { prompt_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  }),
  'openai-responses': ({ input, output, cached, reasoning }) => ({
    input_tokens: input,
    output_tokens: output,
    ...(cached === undefined ? {} : { input_tokens_details: { cached_tokens: cached } }),
    ...(reasoning === undefined ? {} : { output_tokens_details: { reasoning_tokens: reasoning } }),
  }),
  'anthropic-messages': ({ input, output, cached, reasoning }) => ({
    input_tokens: input,
    output_tokens: output,
    ...(cached === undefined ? {} : { cache_read_input_tokens: cached }),
    ...(reasoning === undefined ? {} : { output_tokens_details: { thinking_tokens: reasoning } }),
  }),
  gemini: ({ input, output, cached, reasoning }) => ({
    promptTokenCount: input,
    candidatesTokenCount: output,
    ...(cached === undefined ? {} : { cachedContentTokenCount: cached }),
    ...(reasoning === undefined ? {} : { thoughtsTokenCount: reasoning }),
  }),
}

/** A whole answer that reports its usage twice has the member twice: a parser takes the last one. */
const json = (answer: object, member: string, told: readonly object[]) =>
  JSON.stringify(answer).replace(
    /\}$/,
    `${told.map((usage) => `,"${member}":${JSON.stringify(usage)}`).join('')}}`,
  )
const whole = (body: string): Plan => ({ headers: { 'content-type': 'application/json' }, body })
const events = (list: readonly object[], ...last: string[]): Plan => ({
  chunks: list
    .map((data) => `${'type' in data ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`)
    .concat(last),
  ending: 'end',
})

const answerOf: Record<Format, (told: readonly object[], stream: boolean) => Plan> = {
  'openai-chat': (told, stream) => {
    const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
    const message = { role: 'assistant', content: 'Hello there.' }
    if (!stream)
      return whole(
        json(
          { ...head, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] },
          'usage',
          told,
        ),
      )
    const chunk = { ...head, object: 'chat.completion.chunk' }
    const steps = [
      { ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      ...told.map((usage) => ({ ...chunk, choices: [], usage })),
    ]
    return events(steps, 'data: [DONE]\n\n')
  },
  'openai-responses': (told, stream) => {
    const part = { type: 'output_text', text: 'Hello there.', annotations: [] }
    const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [part] }
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 1,
      model: 'm',
      status: 'completed',
      output: [item],
      error: null,
    }
    if (!stream) return whole(json(response, 'usage', told))
    return events([
      {
        type: 'response.created',
        response: { ...response, status: 'in_progress', output: [], usage: told[0] },
      },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      {
        type: 'response.output_text.delta',
        output_index: 0,
        item_id: 'msg_1',
        content_index: 0,
        delta: part.text,
      },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { ...response, usage: told.at(-1) } },
    ])
  },
  'anthropic-messages': (told, stream) => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      stop_reason: 'end_turn',
      stop_sequence: null,
    }
    const content = [{ type: 'text', text: 'Hello there.' }]
    if (!stream) return whole(json({ ...message, content }, 'usage', told))
    return events([
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: told[0] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello there.' } },
      { type: 'content_block_stop', index: 0 },
      ...told.map((usage) => ({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage,
      })),
      { type: 'message_stop' },
    ])
  },
  gemini: (told, stream) => {
    const candidate = {
      index: 0,
      content: { role: 'model', parts: [{ text: 'Hello there.' }] },
      finishReason: 'STOP',
    }
    const response = { responseId: 'r-1', modelVersion: 'm', candidates: [candidate] }
    if (!stream) return whole(json(response, 'usageMetadata', told))
    return events(told.map((usageMetadata) => ({ ...response, usageMetadata })))
  },
}
