import { getEventListeners } from 'node:events'
import type { Sql } from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import { openConnections } from '../../src/db/connections.ts'
import { eq } from '../../src/db/drizzle.cjs'
import { Pool, type PoolOptions } from '../../src/db/pool.ts'
import { heldAnswers, tenants } from '../../src/db/schema.ts'
import { freshDatabase } from '../support/database.ts'
import { patienceMs } from '../support/until.ts'
import { startWire, type Wire } from '../support/wire.ts'

let fresh: Awaited<ReturnType<typeof freshDatabase>>
beforeAll(async () => {
  fresh = await freshDatabase()
})
afterAll(() => fresh.drop())

/** A pool with two connections that waits long unless the options say otherwise. It closes at the end of the test. */
function aPool({ url = fresh.url, ...options }: Partial<PoolOptions> & { url?: string } = {}): Pool {
  const { statementMs } = options
  const pool = new Pool({
    open: () => openConnections(url, { max: 2, ...(statementMs === undefined ? {} : { statementMs }) }),
    atOnce: 2,
    withinMs: 60_000,
    ...options,
  })
  onTestFinished(() => pool.close())
  return pool
}

/** A lock that statements wait for until `giveBack`. */
async function aLock() {
  const { sql, end } = openConnections(fresh.url, { max: 1, connectSeconds: 30 })
  await sql`SELECT pg_advisory_lock(1)`
  onTestFinished(end)
  return {
    /** Resolves when this many backends wait for it. */
    async untilWaiting(backends: number) {
      const waiting = () =>
        sql`SELECT pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
          WHERE l.locktype = 'advisory' AND NOT l.granted AND d.datname = current_database()`
      await expect
        .poll(async () => (await waiting()).length, { timeout: patienceMs, interval: 5 })
        .toBe(backends)
    },
    giveBack: () => sql`SELECT pg_advisory_unlock(1)`,
  }
}

/** A new wire to the database, which one test may break. */
const aWire = (): Promise<Wire> => startWire(fresh.url)

const one = (pool: Pool, terms = {}) => pool.ask(({ sql }) => sql`SELECT 1 AS one`, terms)
const waitForLock = (sql: Sql) => sql`SELECT pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)`
const slow = (pool: Pool, terms = {}) => pool.ask(({ sql }) => waitForLock(sql), terms)

test('as many queries run at once as there are connections, and the others run in their order', async () => {
  const lock = await aLock()
  const pool = aPool()
  const begun: number[] = []
  const asked = Array.from({ length: 6 }, (_, index) =>
    pool.ask(({ sql }) => {
      begun.push(index)
      return waitForLock(sql)
    }),
  )
  await lock.untilWaiting(2)
  expect(begun).toEqual([0, 1])
  await lock.giveBack()
  await Promise.all(asked)
  expect(begun).toEqual([0, 1, 2, 3, 4, 5])
})

test('an owner has no more queries at once than it may, others go before its waiting ones, and too many are refused', async () => {
  const lock = await aLock()
  const pool = aPool({
    atOnce: 3,
    open: () => openConnections(fresh.url, { max: 3 }),
    perOwner: { atOnce: 2, waitingMax: 2 },
  })
  const begun: string[] = []
  const ask = (owner: string) =>
    pool.ask(
      ({ sql }) => {
        begun.push(owner)
        return waitForLock(sql)
      },
      { owner },
    )
  const asked = [ask('one'), ask('one'), ask('one'), ask('one')]
  await lock.untilWaiting(2)
  await expect(ask('one')).rejects.toMatchObject({
    reason: 'tenant_queries_full',
    retryAfterSeconds: 1,
  })
  asked.push(ask('two'))
  await lock.untilWaiting(3)
  expect(begun).toEqual(['one', 'one', 'two'])
  await lock.giveBack()
  await Promise.all(asked)
  expect(begun).toEqual(['one', 'one', 'two', 'one', 'one'])
  await ask('one')
})

test('a caller that leaves ends its query on the server, and its waiting query is never sent', async () => {
  const lock = await aLock()
  const pool = aPool({ atOnce: 1, open: () => openConnections(fresh.url, { max: 1 }) })
  const leaving = new AbortController()
  const { signal } = leaving
  const running = slow(pool, { signal })
  await lock.untilWaiting(1)
  let sent = false
  const waiting = pool.ask(
    ({ sql }) => {
      sent = true
      return sql`SELECT 1`
    },
    { signal },
  )
  const next = one(pool)
  const reason = new Error('the client left')
  leaving.abort(reason)
  await expect(running).rejects.toBe(reason)
  await expect(waiting).rejects.toBe(reason)
  await expect(one(pool, { signal })).rejects.toBe(reason)
  // No one gave the lock back: the server has ended the statement.
  await lock.untilWaiting(0)
  expect(await next).toEqual([{ one: 1 }])
  expect(sent).toBe(false)
})

test('of several statements the server ends the one that runs, and those after it are never sent', async () => {
  const lock = await aLock()
  const pool = aPool({ atOnce: 1, open: () => openConnections(fresh.url, { max: 1 }) })
  const leaving = new AbortController()
  const reason = new Error('the client left')
  let sent = 0
  const asked = pool.ask(
    async ({ sql }, running) => {
      await running(sql`SELECT 1`)
      sent += 1
      // Goes on where another would end.
      await running(waitForLock(sql)).catch(() => {})
      sent += 1
      await running(sql`SELECT 2`)
      sent += 1
    },
    { signal: leaving.signal },
  )
  await lock.untilWaiting(1)
  leaving.abort(reason)
  await expect(asked).rejects.toBe(reason)
  await lock.untilWaiting(0)
  expect(await one(pool)).toEqual([{ one: 1 }])
  expect(sent).toBe(2)
})

test('a caller that leaves while its connection opens leaves the connection usable', async () => {
  const pool = aPool({ atOnce: 1, open: () => openConnections(fresh.url, { max: 1 }) })
  const leaving = new AbortController()
  const asked = one(pool, { signal: leaving.signal })
  leaving.abort(new Error('the client left'))
  await expect(asked).rejects.toThrow('the client left')
  expect(await one(pool)).toEqual([{ one: 1 }])
})

test('a signal that outlives its queries keeps none of them', async () => {
  const pool = aPool()
  const { signal } = new AbortController()
  for (let query = 0; query < 3; query++) expect(await one(pool, { signal })).toEqual([{ one: 1 }])
  await expect.poll(() => getEventListeners(signal, 'abort')).toEqual([])
})

test('a query that cannot be ended because Postgres is down harms nothing', async () => {
  const wire = await aWire()
  const pool = aPool({ url: wire.url })
  const lock = await aLock()
  const leaving = new AbortController()
  const asked = slow(pool, { signal: leaving.signal })
  await lock.untilWaiting(1)
  leaving.abort(new Error('the client left'))
  await wire.cut()
  await expect(asked).rejects.toThrow()
  await expect(one(pool)).rejects.toMatchObject({ kind: 'unavailable' })
})

test('a query that does not get its turn in time is refused and never sent', async () => {
  const lock = await aLock()
  const pool = aPool()
  const running = [slow(pool), slow(pool)]
  await lock.untilWaiting(2)
  let sent = false
  const late = pool.ask(
    ({ sql }) => {
      sent = true
      return sql`SELECT 1`
    },
    { withinMs: 50, unavailable: 'Nothing to read right now. Try again.', retryAfterSeconds: 7 },
  )
  await expect(late).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'Nothing to read right now. Try again.',
    retryAfterSeconds: 7,
    cause: { message: 'the database did not answer within 50 ms' },
  })
  await lock.giveBack()
  await Promise.all(running)
  expect(await one(pool)).toEqual([{ one: 1 }])
  expect(sent).toBe(false)
})

test('when a connection does not answer, later queries get another, and a connection that is only slow stays', async () => {
  const lock = await aLock()
  const pool = aPool()
  const patient = slow(pool)
  await lock.untilWaiting(1)
  await expect(slow(pool, { withinMs: 1_100 })).rejects.toMatchObject({ kind: 'unavailable' })
  // Both of the first connections are in use.
  expect(await one(pool)).toEqual([{ one: 1 }])
  await lock.giveBack()
  expect(await patient).toHaveLength(1)
})

test('a connection that the network forgot is replaced after one query without an answer', async () => {
  const wire = await aWire()
  const pool = aPool({ url: wire.url })
  expect(await one(pool)).toEqual([{ one: 1 }])
  wire.forget()
  await expect(one(pool, { withinMs: 1_100 })).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await one(pool)).toEqual([{ one: 1 }])
})

test('the server ends a statement that takes too long, and no part of it runs on', async () => {
  const pool = aPool({ statementMs: 2_000 })
  const sleeping = pool.ask(({ sql }) => sql`SELECT pg_sleep(100) AS of_the_pool_test`)
  await expect(sleeping).rejects.toMatchObject({ kind: 'unavailable', cause: { code: '57014' } })
  const [left] = await pool.ask(
    ({ sql }) => sql`SELECT count(*)::int AS statements FROM pg_stat_activity
      WHERE state = 'active' AND pid <> pg_backend_pid() AND query LIKE '%of_the_pool_test%'`,
  )
  expect(left).toEqual({ statements: 0 })
})

test('a query that stops waiting keeps its place until the server has ended its statement', async () => {
  const pool = aPool({ atOnce: 1, statementMs: 1_000 })
  const hurried = pool.ask(({ sql }) => sql`SELECT pg_sleep(100)`, { withinMs: 50 })
  await expect(hurried).rejects.toMatchObject({ reason: 'database_away' })
  await expect(one(pool, { withinMs: 50 })).rejects.toMatchObject({ reason: 'database_pool_full' })
  expect(await one(pool)).toEqual([{ one: 1 }])
})

test('a server that does not end a statement in time counts as dead', async () => {
  const wire = await aWire()
  const silences: boolean[] = []
  const pool = aPool({
    url: wire.url,
    atOnce: 1,
    statementMs: 1_000,
    withinMs: 30_000,
    onSilence: (_, late) => silences.push(late),
  })
  expect(await one(pool)).toEqual([{ one: 1 }])
  wire.forget()
  await expect(one(pool, { withinMs: 200 })).rejects.toMatchObject({ kind: 'unavailable' })
  expect(await one(pool)).toEqual([{ one: 1 }])
  expect(silences).toEqual([true])
})

test('if nothing listens, the error is "unavailable" at once; a wrong statement is our error, without its parameters', async () => {
  const nowhere = aPool({ url: 'postgres://nobody:secret@127.0.0.1:9/none' })
  await expect(one(nowhere)).rejects.toMatchObject({
    kind: 'unavailable',
    retryAfterSeconds: 2,
    cause: { code: 'ECONNREFUSED' },
  })
  const pool = aPool()
  const wrong = await pool.ask(({ sql }) => sql`SELECT nothing_like_that`).catch((error: unknown) => error)
  expect(wrong).not.toBeInstanceOf(GatewayError)
  expect(wrong).toMatchObject({ name: 'PostgresError', code: '42703' })
  const bug = await pool.ask(() => Promise.reject(new TypeError('a bug'))).catch((error: unknown) => error)
  expect(bug).toBeInstanceOf(TypeError)
  const secret = 'not-a-uuid-but-a-secret'
  const typed = await pool
    .ask(({ db }) => db.select().from(tenants).where(eq(tenants.id, secret)))
    .catch((error: unknown) => error)
  expect(typed).toMatchObject({ name: 'PostgresError', code: '22P02' })
  expect(Object.keys(typed as object)).not.toContain('params')
})

test('an error that a retry may avoid, such as a deadlock, is "unavailable"; any other is not', async () => {
  const pool = aPool()
  const raised = (state: string) =>
    pool
      .ask(({ sql }) => sql.unsafe(`DO $$ BEGIN RAISE SQLSTATE '${state}'; END $$`))
      .catch((error: unknown) => error)
  for (const state of ['40P01', '40001', '53300', '55P03', '57P01', '25006'])
    expect(await raised(state)).toMatchObject({ kind: 'unavailable' })
  for (const state of ['23505', '22003', 'P0001', '42883'])
    expect(await raised(state)).toMatchObject({ name: 'PostgresError', code: state })
})

test('typed queries are prepared once, and read money, times and bytes as raw statements write them', async () => {
  const { sql, db, end } = openConnections(fresh.url, { max: 1, connectSeconds: 30 })
  onTestFinished(end)
  const tenantId = '0199f000-0000-7000-8000-000000000002'
  for (const answerId of ['a', 'b'])
    await db.insert(heldAnswers).values({ tenantId, answerId, channel: 'c', createdAt: new Date(1_000) })
  const find = (answerId: string) => db.select().from(heldAnswers).where(eq(heldAnswers.answerId, answerId))
  expect(await find('a')).toEqual([
    { tenantId, answerId: 'a', channel: 'c', credential: null, keyId: null, createdAt: new Date(1_000) },
  ])
  expect(await find('b')).toHaveLength(1)
  const prepared =
    await sql`SELECT name FROM pg_prepared_statements WHERE statement LIKE 'select%held_answers%'`
  expect(prepared).toHaveLength(1)
})

test('closing the pool refuses the waiting queries', async () => {
  const lock = await aLock()
  const pool = aPool()
  const asked = [slow(pool), slow(pool), slow(pool)].map((each) => each.catch((error: unknown) => error))
  await lock.untilWaiting(2)
  await pool.close()
  for (const each of asked) expect(await each).toMatchObject({ kind: 'unavailable' })
})
