import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** A refusal names only what the format of its client has. */

const poorKey = 'poor-key-for-tests-0001'
const spentKey = 'spent-key-for-tests-001'
const singleKey = 'single-key-for-tests-01'

const yaml = (url: string) => `
models:
  - { id: main, context_length: 1000000, max_output_tokens: 1000000, price: { input: "100", output: "100" } }
  - { id: unbounded, price: { input: "100", output: "100" } }
channels:
  - name: scripted
    protocols: { openai-chat: ${url}, openai-responses: ${url}, anthropic-messages: ${url.replace('/v1', '')} }
    api_keys: [upstream-credential-1]
    models: '*'
    allow_private_address: true
groups:
  - { name: default, models: ['*'], channels: ['*'] }
tenants:
  - { name: poor, balance_usd: "0.10", keys: [{ name: poor, group: default, secret: ${poorKey} }] }
  - { name: spent, balance_usd: "0.00", keys: [{ name: spent, group: default, secret: ${spentKey} }] }
  - name: single
    keys: [{ name: single, group: default, secret: ${singleKey}, limits: { requests_per_minute: 1 } }]
`

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({ yaml, env: { ADMIT_MS: '60000' } })
})
afterAll(() => bed?.close())

const long = 'x'.repeat(5000)
const says = (content: string) => ({ messages: [{ role: 'user', content }] })

const cases: [what: string, path: string, body: object, advice: string][] = [
  ['chat', 'chat/completions', says('Hi'), 'Lower max_completion_tokens, or'],
  [
    'chat',
    'chat/completions',
    { ...says('Hi'), max_completion_tokens: 9000 },
    'Lower max_completion_tokens, or',
  ],
  ['older chat', 'chat/completions', { ...says('Hi'), max_tokens: 9000 }, 'Lower max_tokens, or'],
  ['long chat', 'chat/completions', { ...says(long), max_tokens: 1 }, 'Send less input, or'],
  ['Responses', 'responses', { input: 'Hi' }, 'Lower max_output_tokens, or'],
  ['long Responses', 'responses', { input: long, max_output_tokens: 1 }, 'Send less input, or'],
  ['a compaction', 'responses/compact', { input: 'Hi' }, 'Use a cheaper model, or'],
  ['a long compaction', 'responses/compact', { input: long }, 'Send less input, or'],
  ['Messages', 'messages', { ...says('Hi'), max_tokens: 9000 }, 'Lower max_tokens, or'],
  ['long Messages', 'messages', { ...says(long), max_tokens: 1 }, 'Send less input, or'],
  ['embeddings', 'embeddings', { input: long }, 'Send less input, or'],
  ['moderations', 'moderations', { input: long }, 'Send less input, or'],
  ['completions', 'completions', { prompt: 'Hi', max_tokens: 9000 }, 'Lower max_tokens, or'],
  [
    'hidden input',
    'chat/completions',
    { ...says('Hi'), max_tokens: 1, plugins: [] },
    'Leave out plugins, or',
  ],
]

test.each(cases)('the 402 of %s on /v1/%s', async (_what, path, body, advice) => {
  const poor = await ask(path, { model: 'main', ...body }, poorKey)
  expect(poor).toMatchObject({
    status: 402,
    message: expect.stringContaining(`the balance. ${advice} add credit.`),
  })
  // Where nothing is left, no smaller request would do.
  const spent = await ask(path, { model: 'main', ...body }, spentKey)
  expect(spent).toMatchObject({ status: 402, message: expect.stringContaining('the balance. Add credit.') })
})

test.each([
  ['chat/completions', says('Hi'), 'Send max_completion_tokens.'],
  ['responses', { input: 'Hi' }, 'Send max_output_tokens.'],
  ['responses/compact', { input: 'Hi' }, 'The operator can set max_output_tokens.'],
  ['completions', { prompt: 'Hi' }, 'Send max_tokens.'],
])('the 403 of an unbounded /v1/%s', async (path, body, says) => {
  const refused = await ask(path, { model: 'unbounded', ...body }, poorKey)
  expect(refused).toMatchObject({
    status: 403,
    message: expect.stringContaining(`nothing bounds its answer. ${says}`),
  })
})

test('a limit of one is in the singular', async () => {
  await ask('chat/completions', { model: 'main', ...says('Hi') }, singleKey)
  const refused = await ask('chat/completions', { model: 'main', ...says('Hi') }, singleKey)
  expect(refused).toMatchObject({
    status: 429,
    message: expect.stringContaining('reached the limit of 1 request per minute.'),
  })
})

test.each(['GET', 'HEAD'])('%s /health is answered as /healthz is, and has no row', async (method) => {
  const before = await bed.rows()
  const headers = { authorization: `Bearer ${poorKey}` }
  const [own, other] = await Promise.all(
    ['/health', '/healthz'].map(async (path) => {
      const answer = await fetch(bed.tollgate.url + path, { method, headers })
      return { status: answer.status, text: await answer.text() }
    }),
  )
  expect(own).toEqual(other)
  expect(own?.status).toBe(200)
  expect(await bed.rows()).toHaveLength(before.length)
})

test('a 401 has the words of the vendor in its formats, and the id of the request', async () => {
  for (const path of ['chat/completions', 'responses', 'embeddings', 'images/generations', 'files']) {
    const answer = await fetch(`${bed.tollgate.url}/v1/${path}`, { method: 'POST', body: '{}' })
    expect(await answer.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/^Incorrect API key provided\. No API key was sent\. Send it as/),
        request_id: answer.headers.get('x-request-id'),
      },
    })
  }
})

async function ask(path: string, body: object, key: string): Promise<{ status: number; message: string }> {
  const answer = await fetch(`${bed.tollgate.url}/v1/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01', 'x-api-key': key },
    body: JSON.stringify(body),
  })
  const { error } = (await answer.json()) as { error?: { message: string } }
  return { status: answer.status, message: error?.message ?? '' }
}
