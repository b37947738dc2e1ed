import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { idAt, instance, type MoneyBed, type MoneyWish, type Payer, startMoneyBed } from './money-bed.ts'

let bed: MoneyBed
beforeEach(async () => {
  bed = await startMoneyBed()
})
afterEach(async () => {
  expect(await bed.broken()).toEqual([])
  await bed.close()
})

test('a request holds money of account, key and group if all of them have room, else of none', async () => {
  const tenant = await bed.aTenant(1_000n)
  const group = await bed.aGroup({ total: 60n })
  const payer = await bed.aKey(tenant, group, { total: 50n })
  const [first, second] = [randomUUIDv7(), randomUUIDv7()]
  expect(await bed.reserve({ id: first, payer, amount: 40n })).toEqual(['granted'])
  expect(await bed.reserve({ id: second, payer, amount: 20n })).toEqual(['busy key total 50 10'])
  expect(await bed.reserve({ id: second, payer, amount: 60n })).toEqual(['insufficient key total 50 10'])
  expect(await bed.reserve({ id: second, payer, amount: 10n })).toEqual(['granted'])
  expect(await bed.account(tenant)).toEqual({ balance: 1_000n, held: 50n })
  expect(await bed.periods(payer.keyId)).toEqual(['total 1970-01-01: spent 0, held 50'])
  expect(await bed.periods(group)).toEqual(['total 1970-01-01: spent 0, held 50'])
  await bed.settle({ id: first, payer, cost: 7n }, { id: second, payer, cost: 0n })
  expect(await bed.account(tenant)).toEqual({ balance: 993n, held: 0n })
  expect(await bed.periods(group)).toEqual(['total 1970-01-01: spent 7, held 0'])
})

test('in a batch, account, key and group grant the requests in order as far as their money goes', async () => {
  const [rich, poor] = [await bed.aTenant(1_000n), await bed.aTenant(5n)]
  const group = await bed.aGroup({ total: 30n })
  const payers = [
    await bed.aKey(rich, group),
    await bed.aKey(poor, group),
    await bed.aKey(rich, group, { total: 9n }),
  ]
  const wish = (n: number, amount: bigint): MoneyWish => ({
    id: randomUUIDv7(),
    payer: payers[n] ?? nobody,
    amount,
  })
  expect(
    await bed.reserve(
      wish(0, 10n),
      wish(1, 4n),
      wish(1, 4n),
      wish(2, 9n),
      wish(2, 1n),
      wish(0, 8n),
      wish(0, 7n),
    ),
  ).toEqual([
    'granted',
    'granted',
    'busy balance 5 1',
    'granted',
    'busy key total 9 0',
    'busy group total 30 7',
    'granted',
  ])
  expect(await bed.account(rich)).toEqual({ balance: 1_000n, held: 26n })
  expect(await bed.account(poor)).toEqual({ balance: 5n, held: 4n })
  await bed.database.sql`SELECT release_instance(${instance})`
  expect(await bed.periods(group)).toEqual(['total 1970-01-01: spent 0, held 0'])
})

test('a tenant without a limit is checked only against its budgets, and its reservations exist all the same', async () => {
  const tenant = await bed.aTenant()
  const payer = await bed.aKey(tenant, await bed.aGroup(), { total: 10n })
  const id = randomUUIDv7()
  const asked = await bed.reserve({ id, payer, amount: 10n }, { id: randomUUIDv7(), payer, amount: 1n })
  expect(asked).toEqual(['granted', 'busy key total 10 0'])
  expect(await bed.account(tenant)).toEqual({ balance: 0n, held: 10n })
  await bed.settle({ id, payer, cost: 10n })
  expect(await bed.account(tenant)).toEqual({ balance: -10n, held: 0n })
  expect(await bed.left(payer)).toBe('insufficient key total 0 0')
})

test('a request counts for the day and month in its id, whenever it is admitted or settled', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup({ month: 15n }), { day: 10n })
  const [before, after] = [idAt(Date.UTC(2026, 0, 31, 23, 59, 59, 999)), idAt(Date.UTC(2026, 1, 1))]
  const [late, next] = [idAt(Date.UTC(2026, 0, 31, 23)), idAt(Date.UTC(2026, 1, 1, 0, 0, 1))]
  expect(
    await bed.reserve(
      { id: after, payer, amount: 10n },
      { id: before, payer, amount: 9n },
      { id: late, payer, amount: 2n },
      { id: next, payer, amount: 1n },
    ),
  ).toEqual(['granted', 'granted', 'busy key day 10 1', 'busy key day 10 0'])
  await bed.settle({ id: after, payer, cost: 4n }, { id: before, payer, cost: 8n })
  expect(await bed.periods(payer.keyId)).toEqual([
    'day 2026-01-31: spent 8, held 0',
    'day 2026-02-01: spent 4, held 0',
  ])
  expect(await bed.periods(payer.groupId)).toEqual([
    'month 2026-01-01: spent 8, held 0',
    'month 2026-02-01: spent 4, held 0',
  ])
  expect(await bed.left(payer, Date.UTC(2026, 1, 1, 12))).toBe('insufficient key day 6 6')
})

test('a budget that begins in the middle of its period counts the earlier spending, and is exact from then on', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  const now = new Date()
  const costs = [
    { moment: now.getTime(), cost: 5n },
    { moment: Date.UTC(now.getUTCFullYear(), now.getUTCMonth()), cost: 7n },
    { moment: Date.UTC(2020, 1), cost: 11n },
  ]
  await bed.settle(...costs.map(({ moment, cost }) => ({ id: idAt(moment), payer, cost })))
  await bed.setBudgets('keys', payer.keyId, { day: 100n })
  const today = now.getUTCDate() === 1 ? 12n : 5n
  expect(await bed.left(payer, now)).toBe(`insufficient key day ${100n - today} ${100n - today}`)
  await bed.setBudgets('keys', payer.keyId, { day: null, month: 100n })
  expect(await bed.left(payer, now)).toBe('insufficient key month 88 88')
  await bed.setBudgets('keys', payer.keyId, { month: null })
  await bed.setBudgets('key_groups', payer.groupId, { total: 50n })
  expect(await bed.left(payer, now)).toBe('insufficient group total 27 27')
  await bed.settle({ id: idAt(now), payer, cost: 7n })
  await bed.setBudgets('key_groups', payer.groupId, { total: 60n })
  expect(await bed.left(payer, now)).toBe('insufficient group total 30 30')
})

test('a budget that returns after a break counts the spending of the break', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup(), { day: 100n, total: 100n })
  const now = Date.now()
  await bed.settle({ id: idAt(now), payer, cost: 5n })
  await bed.setBudgets('keys', payer.keyId, { day: null, total: null })
  await bed.settle({ id: idAt(now), payer, cost: 20n })
  await bed.setBudgets('keys', payer.keyId, { day: 80n, total: 90n })
  expect(await bed.left(payer, now)).toBe('insufficient key day 55 55')
  await bed.setBudgets('keys', payer.keyId, { day: null })
  expect(await bed.left(payer, now)).toBe('insufficient key total 65 65')
})

test('a budget that begins during a hundred shipments misses none of them and counts none twice', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  const now = Date.now()
  const shipments = Array.from({ length: 100 }, () => bed.settle({ id: idAt(now), payer, cost: 1n }))
  await shipments[10]
  await Promise.all([
    bed.setBudgets('keys', payer.keyId, { total: 1_000n }),
    bed.setBudgets('key_groups', payer.groupId, { total: 1_000n }),
  ])
  await Promise.all(shipments)
  expect(await bed.periods(payer.keyId)).toEqual(['total 1970-01-01: spent 100, held 0'])
  expect(await bed.periods(payer.groupId)).toEqual(['total 1970-01-01: spent 100, held 0'])
})

test('the money of budgets that a killed process held is free again after its release', async () => {
  const payer = await bed.aKey(await bed.aTenant(10n), await bed.aGroup({ month: 10n }), { day: 10n })
  const now = Date.now()
  expect(await bed.reserve({ id: idAt(now), payer, amount: 10n })).toEqual(['granted'])
  expect(await bed.reserve({ id: idAt(now), payer, amount: 10n })).toMatchObject(
    [/^busy .* 10 0$/].map((said) => expect.stringMatching(said)),
  )
  await bed.database.sql`SELECT release_instance(${instance})`
  expect(await bed.reserve({ id: idAt(now), payer, amount: 10n })).toEqual(['granted'])
})

test('ledger:verify finds a budget that differs from its reservations and requests', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup(), { day: 10n, total: 10n })
  await bed.settle({ id: randomUUIDv7(), payer, cost: 5n })
  const tamper = async (column: string, by: number, period: string) => {
    await bed.database.sql`
      UPDATE budget_periods SET ${bed.database.sql(column)} = ${bed.database.sql(column)} + ${by} WHERE period = ${period}`
    const found = await bed.broken()
    await bed.database.sql`
      UPDATE budget_periods SET ${bed.database.sql(column)} = ${bed.database.sql(column)} - ${by} WHERE period = ${period}`
    return found.map(({ rule, differences }) => `${rule}: ${differences}`)
  }
  const spent = "every budget's spent money matches the charges in its period: 1"
  expect(await tamper('spent_nano', 1, 'day')).toEqual([spent])
  expect(await tamper('spent_nano', -1, 'total')).toEqual([spent])
  expect(await tamper('reserved_nano', 1, 'day')).toEqual([
    "every budget's reserved money is the sum of the reservations that name its period: 1",
  ])
})

test('an amount that no number can hold is refused, and other requests do not suffer', async () => {
  const payer = await bed.aKey(await bed.aTenant(10n ** 18n), await bed.aGroup())
  const [huge, small] = [randomUUIDv7(), randomUUIDv7()]
  expect(
    await bed.reserve({ id: huge, payer, amount: 2n ** 63n - 1n }, { id: small, payer, amount: 10n ** 18n }),
  ).toEqual([`insufficient balance ${10n ** 18n} ${10n ** 18n}`, 'granted'])
})

test('hundreds of admissions, settlements, entries and changes of budgets at once neither deadlock nor miscount', async () => {
  // Each batch belongs to one tenant, so that no account serializes them. They lock the shared rows in one order.
  const tenants = await Promise.all(
    Array.from({ length: 8 }, (_, n) => bed.aTenant(n % 2 === 0 ? 1_000_000n : undefined)),
  )
  const groups = await Promise.all(
    Array.from({ length: 4 }, () => bed.aGroup({ day: 900_000n, month: 900_000n, total: 900_000n })),
  )
  const payers = await Promise.all(
    tenants.map((tenant) => Promise.all(groups.map((group) => bed.aKey(tenant, group, { day: 500_000n })))),
  )
  const round = async (turn: number) => {
    const batch = shuffled(payers[turn % payers.length] ?? [], turn).map((payer) => {
      return { id: randomUUIDv7(), payer, amount: 10n }
    })
    const verdicts = await bed.reserve(...batch)
    await bed.settle(...shuffled(batch, turn + 1).map(({ id, payer }) => ({ id, payer, cost: 3n })))
    const { tenantId, keyId } = batch[0]?.payer ?? nobody
    if (turn % 5 === 0)
      await bed.database.sql`SELECT book_entry(${randomUUIDv7()}, ${tenantId}, 'top_up', 5, NULL)`
    if (turn % 7 === 0) await bed.setBudgets('keys', keyId, { month: turn % 2 === 0 ? 700_000n : null })
    return verdicts
  }
  const verdicts = await Promise.all(Array.from({ length: 200 }, (_, turn) => round(turn)))
  expect(new Set(verdicts.flat())).toEqual(new Set(['granted']))
  for (const tenant of tenants) expect((await bed.account(tenant)).held).toBe(0n)
})

const nobody: Payer = { tenantId: '', keyId: '', groupId: '' }

/** The order depends only on the seed. */
function shuffled<T extends object>(list: readonly T[], seed: number): T[] {
  return list
    .map((item, place) => ({ item, at: ((place + 1) * 7919 * (seed + 3)) % 101 }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
