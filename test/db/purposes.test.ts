import { randomUUIDv7 } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { ensureFirstKey } from '../../src/access/first-run.ts'
import { keysOf } from '../../src/access/keys.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { Reservations } from '../../src/money/reservations.ts'
import { reportBreakers } from '../../src/routing/breaker-queries.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { patienceMs, until } from '../support/until.ts'
import { startWire } from '../support/wire.ts'

/** No purpose can starve another, because each has connections of its own. */

const keeper = new SecretKeeper('a secret key for tests, long enough')

async function aDatabase(options: Parameters<typeof openDatabase>[1] = {}) {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url, options)
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  return { url, database }
}

test('while tenants run many slow queries, money, keys, catalog and reports work, and the slow queries stay within their bound', async () => {
  const { database } = await aDatabase()
  const secret = (await ensureFirstKey(database, keeper))?.secret ?? ''
  const keys = keysOf(database, {
    peppers: keeper.ring('pepper'),
    keyCacheMax: 100,
    keyCacheNegativeMs: 60_000,
    knownKeysMax: 1_000,
  })
  const [payer] = await database.sql<{ key: string; group: string; tenant: string }[]>`
    SELECT id AS key, group_id AS group, tenant_id AS tenant FROM keys`
  if (payer === undefined) throw new Error('there is a key')
  await database.sql`UPDATE accounts SET limited = true, balance_nano = 1000`
  const reservations = new Reservations({
    database,
    instance: { id: randomUUIDv7() },
    waitMs: 5_000,
    moneyWaitMs: 0,
    lanesMax: 2,
    ship: async () => {},
    clock: systemClock,
  })

  // The queries wait for a lock that the test holds, so they take as long as the test wants.
  const holder = await database.sql.reserve()
  await holder`SELECT pg_advisory_lock(5)`
  const slow = Array.from({ length: 30 }, () =>
    database.reads.ask(({ sql }) => sql`SELECT pg_advisory_lock_shared(5), pg_advisory_unlock_shared(5)`),
  )
  const reading = async () => {
    const [counted] = await holder<{ backends: number }[]>`
      SELECT count(*)::int AS backends FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'tollgate reads' AND state = 'active'`
    return counted?.backends
  }
  await expect.poll(reading, { timeout: patienceMs }).toBe(3)

  const holds = Array.from({ length: 20 }, () => ({
    requestId: randomUUIDv7(),
    accountId: payer.tenant,
    keyId: payer.key,
    groupId: payer.group,
    amountNano: 10n,
    hasLeft: () => false,
  }))
  const verdicts = await Promise.all(holds.map((one) => reservations.hold(one)))
  expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(['granted']))
  expect(await keys.lookup(secret)).toMatchObject({ keyName: 'first' })
  await expect(Catalog.load(database, keeper, silentLog)).resolves.toBeDefined()
  await reportBreakers(database, randomUUIDv7(), [])
  expect(await reading()).toBe(3)

  await holder`SELECT pg_advisory_unlock(5)`
  holder.release()
  await Promise.all(slow)
})

test("the server ends a tenant's query that takes too long, and the next query gets its place", async () => {
  const { database } = await aDatabase({ readsConnections: 1, readsMs: 1_000 })
  const endless = database.reads.ask(({ sql }) => sql`SELECT pg_sleep(100) AS endless`, { withinMs: 30_000 })
  const next = database.reads.ask(({ sql }) => sql`SELECT 1 AS one`, { withinMs: 30_000 })
  await expect(endless).rejects.toMatchObject({ kind: 'unavailable', cause: { code: '57014' } })
  expect(await next).toEqual([{ one: 1 }])
  const running = await database.sql`
    SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND state = 'active'
      AND query LIKE '%endless%' AND pid <> pg_backend_pid()`
  expect(running).toEqual([])
})

test('when Postgres answers no query, all purposes soon get an error; when it answers again, all are served', async () => {
  const { url } = await aDatabase()
  const wire = await startWire(url)
  const database = openDatabase(wire.url)
  onTestFinished(() => database.close())
  const purposes = ['money', 'keys', 'answers', 'reads', 'jobs', 'upkeep'] as const
  const askAll = () =>
    Promise.allSettled(purposes.map((purpose) => database[purpose].ask(({ sql }) => sql`SELECT 1`)))
  await askAll()
  const stop = follow(database)
  wire.freeze()
  const watch = startStopwatch()
  const answers = await askAll()
  // Without the outage detection, upkeep would wait for half an hour.
  expect(watch.ms).toBeLessThan(20_000)
  for (const answer of answers)
    expect(answer).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable' } })
  await wire.mend()
  const served = async () => (await askAll()).map(({ status }) => status)
  await expect.poll(served, { timeout: patienceMs }).toEqual(purposes.map(() => 'fulfilled'))
  await stop()
})

test('when Postgres is slow for some queries, it still serves the other purposes', async () => {
  const { database } = await aDatabase()
  const stop = follow(database, () =>
    database.state.ask(({ sql }) => sql`SELECT pg_sleep(0.4)`, { withinMs: 50 }),
  )
  const slow = database.reads.ask(({ sql }) => sql`SELECT 1 AS one FROM pg_sleep(3)`)
  expect(await slow).toEqual([{ one: 1 }])
  await stop()
})

/** Sends frequent short queries, as the following of revisions does. Returns the function that stops it. */
function follow(
  database: Database,
  ask: () => Promise<unknown> = () => database.state.ask(({ sql }) => sql`SELECT 1`, { withinMs: 200 }),
): () => Promise<void> {
  let stopped = false
  const following = until(async () => {
    await ask().catch(() => {})
    return stopped
  })
  return async () => {
    stopped = true
    await following
  }
}
