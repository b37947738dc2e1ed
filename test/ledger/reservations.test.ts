import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Connections, openConnections } from '../../src/db/connections.ts'
import { Pool } from '../../src/db/pool.ts'
import type { ReservationResult } from '../../src/money/reservation.ts'
import { type ReservationOptions, Reservations } from '../../src/money/reservations.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { openDatabase } from '../support/database.ts'
import { holdsFor, patienceMs } from '../support/until.ts'
import { instance, type MoneyBed, type Payer, startMoneyBed } from './money-bed.ts'

let bed: MoneyBed
let payer: Payer
beforeEach(async () => {
  bed = await startMoneyBed()
  payer = await bed.aKey(await bed.aTenant(), await bed.aGroup(), { total: 10n })
})
afterEach(async () => {
  expect(await bed.broken()).toEqual([])
  await bed.close()
})

function start({
  waitMs = 60_000,
  moneyWaitMs = 60_000,
  lanesMax = 2,
  database,
}: Partial<ReservationOptions> = {}) {
  let shipments = 0
  const ship = async () => {
    shipments++
  }
  const reservations = new Reservations({
    database: database ?? bed.database,
    instance: { id: instance },
    waitMs,
    moneyWaitMs,
    lanesMax,
    ship,
    clock: systemClock,
  })
  return {
    shipments: () => shipments,
    hold(
      amountNano: bigint,
      hasLeft = () => false,
      of: Payer = payer,
    ): { id: string; verdict: Promise<ReservationResult> } {
      const id = randomUUIDv7()
      const { tenantId: accountId, keyId, groupId } = of
      return {
        id,
        verdict: reservations.hold({ requestId: id, accountId, keyId, groupId, amountNano, hasLeft }),
      }
    },
    async end(id: string, cost = 0n, of: Payer = payer): Promise<void> {
      await bed.settle({ id, payer: of, cost })
      reservations.ended()
    },
  }
}

test('requests that wait for money get it in the order of arrival', async () => {
  const { hold, end } = start()
  const first = hold(10n)
  expect(await first.verdict).toEqual({ kind: 'granted' })
  const line = Array.from({ length: 120 }, () => hold(10n))
  const served: number[] = []
  for (const [place, { id, verdict }] of line.entries())
    void verdict.then(async ({ kind }) => {
      if (kind === 'granted') served.push(place)
      await end(id)
    })
  // Asked last: when it has its verdict, all others wait. Before that, money could come to a later one first.
  expect(await hold(11n).verdict).toMatchObject({ kind: 'insufficient' })
  await end(first.id)
  await Promise.all(line.map(({ verdict }) => verdict))
  expect(served).toEqual(line.map((_, place) => place))
  await expect.poll(() => bed.account(payer.tenantId), { timeout: patienceMs }).toMatchObject({ held: 0n })
})

test('a request that fits does not wait behind one that does not', async () => {
  const { hold, end } = start()
  const [running, large] = [hold(8n), hold(10n)]
  await running.verdict
  const small = hold(2n)
  expect(await small.verdict).toEqual({ kind: 'granted' })
  await end(small.id)
  await end(running.id)
  expect(await large.verdict).toEqual({ kind: 'granted' })
  await end(large.id)
})

test('a request that could not fit in any case is refused at once, however many wait', async () => {
  const { hold, end } = start()
  const running = hold(10n)
  await running.verdict
  const line = Array.from({ length: 80 }, () => hold(10n))
  const source = { owner: 'key', period: 'total' }
  expect(await hold(11n).verdict).toEqual({ kind: 'insufficient', source, leftNano: 10n, freeNano: 0n })
  // After this charge none of the waiting requests can fit: they are refused and do not go on waiting.
  await end(running.id, 1n)
  const verdicts = await Promise.all(line.map(({ verdict }) => verdict))
  expect(new Set(verdicts.map(({ kind }) => kind))).toEqual(new Set(['insufficient']))
})

test('before a request that waited its time is refused, ended requests are shipped and it is tried again', async () => {
  const { hold, end, shipments } = start({ moneyWaitMs: 0 })
  const running = hold(8n)
  await running.verdict
  expect(shipments()).toBe(0)
  const source = { owner: 'key', period: 'total' }
  expect(await hold(3n).verdict).toEqual({ kind: 'busy', source, leftNano: 10n, freeNano: 2n })
  expect(shipments()).toBe(1)
  await end(running.id)
})

test('a client that leaves while it waits holds no money', async () => {
  const { hold, end } = start()
  const running = hold(10n)
  await running.verdict
  let isGone = false
  const { verdict } = hold(10n, () => isGone)
  isGone = true
  expect(await verdict).toEqual({ kind: 'left' })
  await end(running.id)
  expect(await bed.account(payer.tenantId)).toMatchObject({ held: 0n })
})

test('a statement that never gets an answer does not keep other requests from being admitted', async () => {
  const { database, hang } = faulty()
  const { hold, end } = start({ waitMs: 300, database })
  hang(/reserve_money/)
  await expect(hold(10n).verdict).rejects.toMatchObject({ kind: 'unavailable' })
  const next = hold(10n)
  expect(await next.verdict).toEqual({ kind: 'granted' })
  await end(next.id)
})

test.each(['fails', 'is never answered'])(
  'if giving money back %s, the waiting requests go on waiting, and get it',
  async (how) => {
    const waitMs = 2_000
    const { database, hold: withhold, fail, hang } = faulty()
    const { hold, end } = start({ waitMs, database })
    const first = withhold(/reserve_money/)
    const running = hold(5n)
    await first.asked
    const leaving = hold(5n)
    let hasGivenUp = false
    leaving.verdict.catch(() => {
      hasGivenUp = true
    })
    // The request that gives up is a second older than the one that goes on waiting.
    await holdsFor(waitMs / 2, () => expect(hasGivenUp).toBe(false))
    const waiting = hold(5n)
    const second = withhold(/reserve_money/)
    first.answer()
    expect(await running.verdict).toEqual({ kind: 'granted' })
    await second.asked
    if (how === 'fails') fail(/release_reservations/)
    else hang(/release_reservations/)
    await expect(leaving.verdict).rejects.toMatchObject({ kind: 'unavailable' })
    second.answer()
    await end(running.id)
    expect(await waiting.verdict).toEqual({ kind: 'granted' })
    await end(waiting.id)
    // Shipping its row releases the money.
    await end(leaving.id)
    expect(await bed.account(payer.tenantId)).toMatchObject({ held: 0n })
  },
)

test('if Postgres does not answer in time, the request is refused, and money that it is granted later is given back', async () => {
  // A pool of its own, because the test makes it end its connections.
  const database = openDatabase(bed.url)
  const { hold } = start({ waitMs: 300, database })
  const other = openDatabase(bed.url, { max: 1 })
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const lock = other.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM accounts WHERE id = ${payer.tenantId} FOR UPDATE`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  await expect(hold(10n).verdict).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 2 })
  held.resolve()
  await lock
  await other.close()
  await expect
    .poll(() => bed.database.sql`SELECT 1 FROM reservations`.then((rows) => rows.length), {
      timeout: patienceMs,
    })
    .toBe(0)
  await database.close()
})

/** Lock a row until `release`, as a shipment does until its commit. */
async function lockRow(table: 'accounts' | 'budget_periods', id: string) {
  const other = openDatabase(bed.url, { max: 1 })
  const held = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const column = table === 'accounts' ? 'id' : 'owner_id'
  const lock = other.sql.begin(async (tx) => {
    await tx`SELECT 1 FROM ${tx(table)} WHERE ${tx(column)} = ${id} FOR UPDATE`
    locked.resolve()
    await held.promise
  })
  await locked.promise
  return {
    async release(): Promise<void> {
      held.resolve()
      await lock
      await other.close()
    },
  }
}

async function isSettled(verdict: Promise<ReservationResult>): Promise<boolean> {
  return (await Promise.race([verdict, Promise.resolve(undefined)])) !== undefined
}

test.each([
  ['an account', 2],
  ['more accounts than there are lanes', 1],
  ['an account, with no connection for a lane,', 0],
])(
  'while %s is locked, other tenants are admitted, and its own requests when it is free',
  async (_, lanesMax) => {
    const { hold, end } = start({ lanesMax })
    const slow = [payer, await bed.aKey(await bed.aTenant(10n), payer.groupId)]
    const quick = await bed.aKey(await bed.aTenant(10n), payer.groupId)
    const locks = await Promise.all(slow.map(({ tenantId }) => lockRow('accounts', tenantId)))
    // All of them arrive at once: the first batches have requests of both.
    const waiting = slow.flatMap((of) =>
      Array.from({ length: 3 }, () => ({ of, ...hold(1n, undefined, of) })),
    )
    const others = Array.from({ length: 3 }, () => ({ of: quick, ...hold(1n, undefined, quick) }))
    for (const { verdict } of others) expect(await verdict).toEqual({ kind: 'granted' })
    // Requests that come while a lane waits do not wait for it either.
    const late = { of: quick, ...hold(1n, undefined, quick) }
    expect(await late.verdict).toEqual({ kind: 'granted' })
    for (const { verdict } of waiting) expect(await isSettled(verdict)).toBe(false)
    for (const lock of locks) await lock.release()
    for (const { verdict } of waiting) expect(await verdict).toEqual({ kind: 'granted' })
    for (const { id, of } of [...waiting, ...others, late]) await end(id, 0n, of)
  },
)

test('while the budget of a group is locked, the requests of other groups are admitted', async () => {
  const { hold, end } = start()
  const tenantId = await bed.aTenant(10n)
  const slow = await bed.aKey(tenantId, await bed.aGroup({ day: 10n }))
  const quick = await bed.aKey(await bed.aTenant(10n), await bed.aGroup({ day: 10n }))
  const first = hold(1n, undefined, slow)
  expect(await first.verdict).toEqual({ kind: 'granted' })
  const lock = await lockRow('budget_periods', slow.groupId)
  const [waiting, other] = [hold(1n, undefined, slow), hold(1n, undefined, quick)]
  expect(await other.verdict).toEqual({ kind: 'granted' })
  expect(await isSettled(waiting.verdict)).toBe(false)
  await lock.release()
  expect(await waiting.verdict).toEqual({ kind: 'granted' })
  for (const { id } of [first, waiting]) await end(id, 0n, slow)
  await end(other.id, 0n, quick)
})

test('a request that waits for money keeps its turn while another account is locked', async () => {
  const { hold, end } = start()
  const slow = await bed.aKey(await bed.aTenant(1n), payer.groupId)
  const [runsSlow, runs] = [hold(1n, undefined, slow), hold(10n)]
  expect([await runsSlow.verdict, await runs.verdict]).toEqual([{ kind: 'granted' }, { kind: 'granted' }])
  // Both wait for money in the same queue, which asks for them in one turn.
  const [waitsSlow, waits] = [hold(1n, undefined, slow), hold(10n)]
  const lock = await lockRow('accounts', slow.tenantId)
  await end(runs.id)
  expect(await waits.verdict).toEqual({ kind: 'granted' })
  await lock.release()
  await end(runsSlow.id, 0n, slow)
  expect(await waitsSlow.verdict).toEqual({ kind: 'granted' })
  await end(waitsSlow.id, 0n, slow)
  await end(waits.id)
})

/** The bed's database. The next statement with the given words fails, never gets an answer, or waits for the test. */
function faulty() {
  const faults: { words: RegExp; instead(run: () => unknown): unknown }[] = []
  const faulty = ({ sql, ...connections }: Connections): Connections => ({
    ...connections,
    sql: new Proxy(sql, {
      apply(target, self, args) {
        const run = () => Reflect.apply(target, self, args)
        const fault = faults.findIndex(({ words }) => Array.isArray(args[0]) && words.test(args[0].join('')))
        return fault === -1 ? run() : faults.splice(fault, 1)[0]?.instead(run)
      },
    }),
  })
  const money = new Pool({ open: () => faulty(openConnections(bed.url)), atOnce: 5, withinMs: 60_000 })
  onTestFinished(() => money.close())
  return {
    database: { money },
    hang: (words: RegExp) => void faults.push({ words, instead: () => new Promise(() => {}) }),
    fail: (words: RegExp) =>
      void faults.push({
        words,
        instead: () =>
          Promise.reject(Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' })),
      }),
    hold(words: RegExp) {
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<void>()
      const instead = async (run: () => unknown) => {
        const done = await run()
        asked.resolve()
        await answer.promise
        return done
      }
      faults.push({ words, instead })
      return { asked: asked.promise, answer: answer.resolve }
    },
  }
}
