import { randomUUIDv7 } from 'node:crypto'
import type postgres from 'postgres'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { patienceMs } from '../support/until.ts'
import { instance, type MoneyBed, startMoneyBed } from './money-bed.ts'

/** Locks on money: each test stops one transaction at the moment when it could cause a deadlock or a wait. */

let bed: MoneyBed
let other: postgres.ReservedSql
beforeEach(async () => {
  bed = await startMoneyBed()
  other = await bed.database.sql.reserve()
  await other`BEGIN`
})
afterEach(async () => {
  other.release()
  expect(await bed.broken()).toEqual([])
  await bed.close()
})

/** Waits until this many statements wait for a lock. */
const waiting = async (count: number) =>
  expect
    .poll(
      async () =>
        (
          await bed.database.sql`SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event_type = 'Lock'`
        ).length,
      { timeout: patienceMs },
    )
    .toBe(count)

test('while a new budget is being counted, charges wait and admissions do not', async () => {
  const payer = await bed.aKey(await bed.aTenant(1_000n), await bed.aGroup(), { total: 100n })
  const [running, next] = [randomUUIDv7(), randomUUIDv7()]
  expect(await bed.reserve({ id: running, payer, amount: 10n })).toEqual(['granted'])
  await other`SELECT hold_charges()`
  const settled = bed.settle({ id: running, payer, cost: 7n })
  await waiting(1)
  expect(await bed.reserve({ id: next, payer, amount: 10n })).toEqual(['granted'])
  // A request that cost nothing is released without waiting.
  await bed.settle({ id: next, payer, cost: 0n })
  await other`COMMIT`
  await settled
  expect(await bed.account(payer.tenantId)).toEqual({ balance: 993n, held: 0n })
})

test("while the log is summed up for a new budget, the owner's old budgets admit requests as usual", async () => {
  const payer = await bed.aKey(await bed.aTenant(1_000n), await bed.aGroup({ month: 100n }), { total: 100n })
  const now = Date.now()
  await bed.settle({ id: randomUUIDv7(), payer, cost: 7n })
  await bed.setBudgets('keys', payer.keyId, { day: 100n })
  await bed.setBudgets('keys', payer.keyId, { day: null })
  // The lock keeps everybody from reading the log, so the sum takes as long as the test wants.
  await other`LOCK TABLE requests IN ACCESS EXCLUSIVE MODE`
  const counted = bed.setBudgets('keys', payer.keyId, { day: 50n, month: 60n })
  await waiting(1)
  const id = randomUUIDv7()
  expect(await bed.reserve({ id, payer, amount: 10n })).toEqual(['granted'])
  await other`COMMIT`
  await counted
  expect(await bed.left(payer, now)).toBe('insufficient key day 43 43')
  await bed.settle({ id, payer, cost: 0n })
})

test.each(['group', 'tenant'])(
  'a file with a balance and a budget of a %s waits for running charges before it locks anything',
  async (owner) => {
    const file = (tenant: string, budget: string) =>
      applyYaml(
        bed.database,
        `models: []
channels: []
groups: [{ name: all, models: ['*'], channels: ['*']${budget} }]
tenants: [{ name: acme${tenant}, keys: [{ name: main, group: all, secret: a-secret-of-some-length }] }]`,
        new SecretKeeper('a secret key for tests, long enough'),
      )
    await file('', '')
    // The locks of a shipment that charges, in its order: the lock of charges, then the account.
    await other`SELECT pg_advisory_xact_lock_shared(7023915)`
    const [balance, budget] = [", balance_usd: '5.00'", ", budget: { total: '5.00' }"]
    const applied = owner === 'group' ? file(balance, budget) : file(balance + budget, '')
    await waiting(1)
    await other`SELECT 1 FROM accounts FOR UPDATE`
    await other`COMMIT`
    await applied
    const [account] = await bed.database.sql`SELECT limited, balance_nano FROM accounts`
    expect(account).toMatchObject({ limited: true, balance_nano: '5000000000' })
  },
)

test('budgets that return lock their old periods in the common order', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup(), { day: 10n, total: 10n })
  const id = randomUUIDv7()
  await bed.reserve({ id, payer, amount: 1n })
  await bed.setBudgets('keys', payer.keyId, { day: null, total: null })
  const [low, high] = [`00000000-${id.slice(9)}`, `ffffffff-${id.slice(9)}`]
  // The ids sort in the opposite order of the period names.
  await bed.database
    .sql`UPDATE budget_periods SET id = CASE period WHEN 'total' THEN ${low}::uuid ELSE ${high}::uuid END`
  await bed.database.sql`UPDATE reservations SET budget_period_ids = ARRAY[${low}, ${high}]::uuid[]`
  await other`SELECT 1 FROM budget_periods WHERE id = ${low} FOR UPDATE`
  const counted = bed.setBudgets('keys', payer.keyId, { day: 10n, total: 10n })
  await waiting(1)
  await other`SELECT 1 FROM budget_periods WHERE id = ${high} FOR UPDATE`
  await other`COMMIT`
  await counted
  await bed.settle({ id, payer, cost: 1n })
  expect(await bed.left(payer)).toMatch(/^insufficient key (?:day|total) 9 9$/)
})

test('lost processes are released together, and their accounts are locked in the common order', async () => {
  const tenants = [await bed.aTenant(10n), await bed.aTenant(10n)].sort()
  const lost = [randomUUIDv7(), randomUUIDv7()].sort()
  // The process found first holds money of the last account: releasing one by one would lock against the order.
  for (const [n, id] of lost.entries()) {
    const payer = await bed.aKey(tenants[1 - n] ?? '', await bed.aGroup())
    await bed.database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
      VALUES (${id}, 'gone', 1, now() - interval '2 days', now() - interval '2 days', 'live')`
    const held = randomUUIDv7()
    await bed.reserve({ id: held, payer, amount: 3n })
    await bed.database.sql`UPDATE reservations SET instance_id = ${id} WHERE request_id = ${held}`
  }
  await other`SELECT 1 FROM accounts WHERE id = ${tenants[0] ?? ''} FOR UPDATE`
  const retired = bed.database.sql`SELECT retire_silent_instances(${instance}, 86400000) AS id`.then((rows) =>
    rows.map(({ id }) => id).sort(),
  )
  await waiting(1)
  await other`SELECT 1 FROM accounts WHERE id = ${tenants[1] ?? ''} FOR UPDATE`
  await other`COMMIT`
  expect(await retired).toEqual(lost)
  for (const tenant of tenants) expect(await bed.account(tenant)).toEqual({ balance: 10n, held: 0n })
})

test('a reservation that a job has taken over is not released with the process', async () => {
  const payer = await bed.aKey(await bed.aTenant(10n), await bed.aGroup(), { total: 10n })
  const [taken, left] = [randomUUIDv7(), randomUUIDv7()]
  await bed.reserve({ id: taken, payer, amount: 3n }, { id: left, payer, amount: 4n })
  await other`SELECT 1 FROM accounts FOR UPDATE`
  const released = bed.database.sql`SELECT release_instance(${instance})`.execute()
  await waiting(1)
  const job = {
    id: taken,
    tenant_id: payer.tenantId,
    key_id: payer.keyId,
    group_id: payer.groupId,
    priority: 0,
    model: 'draw',
    quote: '{}',
    opened: '{}',
  }
  const [accepted] = await bed.database.sql`
    SELECT verdict FROM accept_job(${JSON.stringify(job)}::text::jsonb, NULL, NULL, 3, 4, 10)`
  expect(accepted).toMatchObject({ verdict: 'accepted' })
  await other`COMMIT`
  await released
  expect(await bed.database.sql`SELECT request_id FROM reservations`).toMatchObject([{ request_id: taken }])
  expect(await bed.account(payer.tenantId)).toEqual({ balance: 10n, held: 3n })
  expect(await bed.periods(payer.keyId)).toEqual(['total 1970-01-01: spent 0, held 3'])
})
