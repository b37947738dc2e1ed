import { randomUUIDv7 } from 'node:crypto'
import type postgres from 'postgres'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { keepEntryMonths } from '../../src/db/entry-months.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { type Database, openDatabase } from '../support/database.ts'
import { entryTables, midMonth, monthAt, startMonthsAgo, tableOf } from '../support/entry-months.ts'
import { patienceMs } from '../support/until.ts'
import { idAt, type MoneyBed, type Payer, startMoneyBed } from './money-bed.ts'

/** Months of entries: this one, the three before it, and all that was before them. */

let bed: MoneyBed
let sql: postgres.Sql
let payer: Payer
beforeEach(async () => {
  bed = await startMoneyBed()
  sql = bed.database.sql
  await startMonthsAgo(sql, 3)
  payer = await bed.aKey(await bed.aTenant(1_000n), await bed.aGroup())
})
afterEach(() => bed.close())

const charge = (later: number, cost: bigint, id = idAt(midMonth(later))) => bed.settle({ id, payer, cost })
const keep = (retentionMonths = 0) => keepEntryMonths(sql, retentionMonths)
const balance = async () => (await bed.account(payer.tenantId)).balance
/** The rules that are broken, for short. */
const broken = async (since?: string) =>
  (await verifyLedger(sql, since)).findings
    .filter(({ differences }) => differences > 0)
    .map(({ rule }) =>
      rule.includes('checkpoint') ? 'checkpoint' : rule.includes('balance') ? 'balance' : rule,
    )
const checkpoint = async (later: number) => {
  const [row] =
    await sql`SELECT coalesce(sum(sum_nano), 0)::text AS nano, coalesce(sum(entries), 0)::integer AS entries,
    count(*)::integer AS rows FROM entry_checkpoints WHERE month = ${monthAt(later)}::text::date`
  return row
}
const isClosed = async (later: number) =>
  (
    await sql`SELECT 1 FROM entry_months WHERE month = ${monthAt(later)}::text::date AND closed_at IS NOT NULL`
  ).length === 1
/** An open transaction of a shipment that has booked a charge. */
async function shipping(later: number, cost: bigint) {
  const { sql: session } = openedForTest()
  const id = idAt(midMonth(later))
  await session`BEGIN`
  await session`INSERT INTO requests (id, created_at, tenant_id, endpoint, stream, status, outcome, usage_source, attempt_count, cost_nano)
    VALUES (${id}, uuid_moment(${id}), ${payer.tenantId}, '/', false, 200, 'succeeded', 'none', 0, ${String(cost)})`
  await session`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
    VALUES (${id}, ${payer.tenantId}, uuid_moment(${id}), 'charge', ${String(-cost)})`
  return {
    async end() {
      await session`SELECT settle_money('{}', ARRAY[${payer.tenantId}]::uuid[], ARRAY[${payer.keyId}]::uuid[],
        ARRAY[${payer.groupId}]::uuid[], ARRAY[uuid_moment(${id})], ARRAY[${String(cost)}]::bigint[])`
      await session`COMMIT`
    },
  }
}

/** With one connection, which keeps a transaction open. */
function openedForTest(): Database {
  const other = openDatabase(bed.url, { max: 1 })
  onTestFinished(() => other.close())
  return other
}

test('a charge is booked once, whatever month it is of, and whichever process books it again', async () => {
  await keep()
  // The months before, a closed one, this one, and one without a partition.
  for (const later of [-9, -2, 0, 5]) {
    const id = idAt(midMonth(later))
    await charge(later, 1n, id)
    await expect(charge(later, 1n, id)).rejects.toMatchObject({ code: '23505' })
    const raced = idAt(midMonth(later))
    const outcomes = await Promise.allSettled(Array.from({ length: 4 }, () => charge(later, 1n, raced)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  }
  expect(await balance()).toBe(992n)
  expect(await broken()).toEqual([])
})

test("an operator's entry is booked once, also where two send it at the turn of a month", async () => {
  const other = await bed.aTenant(0n)
  const id = randomUUIDv7()
  const first = await sql.reserve()
  await first`BEGIN`
  await first`SELECT verdict FROM book_entry(${id}, ${other}, 'top_up', 5, 'a')`
  // As if it had begun in the month before: the two entries then have no partition in common.
  await first`UPDATE entries SET created_at = ${midMonth(-1)} WHERE id = ${id}`
  const second = sql`SELECT verdict FROM book_entry(${id}, ${payer.tenantId}, 'top_up', 5, 'a')`.execute()
  await expect
    .poll(
      async () =>
        (
          await sql`SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`
        ).length,
      { timeout: patienceMs },
    )
    .toBe(1)
  await first`COMMIT`
  first.release()
  expect(await second).toMatchObject([{ verdict: 'conflict' }])
  const [again] = await sql`SELECT verdict FROM book_entry(${id}, ${other}, 'top_up', 5, 'a')`
  expect(again).toMatchObject({ verdict: 'repeated' })
  expect(await sql`SELECT account_id FROM entries WHERE id = ${id}`).toMatchObject([{ account_id: other }])
  expect(await broken()).toEqual([])
})

test('a month is closed a week after its end, and a charge that comes later is in its checkpoint', async () => {
  await charge(-2, 10n)
  await charge(0, 1n)
  expect((await keep()).closed).toBeGreaterThanOrEqual(3)
  expect(await checkpoint(-2)).toEqual({ nano: '-10', entries: 1, rows: 1 })
  expect(await checkpoint(0)).toMatchObject({ entries: 0 })
  await charge(-2, 4n)
  await charge(-2, 3n)
  await charge(-9, 2n)
  expect(await checkpoint(-2)).toEqual({ nano: '-17', entries: 3, rows: 3 })
  expect(await broken()).toEqual([])
  await keep()
  expect(await checkpoint(-2)).toEqual({ nano: '-17', entries: 3, rows: 1 })
  expect(await checkpoint(-4)).toEqual({ nano: '-2', entries: 1, rows: 1 })
  expect(await broken()).toEqual([])
  expect(await balance()).toBe(980n)
})

test('the last month is open for a week', async () => {
  // The clock of Postgres stays: we shorten the month instead.
  const endsAgo = async (interval: string) =>
    await sql`UPDATE entry_months SET ends_at = now() - ${interval}::text::interval WHERE month = ${monthAt(-2)}::text::date`
  await endsAgo('6 days 23 hours')
  await keep()
  expect(await isClosed(-2)).toBe(false)
  await endsAgo('7 days 1 hour')
  await keep()
  expect(await isClosed(-2)).toBe(true)
})

test('a month stays open while a shipment books charges of it, and closes after that', async () => {
  const shipment = await shipping(-2, 7n)
  expect(await keep()).toMatchObject({ closed: 2, postponed: 1 })
  expect(await broken()).toEqual([])
  await shipment.end()
  expect((await keep()).closed).toBeGreaterThan(0)
  expect(await checkpoint(-2)).toMatchObject({ nano: '-7', entries: 1 })
  expect(await broken()).toEqual([])
})

test('two shipments that book while their month closes do not wait, and are counted once', async () => {
  const month = monthAt(-2)
  await charge(-2, 1n)
  await sql`SELECT watch_entry_month(${monthAt(-4)}::text::date), close_entry_month(${monthAt(-4)}::text::date)`
  await sql`SELECT watch_entry_month(${monthAt(-3)}::text::date), close_entry_month(${monthAt(-3)}::text::date)`
  await sql`SELECT watch_entry_month(${month}::text::date)`
  // One ends before the sum, one after it, and one begins after it.
  const [first, second] = [await shipping(-2, 10n), await shipping(-2, 100n)]
  await first.end()
  expect(await broken()).toEqual([])
  expect(await sql`SELECT close_entry_month(${month}::text::date) AS done`).toMatchObject([{ done: true }])
  expect(await broken()).toEqual([])
  await second.end()
  await charge(-2, 200n)
  expect(await checkpoint(-2)).toMatchObject({ nano: '-311', entries: 4 })
  expect(await broken()).toEqual([])
  expect(await sql`SELECT close_entry_month(${month}::text::date) AS done`).toMatchObject([{ done: false }])
})

test('many shipments of all months, and passes at the same time, leave every checkpoint right', async () => {
  const shippers = Array.from({ length: 4 }, async () => {
    for (let n = 0; n < 40; n++) await charge(-(n % 4), 1n)
  })
  const passes = Array.from({ length: 2 }, async () => {
    for (let n = 0; n < 15; n++) await keep()
  })
  await Promise.all([...shippers, ...passes])
  await keep()
  expect(await balance()).toBe(840n)
  expect(await checkpoint(-2)).toEqual({ nano: '-40', entries: 40, rows: 1 })
  expect(await broken()).toEqual([])
})

test('verify finds a changed balance, also where all months are closed but this', async () => {
  await charge(-2, 10n)
  await keep()
  await sql`UPDATE accounts SET balance_nano = balance_nano + 1 WHERE id = ${payer.tenantId}`
  expect(await broken()).toEqual(['balance'])
  expect(await broken(monthAt(0))).toEqual(['balance'])
})

test('verify finds a changed entry of a closed month, from that month on or before it', async () => {
  const id = idAt(midMonth(-2))
  await charge(-2, 10n, id)
  await keep()
  await sql`UPDATE entries SET amount_nano = -9 WHERE id = ${id}`
  const requests = 'every request was charged what its row says'
  expect((await broken()).sort()).toEqual(['checkpoint', requests])
  expect((await broken(monthAt(-2))).sort()).toEqual(['checkpoint', requests])
  expect(await broken(monthAt(-1))).toEqual([])
  await sql`DELETE FROM entries WHERE id = ${id}`
  expect((await broken()).sort()).toEqual(['checkpoint', requests])
  const { findings } = await verifyLedger(sql)
  expect(findings.at(-1)).toEqual({
    rule: 'every checkpoint of a closed month is the sum of its entries',
    differences: 1,
    samples: [`${payer.tenantId} in ${monthAt(-2).slice(0, 7)}: checkpoint -10 of 1, entries 0 of 0`],
  })
})

test('verify finds a changed checkpoint', async () => {
  await charge(-2, 10n)
  await keep()
  await sql`UPDATE entry_checkpoints SET sum_nano = sum_nano - 1 WHERE sum_nano = -10`
  expect((await broken()).sort()).toEqual(['balance', 'checkpoint'])
  // The balance shows it, wherever the verification starts.
  expect(await broken(monthAt(0))).toEqual(['balance'])
  await sql`DELETE FROM entry_checkpoints WHERE sum_nano = -11`
  expect((await broken()).sort()).toEqual(['balance', 'checkpoint'])
})

test('verify finds a charge at another moment than its own, which the keys of partitions do not see', async () => {
  const id = idAt(midMonth(0))
  await charge(0, 10n, id)
  await sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
    VALUES (${id}, ${payer.tenantId}, ${midMonth(-1)}, 'charge', -10)`
  expect(await broken()).toContain('the time of every charge is the one inside its id')
})

test('after its retention a month has no charges, and keeps its sums, its other entries, and its late charges', async () => {
  const opened = await bed.aTenant(50n)
  await sql`UPDATE entries SET created_at = ${midMonth(-2)} WHERE id = ${opened}`
  await charge(-2, 10n)
  await charge(-1, 1n)
  await keep()
  expect(await keep(1)).toMatchObject({ pruned: expect.any(Number), postponed: 0 })
  const tables = await entryTables(sql)
  expect(tables[tableOf(-2)]).toBe(1)
  expect(tables[tableOf(-1)]).toBe(1)
  expect(await sql`SELECT kind FROM entries WHERE id = ${opened}`).toMatchObject([{ kind: 'opening' }])
  expect(await broken()).toEqual([])
  await charge(-2, 4n)
  expect(await checkpoint(-2)).toMatchObject({ nano: '36', entries: 3 })
  expect(await broken()).toEqual([])
  expect(await balance()).toBe(985n)
  expect(await keep(1)).toMatchObject({ pruned: 0, postponed: 0 })
})

test('a long reader keeps a month from being pruned, and no one else from writing', async () => {
  await charge(-3, 10n)
  await keep()
  const reader = await sql.reserve()
  await reader`BEGIN`
  await reader`SELECT count(*) FROM entries`
  expect(await keep(1)).toMatchObject({ pruned: 0, postponed: 1 })
  await charge(-3, 1n)
  await charge(0, 1n)
  await reader`COMMIT`
  reader.release()
  expect((await keep(1)).pruned).toBeGreaterThan(0)
  expect(await checkpoint(-3)).toMatchObject({ nano: '-11', entries: 2 })
  expect(await broken()).toEqual([])
})
