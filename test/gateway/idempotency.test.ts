import { randomUUID } from 'node:crypto'
import { APIError, OpenAI } from 'openai'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { abortKey, freeKey, gatewayYaml, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import { chatAnswer, chatStream, errorAnswer, planByModel } from '../support/upstream-plans.ts'

const answerBytesMax = 20_000
const onceKey = 'once-key-for-tests-0001'
const messages = [{ role: 'user' as const, content: 'Hello' }]

let bed: Testbed
beforeAll(async () => {
  const once = `  - { name: once, keys: [ { name: once, group: once, secret: ${onceKey} } ] }\n`
  const group =
    "groups:\n  - { name: once, models: ['*'], channels: ['*'], limits: { requests_per_minute: 1 } }\n"
  bed = await startTestbed({
    env: { IDEMPOTENT_ANSWER_BYTES_MAX: String(answerBytesMax) },
    yaml: (url) => gatewayYaml(url, once).replace('groups:\n', group),
  })
})
afterAll(() => bed.close())
beforeEach(() => {
  bed.upstream.requests.length = 0
  bed.upstream.script(planByModel)
})

describe.each([false, true])('a repeat, stream %s,', (stream) => {
  const body = { model: 'priced', max_tokens: 10, messages, stream, stream_options: undefined }

  test('gets the first answer byte for byte, as a request of its own that costs nothing', async () => {
    const key = randomUUID()
    const [first, firstBytes] = await ask(key, body, paidKey)
    const spent = await spentBy('paid')
    const [second, secondBytes] = await repeat(key, body, paidKey)
    expect(secondBytes).toEqual(firstBytes)
    expect(second.status).toBe(first.status)
    for (const name of ['content-type', 'cache-control', 'x-accel-buffering'])
      expect(second.headers.get(name)).toBe(first.headers.get(name))
    expect(first.headers.get('idempotency-replayed')).toBe(null)
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    expect(second.headers.get('x-tollgate-original-request-id')).toBe(idOf(first))
    expect(idOf(second)).not.toBe(idOf(first))
    expect(bed.upstream.requests).toHaveLength(1)

    expect(await bed.row(idOf(first))).toMatchObject({ attempt_count: 1, stream, idempotency_key: key })
    expect(await bed.row(idOf(second))).toMatchObject({
      status: 200,
      outcome: 'succeeded',
      cost_nano: '0',
      usage_source: 'none',
      attempt_count: 0,
      channel: null,
      requested_model: 'priced',
      stream,
      idempotency_key: key,
    })
    expect(await spentBy('paid')).toBe(spent)
    const [account] = await bed.database.sql`SELECT reserved_nano FROM accounts WHERE limited`
    expect(account).toEqual({ reserved_nano: '0' })
  })

  test('that comes during the first request waits by the SDK’s own retries, and only the first goes upstream', async () => {
    const client = new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey })
    const { released, release } = gate()
    bed.upstream.script(async (request) => {
      await released
      return planByModel(request)
    })
    const headers = { 'idempotency-key': randomUUID() }
    const both = [1, 2].map(async () => {
      const answer = await client.chat.completions.create({ model: 'any', messages, stream }, { headers })
      if (!(Symbol.asyncIterator in answer)) return answer.choices[0]?.message.content
      let text = ''
      for await (const chunk of answer) text += chunk.choices[0]?.delta.content ?? ''
      return text
    })
    await bed.upstream.arrived(1)
    release()
    const [one, other] = await Promise.all(both)
    expect(one).toMatch(stream ? /token-6/ : /Hello there/)
    expect(other).toBe(one)
    expect(bed.upstream.requests).toHaveLength(1)
  })
})

test('while the first request runs, every repeat is a 409 with Retry-After, and each has one row', async () => {
  const { released, release } = gate()
  bed.upstream.script(async () => {
    await released
    return chatAnswer()
  })
  const key = randomUUID()
  const asked = Array.from({ length: 20 }, () => ask(key))
  await bed.upstream.arrived(1)
  const others = await settledBut(asked, 1)
  expect(others.map(([{ status }]) => status)).toEqual(Array(19).fill(409))
  expect(others.map(([{ headers }]) => headers.get('retry-after'))).toEqual(Array(19).fill('1'))
  expect(JSON.parse(String(others[0]?.[1])).error.code).toBe('request_in_progress')
  release()
  const all = await Promise.all(asked)
  expect(all.filter(([{ status }]) => status === 200)).toHaveLength(1)
  expect(bed.upstream.requests).toHaveLength(1)
  for (const [response] of all) await bed.row(idOf(response))
  expect(await rowsOf(key)).toHaveLength(20)
})

test('the same key with another body, or at another path, is a 422, also after the end of the first request', async () => {
  const key = randomUUID()
  const { released, release } = gate()
  bed.upstream.script(async () => {
    await released
    return chatAnswer()
  })
  const first = ask(key)
  await bed.upstream.arrived(1)
  const [during] = await ask(key, { model: 'other', messages })
  expect(during.status).toBe(422)
  release()
  await first
  await repeat(key)
  const [after, text] = await ask(key, { model: 'other', messages })
  expect(after.status).toBe(422)
  expect(JSON.parse(String(text)).error.code).toBe('idempotency_mismatch')
  const [elsewhere] = await post('/v1/responses', key, { model: 'any', input: 'Hello' })
  expect(elsewhere.status).toBe(422)
  expect(bed.upstream.requests).toHaveLength(1)
})

test.each([
  ['an error of the upstream', () => errorAnswer(500, {})],
  ['a refusal of the upstream', () => errorAnswer(400, { message: 'No.' })],
  ['a stream that is cut', () => chatStream({ includeUsage: true }, { done: false, ending: 'cut' as const })],
])('after %s, the next one runs at once', async (_, plan) => {
  const key = randomUUID()
  const body = { model: 'any', messages, stream: true }
  bed.upstream.script(plan)
  const [failed, text] = await ask(key, body)
  expect(String(text)).toContain('"error"')
  bed.upstream.script(planByModel)
  const [second, answer] = await ask(key, body)
  expect(second.status).toBe(200)
  expect(second.headers.get('idempotency-replayed')).toBe(null)
  expect(String(answer)).toContain('[DONE]')
  expect(idOf(second)).not.toBe(idOf(failed))
  const [third] = await repeat(key, body)
  expect(third.headers.get('x-tollgate-original-request-id')).toBe(idOf(second))
  expect(bed.upstream.requests).toHaveLength(2)
})

test('a request that was refused before it went upstream does not use its key up', async () => {
  const key = randomUUID()
  const body = { model: 'main', max_tokens: 10_000_000, messages }
  const [refused] = await ask(key, body, paidKey)
  expect(refused.status).toBe(402)
  const [again] = await ask(key, { ...body, max_tokens: 1 }, paidKey)
  expect(again.status).toBe(200)
})

test('after a client that left in the middle of a stream, the next request with the key runs', async () => {
  const key = randomUUID()
  const body = { model: 'leaving', messages, stream: true }
  bed.upstream.script((request) => chatStream(request, { tokens: 10_000, paceMs: 20 }))
  const leaving = new AbortController()
  const headers = { 'idempotency-key': key }
  const response = await bed.chat(body, { key: abortKey, headers, signal: leaving.signal })
  await response.body?.getReader().read()
  leaving.abort()
  await bed.upstream.requests[0]?.closed
  bed.upstream.script(planByModel)
  const [second, text] = await repeat(key, body, abortKey)
  expect(second.headers.get('idempotency-replayed')).toBe(null)
  expect(String(text)).toContain('[DONE]')
  expect((await bed.row(idOf(response))).outcome).toBe('cancelled')
  expect(bed.upstream.requests).toHaveLength(2)
})

test.each([false, true])(
  'an answer beyond the bound is not kept: the next request with the key runs (stream %s)',
  async (stream) => {
    const key = randomUUID()
    const body = { model: 'any', messages, stream }
    bed.upstream.script((request) =>
      stream ? chatStream(request, { tokens: 500 }) : chatAnswer({ content: 'x'.repeat(answerBytesMax) }),
    )
    const [first, firstBytes] = await ask(key, body)
    expect(first.status).toBe(200)
    expect(firstBytes.length).toBeGreaterThan(answerBytesMax)
    const [second] = await repeat(key, body)
    expect(second.headers.get('idempotency-replayed')).toBe(null)
    expect(bed.upstream.requests).toHaveLength(2)
  },
)

test('the same header of another API key is another request', async () => {
  const key = randomUUID()
  const body = { model: 'priced', max_tokens: 10, messages }
  const [mine] = await ask(key, body)
  const [theirs] = await ask(key, body, paidKey)
  expect([mine.status, theirs.status]).toEqual([200, 200])
  expect(theirs.headers.get('idempotency-replayed')).toBe(null)
  expect(bed.upstream.requests).toHaveLength(2)
})

test('a repeat does not count against the limits of its key, and a request over them does not use its key up', async () => {
  const key = randomUUID()
  const [first] = await ask(key, undefined, onceKey)
  expect(first.status).toBe(200)
  const [second] = await repeat(key, undefined, onceKey)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  const other = randomUUID()
  for (const _ of [1, 2]) expect((await ask(other, undefined, onceKey))[0].status).toBe(429)
})

test.each(['', 'with space', 'x'.repeat(256), 'caf\u00e9'])(
  'a header that is not 1 to 255 visible characters is a 400 that names it: "%s"',
  async (key) => {
    const [response, text] = await ask(key)
    expect(response.status).toBe(400)
    expect(JSON.parse(String(text)).error).toMatchObject({
      message: expect.stringMatching(/^Idempotency-Key: expected 1 to 255/),
      param: 'Idempotency-Key',
    })
    expect(await bed.row(idOf(response))).toMatchObject({ status: 400, error_kind: 'invalid_request' })
  },
)

test.each([
  ['/v1/responses', { model: 'any', input: 'Hello' }, 'x-request-id'],
  ['/v1/messages', { model: 'any', max_tokens: 10, messages }, 'request-id'],
  ['/v1/messages', { model: 'any', max_tokens: 10, messages, stream: true }, 'request-id'],
])('%s answers a repeat as it answered the first, with an id of its own', async (path, body, idHeader) => {
  const key = randomUUID()
  const [first, firstBytes] = await post(path, key, body)
  expect(first.status, String(firstBytes)).toBe(200)
  const [second, secondBytes] = await notRunning(() => post(path, key, body))
  expect(secondBytes).toEqual(firstBytes)
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  for (const name of ['content-type', 'x-tollgate-estimated'])
    expect(second.headers.get(name)).toBe(first.headers.get(name))
  expect(second.headers.get(idHeader)).toBe(idOf(second))
  expect(idOf(second)).not.toBe(idOf(first))
  for (const response of [first, second]) await bed.row(idOf(response))
  const rows = await rowsOf(key)
  expect(rows.filter(({ status }) => status !== 409)).toMatchObject([
    { outcome: 'succeeded', endpoint: path },
    { outcome: 'succeeded', endpoint: path, attempt_count: 0, cost_nano: '0' },
  ])
})

test.each([
  ['/v1/messages/count_tokens', { model: 'any', messages }, 200],
  ['/v1/responses/input_tokens', { model: 'any', input: 'Hello' }, 200],
  ['/v1/translate', { from: 'openai-chat', to: 'gemini', request: { model: 'm', messages } }, 200],
  // This key may make neither.
  ['/v1/conversations', {}, 403],
  ['/v1/keys', { name: 'free-call' }, 403],
])('%s costs nothing, so that nothing is kept for its repeats, and each runs', async (path, body, status) => {
  const before = await keptKeys()
  for (const key of [randomUUID(), randomUUID(), 'not a good one']) {
    for (const _ of [1, 2]) {
      const [response] = await post(path, key, body)
      expect(response.status).toBe(status)
      expect(response.headers.get('idempotency-replayed')).toBe(null)
    }
  }
  expect(await keptKeys()).toEqual(before)
})

test('no table holds the plain text of an answer', async () => {
  const planted = 'Quetzalcoatlus-northropi-was-here'
  bed.upstream.script(() => chatAnswer({ content: planted }))
  const key = randomUUID()
  const [, first] = await ask(key, { model: 'any', messages, stream: false })
  const [second, text] = await repeat(key, { model: 'any', messages, stream: false })
  expect(second.headers.get('idempotency-replayed')).toBe('true')
  expect(String(text)).toContain(planted)
  await bed.row(idOf(second))
  const kept = await bed.database.sql<{ answer: Buffer }[]>`
    SELECT answer FROM idempotency_keys WHERE request_id = ${second.headers.get('x-tollgate-original-request-id')}`
  expect(kept[0]?.answer.length).toBeGreaterThan(first.length)
  const tables = await bed.database.sql<{ name: string }[]>`
    SELECT c.relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = 'public' AND c.relkind = 'r'`
  expect(tables.length).toBeGreaterThan(10)
  for (const { name } of tables) {
    const [found] = await bed.database.sql`
      SELECT count(*)::int AS rows FROM ${bed.database.sql(name)} t
      WHERE t::text LIKE ${`%${planted}%`} OR t::text LIKE ${`%${Buffer.from(planted).toString('hex')}%`}`
    expect(found, name).toEqual({ rows: 0 })
  }
})

test('a lost answer of a successful request is a 422 that names the request, and nothing runs', async () => {
  const key = randomUUID()
  const [first] = await ask(key)
  await repeat(key)
  await bed.row(idOf(first))
  // A process that dies between the last byte of the answer and the table leaves such a row.
  const instance = randomUUID()
  await bed.database.sql`
    INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state) VALUES (${instance}, 'h', 1, now(), now(), 'adopted')`
  await bed.database.sql`
    UPDATE idempotency_keys SET status = NULL, headers = NULL, answer = NULL, instance_id = ${instance}
    WHERE request_id = ${idOf(first)}`
  const failure = await new OpenAI({ baseURL: `${bed.tollgate.url}/v1`, apiKey: freeKey }).chat.completions
    .create({ model: 'any', messages }, { headers: { 'idempotency-key': key } })
    .catch((error: unknown) => error)
  expect(failure).toBeInstanceOf(APIError)
  expect(failure).toMatchObject({
    status: 422,
    code: 'idempotency_answer_lost',
    message: expect.stringContaining(idOf(first)),
  })
  expect(bed.upstream.requests).toHaveLength(1)
})

type KeyedAnswer = [response: Response, body: Buffer]

function ask(key: string, body: object = { model: 'any', messages }, apiKey = freeKey): Promise<KeyedAnswer> {
  return post('/v1/chat/completions', key, body, apiKey)
}

/** Repeats when the first answer is kept, which is a moment after its last byte. */
function repeat(...asked: Parameters<typeof ask>): Promise<KeyedAnswer> {
  return notRunning(() => ask(...asked))
}

function notRunning(again: () => Promise<KeyedAnswer>): Promise<KeyedAnswer> {
  return until(async () => {
    const answer = await again()
    return answer[0].status === 409 ? undefined : answer
  })
}

async function post(path: string, key: string, body: object, apiKey = freeKey): Promise<KeyedAnswer> {
  const response = await fetch(`${bed.tollgate.url}${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${apiKey}`,
      'anthropic-version': '2023-06-01',
      'idempotency-key': key,
    },
    body: JSON.stringify(body),
  })
  return [response, Buffer.from(await response.arrayBuffer())]
}

function idOf(response: Response): string {
  return response.headers.get('x-request-id') ?? ''
}

async function keptKeys() {
  return [...(await bed.database.sql`SELECT request_id FROM idempotency_keys ORDER BY request_id`)]
}

function rowsOf(key: string) {
  return bed.database.sql`SELECT * FROM requests WHERE idempotency_key = ${key} ORDER BY id`
}

async function spentBy(tenant: string): Promise<unknown> {
  await fetch(`${bed.tollgate.url}/v1/usage/summary`, { headers: { authorization: `Bearer ${paidKey}` } })
  const [account] = await bed.database.sql`
    SELECT balance_nano FROM accounts a JOIN tenants t USING (id) WHERE t.name = ${tenant}`
  return account?.balance_nano
}

/** The results of all but `running` requests, which still run. */
async function settledBut<T>(asked: Promise<T>[], running: number): Promise<T[]> {
  const settled: T[] = []
  await new Promise<void>((resolve, reject) => {
    for (const one of asked) {
      one.then((value) => {
        settled.push(value)
        if (settled.length === asked.length - running) resolve()
      }, reject)
    }
  })
  return [...settled]
}

function gate(): { released: Promise<void>; release: () => void } {
  let release = () => {}
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  return { released, release }
}
