import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  idAt,
  instance,
  type MoneyBed,
  type MoneyWish,
  ownersOf,
  type Payer,
  startMoneyBed,
} from './money-bed.ts'

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

test('of key, group and tenant, the budget with the least left refuses, and is named', async () => {
  const caps = [30n, 40n, 50n]
  for (const turn of [0, 1, 2]) {
    const [key = 0n, group = 0n, tenant = 0n] = caps.map((_, at) => caps[(at + turn) % 3])
    const payer = await bed.aKey(
      await bed.aTenant(1_000n, { month: tenant }),
      await bed.aGroup({ month: group }),
      { month: key },
    )
    const tightest = ownersOf(payer)[(3 - turn) % 3]?.name
    const id = randomUUIDv7()
    expect(await bed.reserve({ id, payer, amount: 20n })).toEqual(['granted'])
    const other = { id: randomUUIDv7(), payer }
    // Held: running requests may give it back. Spent: they will not.
    expect(await bed.reserve({ ...other, amount: 11n })).toEqual([`busy ${tightest} month 30 10`])
    await bed.settle({ id, payer, cost: 20n })
    expect(await bed.reserve({ ...other, amount: 11n })).toEqual([`insufficient ${tightest} month 10 10`])
    expect(await bed.reserve({ ...other, amount: 10n })).toEqual(['granted'])
    for (const owner of ownersOf(payer))
      expect(await bed.periods(owner.id)).toEqual([expect.stringMatching(/spent 20, held 10$/)])
  }
})

test('all keys of a tenant spend its budget, in whichever groups, and sub-keys too', async () => {
  const tenant = await bed.aTenant(undefined, { month: 10n })
  const parent = await bed.aKey(tenant, await bed.aGroup())
  const below = await bed.aKey(tenant, parent.groupId)
  await bed.database.sql`UPDATE keys SET parent_id = ${parent.keyId} WHERE id = ${below.keyId}`
  const other = await bed.aKey(tenant, await bed.aGroup())
  const stranger = await bed.aKey(await bed.aTenant(), parent.groupId)
  const wishes = [below, other, parent].map((payer) => ({ id: randomUUIDv7(), payer, amount: 4n }))
  expect(await bed.reserve(...wishes)).toEqual(['granted', 'granted', 'busy tenant month 10 2'])
  expect(await bed.reserve({ id: randomUUIDv7(), payer: stranger, amount: 100n })).toEqual(['granted'])
  await bed.settle(...wishes.slice(0, 2).map(({ id, payer }) => ({ id, payer, cost: 3n })))
  // A request that held nothing, because it began before its process knew of the budget, is counted all the same.
  await bed.settle({ id: randomUUIDv7(), payer: parent, cost: 2n })
  expect(await bed.left(parent)).toBe('insufficient tenant month 2 2')
})

test('a budget that is lowered or removed counts from the next request, with what running requests hold', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  for (const { table, id: owner, name } of ownersOf(payer)) {
    await bed.setBudgets(table, owner, { month: 100n })
    const [first, second] = [randomUUIDv7(), randomUUIDv7()]
    expect(await bed.reserve({ id: first, payer, amount: 60n - (await spentOf(owner)) })).toEqual(['granted'])
    await bed.setBudgets(table, owner, { month: 61n })
    expect(await bed.reserve({ id: second, payer, amount: 2n })).toEqual([
      expect.stringMatching(`^busy ${name} month \\d+ 1$`),
    ])
    // Lower than what is held: the running request ends, and is charged.
    await bed.setBudgets(table, owner, { month: 1n })
    await bed.settle({ id: first, payer, cost: 5n })
    expect(await bed.reserve({ id: second, payer, amount: 1n })).toEqual([
      expect.stringMatching(`^insufficient ${name} month -\\d+ -\\d+$`),
    ])
    await bed.setBudgets(table, owner, { month: null })
    expect(await bed.reserve({ id: second, payer, amount: 1_000n })).toEqual(['granted'])
    await bed.settle({ id: second, payer, cost: 1n })
  }
})

test('a budget that is removed while a request runs gets back what the request held', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  const owners = ownersOf(payer)
  for (const { table, id } of owners) await bed.setBudgets(table, id, { total: 10n })
  const id = randomUUIDv7()
  expect(await bed.reserve({ id, payer, amount: 10n })).toEqual(['granted'])
  for (const { table, id } of owners) await bed.setBudgets(table, id, { total: null })
  await bed.settle({ id, payer, cost: 10n })
  for (const owner of owners)
    expect(await bed.periods(owner.id)).toEqual(['total 1970-01-01: spent 0, held 0'])
  for (const { table, id } of owners) await bed.setBudgets(table, id, { total: 11n })
  expect(await bed.left(payer)).toMatch(/^insufficient \w+ total 1 1$/)
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
  const tenant = await bed.aTenant(undefined, { day: 100n, month: 15n })
  const payer = await bed.aKey(tenant, await bed.aGroup({ month: 15n }), { day: 10n })
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
  const months = ['month 2026-01-01: spent 8, held 0', 'month 2026-02-01: spent 4, held 0']
  expect(await bed.periods(payer.groupId)).toEqual(months)
  expect(await bed.periods(tenant)).toEqual([
    'day 2026-01-31: spent 8, held 0',
    'day 2026-02-01: spent 4, held 0',
    ...months,
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
  await bed.setBudgets('tenants', payer.tenantId, { month: 48n })
  expect(await bed.left(payer, now)).toBe('insufficient tenant month 29 29')
})

test('a budget that returns after a break counts the spending of the break', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  const now = Date.now()
  let before = 0n
  for (const { table, id, name } of ownersOf(payer)) {
    await bed.setBudgets(table, id, { day: 100n, total: 100n })
    await bed.settle({ id: idAt(now), payer, cost: 5n })
    await bed.setBudgets(table, id, { day: null, total: null })
    await bed.settle({ id: idAt(now), payer, cost: 20n })
    await bed.setBudgets(table, id, { day: 80n + before, total: 90n + before })
    expect(await bed.left(payer, now)).toBe(`insufficient ${name} day 55 55`)
    await bed.setBudgets(table, id, { day: null })
    expect(await bed.left(payer, now)).toBe(`insufficient ${name} total 65 65`)
    await bed.setBudgets(table, id, { total: null })
    before += 25n
  }
})

test('a budget that begins during a hundred shipments misses none of them and counts none twice', async () => {
  const payer = await bed.aKey(await bed.aTenant(), await bed.aGroup())
  const now = Date.now()
  const shipments = Array.from({ length: 100 }, () => bed.settle({ id: idAt(now), payer, cost: 1n }))
  await shipments[10]
  const owners = ownersOf(payer)
  await Promise.all(owners.map(({ table, id }) => bed.setBudgets(table, id, { total: 1_000n })))
  await Promise.all(shipments)
  for (const { id } of owners) expect(await bed.periods(id)).toEqual(['total 1970-01-01: spent 100, held 0'])
})

test('the money of budgets that a killed process held is free again after its release', async () => {
  const tenant = await bed.aTenant(10n, { month: 10n })
  const payer = await bed.aKey(tenant, await bed.aGroup({ month: 10n }), { day: 10n })
  const now = Date.now()
  expect(await bed.reserve({ id: idAt(now), payer, amount: 10n })).toEqual(['granted'])
  expect(await bed.reserve({ id: idAt(now), payer, amount: 10n })).toMatchObject(
    [/^busy .* 10 0$/].map((said) => expect.stringMatching(said)),
  )
  await bed.database.sql`SELECT release_instance(${instance})`
  expect(await bed.reserve({ id: idAt(now), payer, amount: 10n })).toEqual(['granted'])
})

test('ledger:verify finds a budget that differs from its reservations and requests', async () => {
  const budgets = { day: 10n, total: 10n }
  const payer = await bed.aKey(await bed.aTenant(undefined, budgets), await bed.aGroup(budgets), budgets)
  await bed.settle({ id: randomUUIDv7(), payer, cost: 5n })
  const tamper = async (owner: string, column: string, by: number, period: string) => {
    await bed.database.sql`
      UPDATE budget_periods SET ${bed.database.sql(column)} = ${bed.database.sql(column)} + ${by}
      WHERE period = ${period} AND owner_id = ${owner}`
    const found = await bed.broken()
    await bed.database.sql`
      UPDATE budget_periods SET ${bed.database.sql(column)} = ${bed.database.sql(column)} - ${by}
      WHERE period = ${period} AND owner_id = ${owner}`
    return found.map(({ rule, differences }) => `${rule}: ${differences}`)
  }
  const spent = "every budget's spent money matches the charges in its period: 1"
  for (const { id } of ownersOf(payer)) {
    expect(await tamper(id, 'spent_nano', 1, 'day')).toEqual([spent])
    expect(await tamper(id, 'spent_nano', -1, 'total')).toEqual([spent])
    expect(await tamper(id, 'reserved_nano', 1, 'day')).toEqual([
      "every budget's reserved money is the sum of the reservations that name its period: 1",
    ])
  }
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
    Array.from({ length: 8 }, (_, n) =>
      bed.aTenant(n % 2 === 0 ? 1_000_000n : undefined, n % 3 === 0 ? {} : { month: 900_000n }),
    ),
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
    const month = turn % 2 === 0 ? 700_000n : null
    if (turn % 7 === 0) await bed.setBudgets('keys', keyId, { month })
    if (turn % 7 === 3) await bed.setBudgets('tenants', tenantId, { month })
    return verdicts
  }
  const verdicts = await Promise.all(Array.from({ length: 200 }, (_, turn) => round(turn)))
  expect(new Set(verdicts.flat())).toEqual(new Set(['granted']))
  for (const tenant of tenants) expect((await bed.account(tenant)).held).toBe(0n)
})

async function spentOf(owner: string): Promise<bigint> {
  const [row] = await bed.database
    .sql`SELECT coalesce(sum(spent_nano), 0) AS spent FROM budget_periods WHERE owner_id = ${owner}`
  return BigInt(row?.spent)
}

const nobody: Payer = { tenantId: '', keyId: '', groupId: '' }

/** The order depends only on the seed. */
function shuffled<T extends object>(list: readonly T[], seed: number): T[] {
  return list
    .map((item, place) => ({ item, at: ((place + 1) * 7919 * (seed + 3)) % 101 }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
