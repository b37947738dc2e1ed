import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'
import type { Plan } from '../support/upstream.ts'
import { chatAnswer } from '../support/upstream-plans.ts'

/** No one starves another: a channel that hangs and a key that asks too much have bounds of their own. */

let bed: Testbed
let release: PromiseWithResolvers<void>

const keys = { asker: 'asker-key-for-tests-001', neighbour: 'neighbour-key-for-tests' }
const ask = (model: string, key = keys.neighbour) =>
  bed.chat({ model, messages: [{ role: 'user', content: 'Hello' }] }, { key })
const askTimes = (count: number, model: string, key?: string) =>
  Array.from({ length: count }, () => ask(model, key))

/** A good answer, after `release`. */
const held = (): Plan => ({
  headers: { 'content-type': 'application/json' },
  chunks: [{ waitFor: release.promise }, chatAnswer().body],
  ending: 'end',
})

beforeAll(async () => {
  bed = await startTestbed({
    env: { IN_FLIGHT_MAX: '20', KEY_IN_FLIGHT_MAX: '8', SHIP_ON_QUERY_MS: '1', ROUTING_HEADERS: 'show' },
    yaml: (url) => `
models: [ { id: slow }, { id: fast }, { id: both } ]
channels:
  - { name: hung, protocols: { openai-chat: ${url} }, api_keys: [hung], models: [slow, both], priority: 1, allow_private_address: true }
  - { name: healthy, protocols: { openai-chat: ${url} }, api_keys: [healthy], models: [fast, both], concurrency: 3, allow_private_address: true }
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants:
  - { name: one, keys: [ { name: asker, secret: ${keys.asker} } ] }
  - { name: two, keys: [ { name: neighbour, secret: ${keys.neighbour} } ] }
`,
  })
})
afterAll(() => bed.close())
beforeEach(() => {
  release = Promise.withResolvers()
  bed.upstream.requests.length = 0
  bed.upstream.script(({ headers }) => {
    if (headers.authorization === 'Bearer healthy') return chatAnswer()
    return held()
  })
})

test('a channel that hangs takes half of the places at most, and other channels go on', async () => {
  const hanging = [...askTimes(5, 'slow'), ...askTimes(5, 'slow', keys.asker)]
  await bed.upstream.arrived(10)
  const refused = await ask('slow')
  expect(refused.status).toBe(503)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('x-tollgate-reason')).toBe('channels_full')
  expect(await bed.row(refused.headers.get('x-request-id'))).toMatchObject({
    status: 503,
    outcome: 'failed',
    error_kind: 'unavailable',
    attempt_count: 0,
  })
  expect((await ask('fast')).status).toBe(200)
  const elsewhere = await ask('both')
  expect(elsewhere.status).toBe(200)
  expect(elsewhere.headers.get('x-tollgate-channel')).toBe('healthy')
  release.resolve()
  for (const answer of await Promise.all(hanging)) expect(answer.status).toBe(200)
  expect((await ask('slow')).status).toBe(200)
})

test('a channel runs as many requests as its own setting says', async () => {
  bed.upstream.script(held)
  const running = askTimes(3, 'fast')
  await bed.upstream.arrived(3)
  expect((await ask('fast')).status).toBe(503)
  release.resolve()
  for (const answer of await Promise.all(running)) expect(answer.status).toBe(200)
})

test('a key runs no more requests than one key may, and the keys of others go on', async () => {
  const running = askTimes(8, 'slow', keys.asker)
  await bed.upstream.arrived(8)
  const refused = await ask('fast', keys.asker)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('x-tollgate-reason')).toBe('key_requests_full')
  expect(await bed.row(refused.headers.get('x-request-id'))).toMatchObject({
    status: 429,
    outcome: 'refused',
    error_kind: 'rate_limited',
  })
  expect((await ask('fast')).status).toBe(200)
  release.resolve()
  await Promise.all(running)
  expect((await ask('fast', keys.asker)).status).toBe(200)
})

test("a tenant's queries of its usage leave a connection for others, and end on the server when their clients leave", async () => {
  const leaving = new AbortController()
  const summary = (key: string, signal?: AbortSignal) =>
    fetch(`${bed.tollgate.url}/v1/usage/summary`, {
      headers: { authorization: `Bearer ${key}` },
      ...(signal === undefined ? {} : { signal }),
    })
  const running = async () => {
    const [count] = await bed.database.sql<{ count: number }[]>`
      SELECT count(*)::int FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tollgate reads' AND state = 'active'`
    return count?.count
  }
  const unlock = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const locking = bed.database.sql.begin(async (sql) => {
    await sql`LOCK TABLE rollup_days, rollup_hours IN ACCESS EXCLUSIVE MODE`
    locked.resolve()
    await unlock.promise
  })
  await locked.promise
  onTestFinished(() => unlock.resolve())
  const asked = Array.from({ length: 6 }, () => summary(keys.asker, leaving.signal))
  const left = Promise.allSettled(asked)
  await until(async () => (await running()) === 2)
  const other = summary(keys.neighbour)
  await until(async () => (await running()) === 3)
  leaving.abort()
  await until(async () => (await running()) === 1)
  unlock.resolve()
  await locking
  expect((await other).status).toBe(200)
  expect((await left).map(({ status }) => status)).toEqual(Array(6).fill('rejected'))
  expect((await summary(keys.asker)).status).toBe(200)
})
