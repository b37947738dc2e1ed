import { afterEach, beforeEach, expect, test } from 'vitest'
import { countBackfill, foldRollups } from '../../src/usage/rollups.ts'
import { idAt, type MoneyBed, ownersOf, type Payer, startMoneyBed } from './money-bed.ts'

/** What a new budget counts of the time before it. */

let bed: MoneyBed
beforeEach(async () => {
  bed = await startMoneyBed()
})
afterEach(async () => {
  expect(await bed.broken()).toEqual([])
  await bed.close()
})

const dayMs = 86_400_000
const now = new Date()
const monthMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())

/** Of both, a charge at each of these moments. */
async function spend(costs: readonly bigint[], ...payers: Payer[]) {
  const moments = [now.getTime(), monthMs, monthMs - dayMs, Date.UTC(2021, 4, 5)]
  await bed.settle(
    ...payers.flatMap((payer) =>
      moments.map((moment, at) => ({ id: idAt(moment), payer, cost: costs[at] ?? 0n })),
    ),
  )
}

test('it counts folded sums, deltas and days that wait to be counted, each row once, and those of sub-keys', async () => {
  const { sql } = bed.database
  const group = await bed.aGroup()
  const payer = await bed.aKey(await bed.aTenant(), group)
  const other = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  const below = await bed.aKey(payer.tenantId, group)
  await sql`UPDATE keys SET parent_id = ${payer.keyId} WHERE id = ${below.keyId}`
  // A day of before an upgrade, which the upkeep has not counted yet.
  await sql`INSERT INTO rollup_backfill VALUES ('2021-05-05')`
  await sql`ALTER TABLE requests DISABLE TRIGGER request_sums_added`
  await bed.settle(
    ...[payer, other, below].map((by) => ({ id: idAt(Date.UTC(2021, 4, 5)), payer: by, cost: 3_000n })),
  )
  await sql`ALTER TABLE requests ENABLE TRIGGER request_sums_added`
  await spend([1n, 10n, 100n, 1_000n], payer, other, below)
  await foldRollups(sql, { rollupHoursDays: 400 })
  await spend([2n, 20n, 200n, 2_000n], payer, other, below)
  const isFirst = now.getTime() < monthMs + dayMs
  for (const { table, id } of ownersOf(payer)) {
    await bed.setBudgets(table, id, { day: 1_000_000n, month: 1_000_000n, total: 1_000_000n })
    const spent = await sql<{ period: string; spent: string }[]>`
      SELECT period, max(spent_nano) AS spent FROM budget_periods
      WHERE owner_id = ${id} AND starts_at = period_start(period, ${now}) GROUP BY period ORDER BY period`
    expect(spent).toEqual([
      { period: 'day', spent: isFirst ? '66' : '6' },
      { period: 'month', spent: '66' },
      { period: 'total', spent: '12666' },
    ])
  }
  expect(await countBackfill(sql, { rollupHoursDays: 400 })).toBe(1)
})

test('it reads no row of the usage log', async () => {
  const { sql } = bed.database
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  await spend([1n, 10n, 100n, 1_000n], payer)
  for (const { table, id } of ownersOf(payer)) {
    const read = await sql.begin(async (tx) => {
      await tx`UPDATE ${tx(table)} SET budget_total_nano = 1000000 WHERE id = ${id}`
      await tx`SET CONSTRAINTS ALL IMMEDIATE`
      const [row] = await tx<{ rows: string }[]>`
        SELECT sum(t.seq_tup_read + coalesce(t.idx_tup_fetch, 0)) AS rows FROM pg_stat_xact_user_tables t
        WHERE t.relname LIKE 'requests\\_%'`
      return row?.rows
    })
    expect(read, table).toBe('0')
    expect(await bed.left(payer)).toContain('total 998889 998889')
  }
})
