import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { idAt, type MoneyBed, startMoneyBed } from '../ledger/money-bed.ts'

let bed: MoneyBed
beforeEach(async () => {
  bed = await startMoneyBed()
})
afterEach(async () => {
  expect(await bed.broken()).toEqual([])
  await bed.close()
})

const minuteMs = 60_000

/** A reservation that was committed after its request had given up waiting, and had its row. */
async function lateReservation(): Promise<string> {
  const payer = await bed.aKey(await bed.aTenant(100n), await bed.aGroup())
  const id = idAt(Date.now() - minuteMs)
  await bed.settle({ id, payer, cost: 0n })
  expect(await bed.reserve({ id, payer, amount: 5n })).toEqual(['granted'])
  await bed.database
    .sql`UPDATE reservations SET created_at = now() - interval '1 minute' WHERE request_id = ${id}`
  return payer.tenantId
}

const sweep = () => bed.database.sql`SELECT sweep_reservations()`
const isDue = () => bed.database.sql`UPDATE sweeps SET due_at = now()`

test('a sweep releases reservations of requests that have their rows, and leaves those that run', async () => {
  const tenant = await lateReservation()
  const payer = await bed.aKey(await bed.aTenant(100n), await bed.aGroup())
  const running = [idAt(Date.now() - minuteMs), randomUUIDv7()]
  await bed.reserve(...running.map((id) => ({ id, payer, amount: 5n })))
  await bed.database.sql`UPDATE reservations SET created_at = now() - interval '1 minute'`
  await sweep()
  expect(await bed.account(tenant)).toMatchObject({ held: 0n })
  expect(await bed.account(payer.tenantId)).toMatchObject({ held: 10n })
})

test('many processes that sweep make one sweep, and wait neither for each other nor twice', async () => {
  const { sql } = bed.database
  await sweep()
  const first = await lateReservation()
  await sweep()
  expect(await bed.account(first)).toMatchObject({ held: 5n })
  await isDue()
  await sql.begin(async (tx) => {
    // This process sweeps now.
    await tx`SELECT claim_sweep('reservations', 4000)`
    await sweep()
    expect(await bed.account(first)).toMatchObject({ held: 5n })
  })
  await isDue()
  await Promise.all(Array.from({ length: 8 }, sweep))
  expect(await bed.account(first)).toMatchObject({ held: 0n })
})

test('one of many processes gets a sweep, and the next one when it is due', async () => {
  const { sql } = bed.database
  const claims = async () => {
    const claimed = await Promise.all(
      Array.from({ length: 8 }, () => sql`SELECT claim_sweep('any', 600000) AS mine`),
    )
    return claimed.filter(([row]) => row?.mine === true).length
  }
  expect(await claims()).toBe(1)
  expect(await claims()).toBe(0)
  await isDue()
  expect(await claims()).toBe(1)
  // A clock that was set back does not keep sweeps away.
  await sql`UPDATE sweeps SET due_at = now() + interval '1 day'`
  expect(await claims()).toBe(1)
})

test('a sweep reads no whole table', async () => {
  await lateReservation()
  const session = await bed.database.sql.reserve()
  const scans = async () => {
    await session`SELECT pg_stat_force_next_flush()`
    const [row] = await session`SELECT sum(seq_scan)::integer AS scans FROM pg_stat_user_tables
      WHERE relname = 'reservations' OR relname LIKE 'requests%'`
    return row?.scans
  }
  const before = await scans()
  await session`SELECT sweep_reservations()`
  expect(await scans()).toBe(before)
  session.release()
})
