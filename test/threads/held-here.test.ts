import { randomUUIDv7 } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { addKeptAnswer, claimAnswer, endClaim } from '../../src/state/kept/kept-queries.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Threads that the gateway holds itself, before a channel of the Messages format. */

const key = 'holding-key-for-tests-1'
const forgetful = 'forgetful-key-for-tests'
let bed: Testbed
let ids: string[] = []
beforeAll(async () => {
  bed = await startTestbed({
    yaml: (url) => `
models:
  - { id: m, max_output_tokens: 100 }
channels:
  - { name: c, protocols: { anthropic-messages: ${url} }, api_keys: [upstream-key-000001], models: [m], allow_private_address: true }
groups:
  - { name: holding, responses: { store: true } }
  - { name: forgetful }
tenants:
  - name: t
    keys:
      - { name: holding, group: holding, secret: ${key} }
      - { name: forgetful, group: forgetful, secret: ${forgetful} }
`,
  })
})
afterAll(() => bed?.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(({ body }) => ({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      id: ids.shift() ?? `msg_${randomUUIDv7()}`,
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: `${JSON.parse(String(body)).messages.length} messages` }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 2 },
    }),
  }))
})

async function ask(thread: object | undefined, content: string, { secret = key, beta = threadsBeta } = {}) {
  const response = await fetch(`${bed.tollgate.url}/v1/messages`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': secret,
      'anthropic-version': '2023-06-01',
      'anthropic-beta': beta,
    },
    body: JSON.stringify({ model: 'm', max_tokens: 50, messages: [{ role: 'user', content }], thread }),
  })
  return { status: response.status, text: await response.text() }
}

const threadsBeta = 'message-threads-2026-08-12'
const goOn = (previous_message_id: string) => ({ type: 'continue', previous_message_id })

test('an id that a channel gives to two answers continues neither conversation', async () => {
  ids = ['msg_same', 'msg_same']
  expect((await ask({ type: 'create' }, 'The secret is parsnip.')).status).toBe(200)
  expect((await ask({ type: 'create' }, 'Hello.')).status).toBe(200)

  const continued = await ask(goOn('msg_same'), 'What did I say?')
  expect(continued.status).toBe(400)
  expect(continued.text).toContain('thread_already_continued')
  expect(bed.upstream.requests).toHaveLength(2)
})

test('a channel that gives every answer the same id makes no thread, and breaks none', async () => {
  ids = ['msg_always', 'msg_always']
  expect((await ask({ type: 'create' }, 'One.')).status).toBe(200)
  const second = await ask(goOn('msg_always'), 'Two.')
  expect(second).toMatchObject({ status: 200, text: expect.stringContaining('3 messages') })
  expect((await ask(goOn('msg_always'), 'Three.')).text).toContain('thread_already_continued')
})

test('the statement that keeps an answer marks the one before it as continued', async () => {
  const { sql } = bed.database
  const tenantId = randomUUIDv7()
  const row = (id: string, previousId: string | null) => ({
    ...{ tenantId, id, keyId: tenantId, protocol: 'anthropic-messages' as const, previousId, model: 'm' },
    ...{ endUserHash: null, bytes: 1, content: Buffer.from('x') },
  })
  const claim = async (id: string, requestId: string) =>
    claimAnswer(sql, { tenantId, protocol: 'anthropic-messages', keyId: undefined }, id, {
      requestId,
      instanceId: randomUUIDv7(),
      deadMs: 10_000,
    })
  await addKeptAnswer(sql, row('one', null), { days: 1, claimedFor: undefined, isOnce: true })
  const requestId = randomUUIDv7()
  expect(await claim('one', requestId)).toBe('claimed')
  await addKeptAnswer(sql, row('two', 'one'), { days: 1, claimedFor: requestId, isOnce: true })

  expect(await claim('one', randomUUIDv7())).toBe('continued')
  // A process that has not seen the end of the statement ends its claim.
  await endClaim(sql, tenantId, { answerId: 'one', requestId })
  expect(await claim('one', randomUUIDv7())).toBe('continued')
  expect(await claim('two', randomUUIDv7())).toBe('claimed')
})

test('the channel is not told of a thread that the gateway holds, and is told of its own', async () => {
  const { text } = await ask({ type: 'create' }, 'Hello.')
  const beta = `a-2026-01-01, ${threadsBeta},b-2026-02-02`
  await ask(goOn(JSON.parse(text).id), 'More.', { beta })
  await ask({ type: 'create' }, 'Hello.', { secret: forgetful, beta })
  expect(bed.upstream.requests.map(({ headers }) => headers['anthropic-beta'])).toEqual([
    undefined,
    'a-2026-01-01,b-2026-02-02',
    beta,
  ])
})
