import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { maskAccountIds } from '../../src/protocols/account-words.ts'
import { upstreamSide } from '../../src/protocols/index.ts'
import { channelLine, type RoutingBed, startRoutingBed } from '../support/routing-bed.ts'

/** An upstream's words about a request are the client's, with 400, 404, 413 and 422; the ids of the operator's account in them are not. */

const uuid = '1b2c3d4e-5f60-7182-93a4-b5c6d7e8f901'
const masked: [string, string, string][] = [
  [
    'OpenAI: organization',
    'Your organization org-abc123 must be verified to use the model `gpt-5`.',
    'Your organization (account) must be verified to use the model `gpt-5`.',
  ],
  [
    'OpenAI: project',
    'Project `proj_AbC123dEf456GhI789` does not have access to model `gpt-4o`.',
    'Project `(account)` does not have access to model `gpt-4o`.',
  ],
  ['Groq', 'The model `x` is blocked for org_01j2x3y4z5.', 'The model `x` is blocked for (account).'],
  ['Stripe, as resellers quote it', 'acct_1HqXyZ2eZvKYlo: no such model', '(account): no such model'],
  [
    'Anthropic',
    `Workspace ${uuid} may not use this model (org: ${uuid}).`,
    'Workspace (account) may not use this model (org: (account)).',
  ],
  [
    'AWS: a profile',
    'The provided model identifier arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.x is invalid.',
    'The provided model identifier arn:aws:bedrock:us-east-1:(account):inference-profile/us.x is invalid.',
  ],
  [
    'AWS: a role in China',
    'User: arn:aws-cn:sts::123456789012:assumed-role/gateway/i-1 may not',
    'User: arn:aws-cn:sts::(account):assumed-role/gateway/i-1 may not',
  ],
  ['AWS: in words', 'Account 123456789012 has no access to it.', 'Account (account) has no access to it.'],
  [
    'Google: a number',
    'Publisher Model `projects/123456789/locations/us-central1/publishers/google/models/x` was not found.',
    'Publisher Model `projects/(account)/locations/us-central1/publishers/google/models/x` was not found.',
  ],
  [
    'Google: a name',
    'Resource projects/my-company-42/locations/global/cachedContents/1 is not there.',
    'Resource projects/(account)/locations/global/cachedContents/1 is not there.',
  ],
  [
    'Google: in words',
    'Vertex AI API has not been used in project 987654321098 before.',
    'Vertex AI API has not been used in project (account) before.',
  ],
  [
    'Azure',
    `The resource /subscriptions/${uuid}/resourceGroups/my-company/providers/x has no deployment.`,
    'The resource /subscriptions/(account)/resourceGroups/(account)/providers/x has no deployment.',
  ],
]
const kept = [
  "Invalid type for 'messages[0].content': expected one of a string or array.",
  'No tool output found for function call call_abc123def456.',
  'Item rs_0123456789abcdef of type reasoning was provided without its required following item.',
  'Unknown function org_chart, proj_list or team_search.',
  'The file file-AbC123dEf456 was not found.',
  'messages.0.content: at most 123456789012 characters',
  'prompt is too long: 208310 tokens > 200000 maximum',
  'Unknown name "projects/docs" in the schema, see /projects/readme.md.',
  `previous response ${uuid} was not found`,
]

test.each(masked)('%s', (_vendor, words, rest) => {
  expect(maskAccountIds(words)).toBe(rest)
  const escaped = JSON.stringify({ error: { message: words } }).replaceAll('/', '\\/')
  expect(JSON.parse(maskAccountIds(escaped))).toEqual({ error: { message: rest } })
})

test('ids after an escape of JSON', () => {
  const words =
    "in:\norg-AbC123def456 'org-zZz999yyy888'\tproject 123456789012\nprojects/123456789 \rarn:aws:iam::123456789012:x"
  const rest = "in:\n(account) '(account)'\tproject (account)\nprojects/(account) \rarn:aws:iam::(account):x"
  expect(maskAccountIds(words)).toBe(rest)
  // .NET writes quotes so.
  const escaped = JSON.stringify(words).replaceAll("'", '\\u0027')
  expect(JSON.parse(maskAccountIds(escaped))).toBe(rest)
})

test.each(kept)('ids and words of the request stay: %s', (words) => {
  expect(maskAccountIds(words)).toBe(words)
})

test('a text of any length takes a time that grows with it alone', () => {
  for (const part of ['org-', 'projects/', 'arn:aws:', 'account ', 'a1', '/subscriptions/'])
    expect(maskAccountIds(part.repeat(20_000))).toHaveLength(part.length * 20_000)
})

const statuses = [400, 404, 413, 422]
test.each(statuses)('the error of a translation with status %i', (status) => {
  for (const [, words, rest] of masked) {
    const body = Buffer.from(JSON.stringify({ error: { message: words, type: 'invalid_request_error' } }))
    expect(upstreamSide('openai-chat').decodeError(status, {}, body).message).toBe(rest)
  }
})

let bed: RoutingBed
beforeAll(async () => {
  bed = await startRoutingBed({
    models: '  - { id: m }',
    channels: (origin) => channelLine(origin, 'own', '[m]'),
    narrow: 'm',
  })
})
afterAll(() => bed.close())
afterEach(() => bed.reset())

test.each(statuses)('the error of a pass-through with status %i, and its row', async (status) => {
  const message = masked.map(([, words]) => words).join(' ')
  bed.answers.own = () => ({
    status,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: { message, type: 'invalid_request_error', extra: 1 } }),
  })
  const asked = await bed.ask('m')
  expect(asked.status).toBe(status)
  expect(JSON.parse(asked.text).error).toMatchObject({
    message: masked.map(([, , rest]) => rest).join(' '),
    extra: 1,
  })
  const shown = JSON.stringify([await bed.row(asked.id), await bed.attemptsOf(asked.id)])
  expect(shown).not.toMatch(/org-abc123|proj_AbC|123456789012|my-company/)
  expect(bed.tollgate.stdout() + bed.tollgate.stderr()).toContain('org-abc123')
})
