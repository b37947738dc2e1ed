import { randomUUID } from 'node:crypto'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { keepEntryIndexes } from '../../src/money/entry-indexes.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { freshDatabase } from '../support/database.ts'
import { patienceMs } from '../support/until.ts'

/** The index of manual entries on each partition of `entries`. */

test('each partition gets it once, and a list of entries that are not charges reads it', async () => {
  const { sql } = await aDatabase()
  const [tables] = await sql<{ count: number }[]>`
    select count(*)::integer as count from pg_inherits where inhparent = 'entries'::regclass`
  const built = tables?.count ?? 0
  expect(built).toBeGreaterThan(2)
  expect(await keepEntryIndexes(sql, systemClock)).toMatchObject({ built, left: 0 })
  expect(await keepEntryIndexes(sql, systemClock)).toMatchObject({ built: 0, left: 0 })
  await sql`
    insert into entries (id, account_id, created_at, kind, amount_nano)
    select gen_random_uuid(), ${randomUUID()}, now(), 'charge', -1 from generate_series(1, 20000)`
  await sql`analyze entries`
  const plan = await sql<{ 'QUERY PLAN': string }[]>`
    explain select id from entries where account_id = ${randomUUID()} and kind <> 'charge' and kind = 'top_up'
    order by created_at desc, id desc limit 50`
  const month = new Date().toISOString().slice(0, 7).replace('-', '')
  expect(plan.map((line) => line['QUERY PLAN']).join('\n')).toContain(
    `Index Scan Backward using entries_${month}_by_hand`,
  )
})

test('a charge does not wait for a build, which waits for a charge', async () => {
  const { sql, connect } = await aDatabase()
  const [first, second, builder] = [connect(), connect(), connect()]
  const charge = (by: postgres.Sql) =>
    by`insert into entries (id, account_id, created_at, kind, amount_nano)
      values (${randomUUID()}, ${randomUUID()}, now(), 'charge', -1)`
  await first`begin`
  await charge(first)
  const building = keepEntryIndexes(builder, systemClock, { waitMs: 60_000 })
  await expect
    .poll(
      () => sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like 'create index%'`,
      { timeout: patienceMs },
    )
    .toHaveLength(1)
  await charge(second)
  await first`commit`
  expect(await building).toMatchObject({ left: 0 })
})

async function aDatabase() {
  const { url, drop } = await freshDatabase()
  const open: postgres.Sql[] = []
  const connect = () => {
    const sql = postgres(url, { max: 1, onnotice: () => {} })
    open.push(sql)
    return sql
  }
  onTestFinished(async () => {
    await Promise.all(open.map((sql) => sql.end({ timeout: 0 })))
    await drop()
  })
  return { sql: connect(), connect }
}
