import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { sentenceOf } from '../../src/canonical/reasons/catalogue.ts'
import { channelLine, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'
import type { Plan } from '../support/upstream.ts'

/** What an upstream says about the request reaches the client and the row; what it says about the operator's account does not. */

const protocols = {
  chat: 'openai-chat',
  responses: 'openai-responses',
  messages: 'anthropic-messages',
} as const
const paths = {
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  messages: '/v1/messages',
} as const
type Format = keyof typeof paths

let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({
    models: ['chat', 'responses', 'messages', '"*"'].map((id) => `  - { id: ${id} }`).join('\n'),
    channels: (origin) =>
      [
        ...(['chat', 'responses', 'messages'] as const).map((of) =>
          channelLine(origin, of, `[${of}]`, { protocol: protocols[of] }),
        ),
        channelLine(origin, 'any-1', '"*"'),
        channelLine(origin, 'any-2', '"*"'),
      ].join('\n'),
    narrow: 'chat',
    // A cooldown must not outlive its test.
    env: { CREDENTIAL_REST_MS: '6', RETRY_AFTER_MS_MAX: '1' },
  })
})
afterAll(() => bed.close())
afterEach(() => bed.reset())

const refusal = (status: number, body: unknown, headers: Record<string, string> = {}): Plan => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})
const error = (message: string, more: Record<string, unknown> = {}) => ({ error: { message, ...more } })
const ask = (model: string, as: Format) =>
  bed.ask(model, { path: paths[as], ...(as === 'responses' ? { input: 'Hi' } : { max_tokens: 100 }) })

test.each([
  {
    is: 'a request that is too large for the limit',
    of: 'chat',
    as: ['chat', 'messages'],
    plan: refusal(
      429,
      error(
        'Request too large for gpt-4o in organization org-AbC123 on tokens per min (TPM): Limit 30000, Requested 41000. The input or output tokens must be reduced in order to run successfully.',
        { type: 'tokens', code: 'rate_limit_exceeded' },
      ),
    ),
    status: 413,
    words: 'must be reduced',
    after: null,
  },
  {
    is: 'a limit on use',
    of: 'responses',
    as: ['responses', 'chat'],
    plan: refusal(
      429,
      error('The usage limit has been reached', { type: 'usage_limit_reached', resets_in_seconds: 162538 }),
    ),
    status: 429,
    words: 'The usage limit has been reached',
    after: 162538,
  },
  {
    is: 'a limit of the week',
    of: 'messages',
    as: ['messages', 'chat'],
    plan: refusal(
      429,
      { type: 'error', error: { type: 'rate_limit_error', message: 'Weekly limit reached' } },
      { 'retry-after': '287441' },
    ),
    status: 429,
    words: 'Weekly limit reached',
    after: 287441,
  },
  {
    is: 'an overload',
    of: 'chat',
    as: ['chat'],
    plan: refusal(503, error('The model gpt-4o is loading: 80 %')),
    status: 503,
    words: 'The model gpt-4o is loading',
    after: null,
  },
] as const)('$is: the words reach the client and the row', async ({ of, as, plan, status, words, after }) => {
  for (const client of as) {
    bed.answers[of] = () => plan
    const asked = await ask(of, client)
    expect(asked.status).toBe(status)
    expect(JSON.parse(asked.text).error.message).toContain(words)
    expect(asked.text).not.toContain('org-')
    const retryAfter = asked.headers.get('retry-after')
    if (after !== null) expect(Number(retryAfter)).toBeGreaterThan(after - 60)
    expect(JSON.stringify(await bed.row(asked.id))).toContain(words)
  }
})

test.each([
  refusal(401, error('Incorrect API key provided: sk-abc1***xyz2.')),
  refusal(429, error('You exceeded your current quota, please check your plan and billing details.')),
  refusal(503, error('Your account has no credits left: top up at https://x.test/billing')),
])('words about the account stay with the operator', async (plan) => {
  bed.answers.chat = () => plan
  const asked = await ask('chat', 'chat')
  expect(asked.text).not.toMatch(/API key|quota|credits|billing/)
  expect(JSON.stringify(await bed.row(asked.id))).not.toMatch(/Incorrect API key|quota|credits|billing/)
})

const lacking = [
  error('No available channel for model missing under group default (distributor) (request id: 2026)', {
    type: 'new_api_error',
    code: 'model_not_found',
  }),
  error('No available channel for model missing under group default (distributor)', {
    type: 'new_api_error',
  }),
  error('当前分组 default 下对于模型 missing 无可用渠道', { type: 'one_api_error', code: '' }),
]

test.each(lacking)(
  'a model that no channel has is not found, in the words of the upstream: %j',
  async (body) => {
    for (const channel of ['any-1', 'any-2']) bed.answers[channel] = () => refusal(503, body)
    for (const as of ['chat', 'messages'] as const) {
      const asked = await ask('missing', as)
      expect(asked.status).toBe(404)
      expect(JSON.parse(asked.text).error.message).toBe(body.error.message)
      expect(await bed.row(asked.id)).toMatchObject({ error_kind: 'model_not_found' })
    }
    expect(bed.asked('any-1')).toHaveLength(2)
    expect(bed.asked('any-2')).toHaveLength(2)
  },
)

test('it opens no breaker for other models, and is not an overload where one channel has the model', async () => {
  const missing = refusal(503, lacking[0])
  bed.answers['any-1'] = bed.answers['any-2'] = () => missing
  for (let i = 0; i < 12; i++) await ask('missing', 'chat')
  bed.reset()
  bed.answers['any-1'] = (seen) => (seen.model === 'missing' ? missing : { status: 200, body: good })
  bed.answers['any-2'] = () => ({ status: 200, body: good })
  const served = await ask('other', 'chat')
  expect(served.status).toBe(200)
  expect(await bed.attemptsOf(served.id)).toMatchObject([{ passed_over: false }])
  expect((await ask('missing', 'chat')).status).toBe(200)
  bed.answers['any-2'] = () => refusal(500, error('boom'))
  const failed = await ask('missing', 'chat')
  expect(failed.status).toBe(502)
  expect(failed.text).toContain('boom')
})

const good = JSON.stringify({
  ...{ id: 'x', object: 'chat.completion', created: 1, model: 'm' },
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
})

test.each([
  refusal(404, error('Invalid URL (POST /v1/messages/count_tokens)', { type: 'invalid_request_error' })),
  refusal(404, { detail: 'Not Found' }),
  { status: 404, headers: { 'content-type': 'text/html' }, body: '<html></html>' },
  refusal(405, error('Method not allowed')),
])('tokens are estimated where the channel has no such path', async (plan) => {
  bed.answers.messages = () => plan
  const asked = await bed.ask('messages', { path: '/v1/messages/count_tokens' })
  expect(asked.status).toBe(200)
  expect(asked.headers.get('x-tollgate-estimated')).toBe('true')
})

test('a count without a number is not used, and the attempt says why', async () => {
  bed.answers.messages = () => ({ headers: { 'content-type': 'application/json' }, body: '{}' })
  const asked = await bed.ask('messages', { path: '/v1/messages/count_tokens' })
  expect(asked.headers.get('x-tollgate-estimated')).toBe('true')
  await bed.row(asked.id)
  expect(await bed.database.sql`SELECT error_message FROM attempts WHERE request_id = ${asked.id}`).toEqual([
    { error_message: sentenceOf('upstream_count_missing', {}) },
  ])
})
