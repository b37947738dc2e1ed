import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import type { Plan } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'

/** What clients and upstreams say about a request, and how much of it the usage log takes. */

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml })
})
afterAll(() => bed.close())
beforeEach(() => bed.upstream.script(planByModel))

const messages = [{ role: 'user', content: 'Hello' }]
const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz0123456789'

function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(bed.tollgate.url + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'anthropic-version': '2023-06-01',
      authorization: `Bearer ${freeKey}`,
      ...headers,
    },
    body: JSON.stringify(body),
  })
}

async function labelsOf(response: Response): Promise<unknown[]> {
  await response.text()
  const { end_user, session, tags } = await bed.row(response.headers.get('x-request-id'))
  return [end_user, session, tags]
}

const claudeSession = '54c1eb09-bc4c-4d2f-98eb-6d2ab2d5e2fe'
const nothing = [null, null, null]
const labelled: [what: string, body: object, headers: Record<string, string>, labels: unknown[]][] = [
  ['nothing', {}, {}, nothing],
  ['a user', { user: 'u 7' }, {}, ['u 7', null, null]],
  [
    'a user with escapes',
    { user: 'caf\u00e9 "7" \ud83d\ude00' },
    {},
    ['caf\u00e9 "7" \ud83d\ude00', null, null],
  ],
  ['two names', { user: 'u', safety_identifier: 'safe' }, {}, ['u', null, null]],
  ['a safety identifier alone', { safety_identifier: 'safe', user: '' }, {}, ['safe', null, null]],
  ['what is not a name', { user: 7, safety_identifier: null, metadata: 'x' }, {}, nothing],
  ['a secret for a user', { user: secret }, {}, ['[REDACTED openai-key]', null, null]],
  ['a long user', { user: '\u4e2d'.repeat(1500) }, {}, ['\u4e2d'.repeat(256), null, null]],
  ['a cache key', { prompt_cache_key: 'thread 1' }, {}, [null, 'thread 1', null]],
  ['our header first', { prompt_cache_key: 'no' }, { 'x-tollgate-session': 'yes' }, [null, 'yes', null]],
  ['an agent', {}, { session_id: 'codex-1' }, [null, 'codex-1', null]],
  [
    'tags',
    {},
    { 'x-tollgate-tags': ' prod, team a,,prod ,\u00fc' },
    [null, null, ['prod', 'team a', '\u00fc']],
  ],
  [
    'tags in UTF-8',
    {},
    { 'x-tollgate-tags': Buffer.from('caf\u00e9').toString('latin1') },
    [null, null, ['caf\u00e9']],
  ],
  [
    'a secret for a tag',
    {},
    { 'x-tollgate-tags': `a, ${secret}` },
    [null, null, ['[REDACTED openai-key]', 'a']],
  ],
  [
    'metadata',
    { metadata: { team: 'a', n: 1, long: 'x'.repeat(60), deep: { a: 'b' }, run: 'b,c' } },
    { 'x-tollgate-tags': 'z' },
    [null, null, ['run:b,c', 'team:a', 'z']],
  ],
]

test.each(labelled)(
  '%s: the row of a chat says so, and the upstream gets the body as it came',
  async (_, body, headers, labels) => {
    bed.upstream.requests.length = 0
    const sent = { model: 'any', messages, ...body }
    const answer = await post('/v1/chat/completions', sent, headers)
    expect(answer.status).toBe(200)
    expect(await labelsOf(answer)).toEqual(labels)
    const [seen] = bed.upstream.requests
    expect(JSON.parse(String(seen?.body))).toEqual(sent)
    expect(Object.keys(seen?.headers ?? {}).filter((name) => name.startsWith('x-tollgate'))).toEqual([])
  },
)

test('metadata fills up what is left of sixteen tags', async () => {
  const metadata = Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`m${i}`, 'x']))
  const own = Array.from({ length: 14 }, (_, i) => `t${String(i).padStart(2, '0')}`)
  const answer = await post(
    '/v1/chat/completions',
    { model: 'any', messages, metadata },
    { 'x-tollgate-tags': own.join() },
  )
  expect(await labelsOf(answer)).toEqual([null, null, ['m0:x', 'm1:x', ...own]])
})

const users: [what: string, userId: string, labels: unknown[]][] = [
  ['a user of its own', 'user-42', ['user-42', null, null]],
  ['Claude Code', `user_0f1e_account__session_${claudeSession}`, ['user_0f1e_account_', claudeSession, null]],
  [
    'Claude Code since 2.1.78',
    JSON.stringify({ device_id: 'd1', account_uuid: '', session_id: claudeSession }),
    ['d1', claudeSession, null],
  ],
  ['other JSON', '{"a":1}', ['{"a":1}', null, null]],
]

test.each(users)(
  '%s: metadata.user_id of the Messages format names user and session',
  async (_, userId, labels) => {
    const body = { model: 'any', max_tokens: 5, messages, metadata: { user_id: userId } }
    expect(await labelsOf(await post('/v1/messages', body))).toEqual(labels)
  },
)

test('Responses name their user and tags as chats do', async () => {
  const body = { model: 'any', input: 'Hello', user: 'u', metadata: { a: 'b' }, prompt_cache_key: 'k' }
  expect(await labelsOf(await post('/v1/responses', body))).toEqual(['u', 'k', ['a:b']])
})

const tooMuch: [what: string, tags: string, problem: string][] = [
  ['too many', Array.from({ length: 17 }, (_, i) => i).join(), 'expected at most 16 tags, got 17'],
  ['too long', `a,${'x'.repeat(65)}`, 'expected tags of at most 64 characters, got one of 65'],
]
const endpoints: [path: string, body: object][] = [
  ['/v1/chat/completions', { model: 'any', messages }],
  ['/v1/messages', { model: 'any', max_tokens: 5, messages }],
  ['/v1/images/generations', { model: 'any', prompt: 'a tree' }],
  ['/v1/messages/count_tokens', { model: 'any', messages }],
]

test.each(tooMuch.flatMap((tags) => endpoints.map((endpoint) => [...tags, ...endpoint] as const)))(
  'tags that are %s (%s) are refused by the name of their header: %s, at %s',
  async (_, tags, problem, path, body) => {
    bed.upstream.requests.length = 0
    const answer = await post(path, body, { 'x-tollgate-tags': tags })
    expect(answer.status).toBe(400)
    expect(await answer.clone().text()).toContain(`x-tollgate-tags: ${problem}`)
    expect(await labelsOf(answer)).toEqual(nothing)
    expect(bed.upstream.requests).toHaveLength(0)
  },
)

test('the longest name of a client, and a name of 1,500 characters from an upstream, hold no row up', async () => {
  const long = String.fromCharCode(...Array.from({ length: 1_500 }, () => randomInt(0x4e00, 0x9fff)))
  bed.upstream.script(() => json({ input_tokens: 42 }))
  const counted = await post('/v1/messages/count_tokens', { model: long.slice(0, 256), messages })
  expect(counted.status).toBe(200)
  bed.upstream.script(() => json({ ...answerOf(long), usage: { prompt_tokens: 1, completion_tokens: 1e15 } }))
  const answered = await post('/v1/chat/completions', { model: 'any', messages })
  expect(answered.status).toBe(200)
  expect((await bed.row(counted.headers.get('x-request-id'))).requested_model).toBe(long.slice(0, 256))
  expect(await bed.row(answered.headers.get('x-request-id'))).toMatchObject({
    served_model: long.slice(0, 512),
    upstream_request_id: 'i'.repeat(256),
    finish_reason: long.slice(0, 256),
    output_tokens: null,
    usage_source: 'implausible',
    outcome: 'succeeded',
  })
  bed.upstream.script(planByModel)
  const next = await post('/v1/chat/completions', { model: 'any', messages })
  expect(await labelsOf(next)).toEqual(nothing)
})

function answerOf(name: string): object {
  const choices = [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: name }]
  return { id: 'c', object: 'chat.completion', created: 1, model: name, choices }
}

function json(body: object): Plan {
  const headers = { 'content-type': 'application/json', 'x-request-id': 'i'.repeat(1_500) }
  return { headers, body: JSON.stringify(body) }
}

function yaml(upstreamUrl: string): string {
  return `
models: [ { id: '*' } ]
channels:
  - name: scripted
    protocols: { openai-chat: ${upstreamUrl} }
    api_keys: [ "upstream-credential-0001" ]
    models: '*'
    allow_private_address: true
  - name: messages
    protocols: { anthropic-messages: ${upstreamUrl.replace('/v1', '')} }
    api_keys: [ "upstream-credential-0002" ]
    models: '*'
    priority: -1
    allow_private_address: true
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: free, keys: [ { name: free, group: default, secret: ${freeKey} } ] } ]
`
}
