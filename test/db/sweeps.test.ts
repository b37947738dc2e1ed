import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { forgetInstances } from '../../src/shipping/forget-instances.ts'
import { deleteHeldAnswers } from '../../src/shipping/held-answer-queries.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { keepPartitions } from '../../src/usage/partitions.ts'
import { idAt, instance, type MoneyBed, startMoneyBed } from '../ledger/money-bed.ts'
import { wholeReads } from '../support/whole-reads.ts'

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
  const scans = () => wholeReads(session, 'reservations', 'requests%')
  const before = await scans()
  await session`SELECT sweep_reservations()`
  expect(await scans()).toBe(before)
  session.release()
})

test('holding and settling money reads no whole table of keys', async () => {
  const { sql } = bed.database
  const payer = await bed.aKey(await bed.aTenant(100n), await bed.aGroup())
  await sql`
    INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
    SELECT gen_random_uuid(), tenant_id, group_id, 'key ' || n, sha256(n::text::bytea), 'sk-', 'admin'
    FROM keys, generate_series(1, 20000) AS n WHERE id = ${payer.keyId}`
  await sql`ANALYZE keys`
  const session = await sql.reserve()
  const scans = () => wholeReads(session, 'keys')
  const before = await scans()
  const id = randomUUIDv7()
  const { tenantId, keyId, groupId } = payer
  expect(
    await session`SELECT verdict FROM try_reserve_money(${instance}, ${[id]}::uuid[], ${[tenantId]}::uuid[],
      ${[keyId]}::uuid[], ${[groupId]}::uuid[], ${['5']}::bigint[], true)`,
  ).toEqual([{ verdict: 'granted' }])
  await session`SELECT settle_money(${[id]}::uuid[], ${[tenantId]}::uuid[], ${[keyId]}::uuid[], ${[groupId]}::uuid[],
    ${[new Date().toISOString()]}::timestamptz[], ${['0']}::bigint[])`
  expect(await scans()).toBe(before)
  session.release()
})

test('what is old is deleted by one process at a time: held answers, budget periods, ended processes', async () => {
  const { sql, db } = bed.database
  const [tenant, ended, lost, holding, young, live] = Array.from({ length: 6 }, () => randomUUIDv7())
  const rows = [
    { id: ended, state: 'closed', days: 91 },
    { id: lost, state: 'lost', days: 91 },
    { id: holding, state: 'adopted', days: 91 },
    { id: young, state: 'closed', days: 89 },
    { id: live, state: 'live', days: 91 },
  ]
  const old = async () => {
    await sql`INSERT INTO held_answers (tenant_id, answer_id, channel, created_at)
      VALUES (${tenant ?? ''}, 'old', 'main', now() - interval '31 days')`
    await sql`INSERT INTO budget_periods (owner_id, period, starts_at) VALUES (${tenant ?? ''}, 'day', '2020-01-01Z')`
    for (const { id, state, days } of rows) {
      await sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
        VALUES (${id ?? ''}, 'here', 1, now(), now() - make_interval(days => ${days}), ${state}) ON CONFLICT DO NOTHING`
      await sql`INSERT INTO journal_positions VALUES (${id ?? ''}, 0, 1) ON CONFLICT DO NOTHING`
    }
  }
  const payer = await bed.aKey(await bed.aTenant(100n), await bed.aGroup())
  const held = randomUUIDv7()
  await bed.reserve({ id: held, payer, amount: 5n })
  await sql`UPDATE reservations SET instance_id = ${holding ?? ''}`
  const pass = async () => {
    const keeper = keepPartitions(bed.database, readConfig({}).bounds, systemClock, silentLog)
    // The last statement of a pass.
    await expect.poll(async () => (await sql`SELECT 1 FROM sweeps WHERE name = 'instances'`).length).toBe(1)
    keeper.stop()
  }
  const left = async () => {
    const [counts] = await sql`SELECT (SELECT count(*) FROM held_answers)::int AS answers,
      (SELECT count(*) FROM budget_periods WHERE starts_at = '2020-01-01Z')::int AS periods`
    const kept = await sql<
      { id: string }[]
    >`SELECT id FROM instances WHERE host = 'here' AND pid = 1 AND id <> ${instance}`
    const positions = await sql<{ id: string }[]>`SELECT instance_id AS id FROM journal_positions`
    return {
      answers: Number(counts?.answers),
      periods: Number(counts?.periods),
      kept: kept.map(({ id }) => id).sort(),
      positions: positions.map(({ id }) => id).sort(),
    }
  }
  const all = rows.map(({ id }) => id).sort()

  await old()
  const names = ['held_answers', 'budget_periods', 'instances']
  for (const name of names) await sql`SELECT claim_sweep(${name}, 1000)`
  await isDue()
  await sql.begin(async (tx) => {
    // Another process deletes these right now.
    for (const name of names) await tx`SELECT claim_sweep(${name}, 1000)`
    await deleteHeldAnswers(db, 30, 1_000)
    await forgetInstances(sql, 90, 1_000)
    expect(await left()).toEqual({ answers: 1, periods: 1, kept: all, positions: all })
  })
  await sql`DELETE FROM sweeps`
  await pass()
  const kept = [holding, young, live].sort()
  await expect.poll(left).toEqual({ answers: 0, periods: 0, kept, positions: kept })
  // A moment later no one deletes again.
  const halfHourMs = 30 * minuteMs
  await old()
  const again = await left()
  await Promise.all(Array.from({ length: 4 }, () => forgetInstances(sql, 90, halfHourMs)))
  await deleteHeldAnswers(db, 30, halfHourMs)
  expect(await left()).toEqual(again)
  expect(again.answers).toBe(1)
  await sql`SELECT release_reservations(ARRAY[${held}::uuid])`
  await sql`DELETE FROM instances WHERE id = ${live ?? ''}`
})
