import { randomUUIDv7 } from 'node:crypto'
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest'
import { type Connections, openConnections } from '../../src/db/connections.ts'
import { Pool } from '../../src/db/pool.ts'
import type { Verdict } from '../../src/ledger/reservation.ts'
import { type ReservationOptions, Reservations } from '../../src/ledger/reservations.ts'
import { openDatabase } from '../support/database.ts'
import { holdsFor } from '../support/until.ts'
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

function start({ waitMs = 60_000, moneyWaitMs = 60_000, database }: Partial<ReservationOptions> = {}) {
  let shipments = 0
  const ship = async () => {
    shipments++
  }
  const reservations = new Reservations({
    database: database ?? bed.database,
    instanceId: instance,
    waitMs,
    moneyWaitMs,
    ship,
  })
  return {
    shipments: () => shipments,
    hold(amountNano: bigint, hasLeft = () => false): { id: string; verdict: Promise<Verdict> } {
      const id = randomUUIDv7()
      const { tenantId: accountId, keyId, groupId } = payer
      return {
        id,
        verdict: reservations.hold({ requestId: id, accountId, keyId, groupId, amountNano, hasLeft }),
      }
    },
    async end(id: string, cost = 0n): Promise<void> {
      await bed.settle({ id, payer, cost })
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
  await expect.poll(() => bed.account(payer.tenantId), { timeout: 20_000 }).toMatchObject({ held: 0n })
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
    .poll(() => bed.database.sql`SELECT 1 FROM reservations`.then((rows) => rows.length), { timeout: 20_000 })
    .toBe(0)
  await database.close()
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
