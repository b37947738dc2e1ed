import { expect, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { holdsFor, patienceMs, until } from '../support/until.ts'
import {
  bounds,
  chatBody,
  chatPath,
  type DegradationBed,
  expectRows,
  freeKey,
  messages,
  paidKey,
  served,
  startDegradationBed,
} from './bed.ts'

const breaks = amount('WIRE_BREAKS', { test: 1, chaos: 20 })
const images = '/v1/images/generations'
/** No request in these tests may take longer. A hang does. */
const hangMs = 20_000

test('a network that forgets, swallows and cuts connections under load loses no row and books none twice', {
  timeout: 60_000 + breaks * 15_000,
}, async () => {
  const bed = await startDegradationBed()
  const { wire } = bed
  let loading = true
  const ids: string[] = []
  const statuses = new Set<number>()
  const load = async (key: string) => {
    while (loading) {
      const answer = await bed.call(chatPath, { body: chatBody, key })
      if (key === freeKey) expect(answer.status).toBe(200)
      expect([200, 503]).toContain(answer.status)
      expect(answer.tookMs).toBeLessThan(hangMs)
      statuses.add(answer.status)
      ids.push(answer.requestId)
    }
  }
  for (const key of [freeKey, paidKey])
    expect((await served(() => bed.call(chatPath, { body: chatBody, key }))).status).toBe(200)
  const running = Promise.all([freeKey, freeKey, paidKey, paidKey].map(load))
  // The first breaks happen while the process writes.
  for (let turn = 0; turn < breaks; turn++) {
    await untilReached(bed)
    if (turn % 4 === 0) wire.forget()
    else if (turn % 4 === 1) wire.freeze()
    else if (turn % 4 === 2) await wire.cut()
    else {
      wire.freeze()
      await untilAway(bed)
      wire.forget()
    }
    await untilAway(bed)
    await wire.mend()
  }
  await untilReached(bed)
  loading = false
  await running
  expect(statuses).toEqual(new Set([200, 503]))
  await expectRows(bed.database, ids)
  expect(await bed.tollgate.stop()).toBe(0)
  expect(bed.tollgate.stderr()).not.toContain('shipped by another process')
  await expectTruth(bed)
})

test('connections that break at any moment of their start do not end a process', async () => {
  const bed = await startDegradationBed()
  for (const key of [freeKey, paidKey])
    expect((await served(() => bed.call(chatPath, { body: chatBody, key }))).status).toBe(200)
  for (const bytes of [1, 100, 300, 500, 700, 1_000, 2_000, 5_000]) {
    bed.wire.breakAfter(bytes)
    bed.wire.drop()
    const made = bed.wire.made
    await expect.poll(() => bed.wire.made, { timeout: hangMs, interval: 5 }).toBeGreaterThan(made + 3)
    expect((await bed.call(chatPath, { body: chatBody })).status).toBe(200)
  }
  bed.wire.breakAfter(undefined)
  await untilReached(bed)
  await expect
    .poll(async () => (await bed.call(chatPath, { body: chatBody, key: paidKey })).status, {
      timeout: hangMs,
    })
    .toBe(200)
  expect(bed.tollgate.child.exitCode).toBe(null)
})

test('a revoked key is served while Postgres cannot be reached, and refused within a second of its return', async () => {
  const bed = await startDegradationBed()
  const ask = async () => (await bed.call(chatPath, { body: chatBody })).status
  await until(async () => (await ask()) === 200)
  bed.wire.freeze()
  await bed.database.sql`UPDATE keys SET disabled_at = now() WHERE name = 'free'`
  // Longer than the delay with which a process learns of changed keys while Postgres works.
  await holdsFor(2_000, async () => expect(await ask()).toBe(200))
  await bed.wire.mend()
  await until(async () => (await ask()) === 401, 6_000)
  expect((await bed.call(chatPath, { body: chatBody, key: paidKey })).status).not.toBe(401)
})

test('a revoked key is refused even if the network has forgotten every connection', async () => {
  const bed = await startDegradationBed()
  const ask = async () => (await bed.call(chatPath, { body: chatBody })).status
  await until(async () => (await ask()) === 200)
  bed.wire.forget()
  await bed.database.sql`UPDATE keys SET disabled_at = now() WHERE name = 'free'`
  await until(async () => (await ask()) === 401, 6_000)
})

test('a slow Postgres slows down only the requests that wait for it', async () => {
  const bed = await startDegradationBed({ env: { ADMIT_MS: '20000' } })
  for (const key of [freeKey, paidKey])
    expect((await served(() => bed.call(chatPath, { body: chatBody, key }))).status).toBe(200)
  const delayMs = 150
  bed.wire.slow(delayMs)
  const [free, paid, image, usage] = await Promise.all([
    bed.call(chatPath, { body: chatBody }),
    served(() => bed.call(chatPath, { body: chatBody, key: paidKey })),
    served(() =>
      bed.call(images, { body: { model: 'draw', prompt: 'slowly' }, headers: { prefer: 'respond-async' } }),
    ),
    served(() => bed.call('/v1/usage/requests')),
  ])
  expect([free.status, paid.status, image.status, usage.status]).toEqual([200, 200, 202, 200])
  expect(paid.elapsedMs).toBeGreaterThan(delayMs)
  expect((await bed.call('/readyz')).json).toMatchObject({ status: 'ready', postgres: 'reached' })
  await bed.wire.mend()
  await expectRows(bed.database, [free.requestId, paid.requestId])
})

test("when Postgres goes away, a client that waits for images gets the job's address, and can follow the job to its end later", async () => {
  const bed = await startDegradationBed({ env: { ADMIT_MS: '5000', IMAGE_LEASE_MS: '3000' } })
  bed.painter.hold()
  const body = { model: 'draw', prompt: 'waits held' }
  const waiting = bed.call(images, { body })
  await expect.poll(() => bed.painter.running(), { timeout: patienceMs }).toBe(1)
  const [job] = await bed.database.sql<{ id: string }[]>`SELECT id FROM jobs`
  const events = await fetch(`${bed.tollgate.url}${images}/${job?.id}/events`, {
    headers: { authorization: `Bearer ${freeKey}` },
  })
  bed.wire.freeze()
  const answer = await waiting
  expect(answer.status).toBe(202)
  expect(answer.tookMs).toBeLessThan(bounds.IMAGE_WAIT_MS + bounds.ADMIT_MS + hangMs)
  expect(answer.text).toContain(job?.id)
  bed.painter.release()
  await expect.poll(() => bed.painter.running(), { timeout: patienceMs }).toBe(0)
  await bed.wire.mend()
  expect(await events.text()).toContain('event: succeeded')
  expect((await bed.call(`${images}/${job?.id}`)).json).toMatchObject({ status: 'succeeded' })
})

test('SIGTERM ends a process that cannot reach Postgres, with complete answers, and the next process ships its rows', async () => {
  const bed = await startDegradationBed()
  expect((await served(() => bed.call(chatPath, { body: chatBody }))).status).toBe(200)
  bed.wire.freeze()
  const short = bed.call(chatPath, { body: { model: 'priced', stream: true, messages } })
  const { requestId, status } = await short
  expect(status).toBe(200)
  const watch = startStopwatch()
  expect([0, 1]).toContain(await bed.tollgate.stop())
  expect(watch.ms).toBeLessThan(bounds.DRAIN_ON_SHUTDOWN_MS + 25_000 + 5_000)
  await bed.wire.mend()
  await bed.start({}, bed.tollgate.dataDir)
  await expectRows(bed.database, [requestId])
  await expectTruth(bed)
})

test('a start waits DATABASE_WAIT_MS for Postgres, then ends with an error that names the database', async () => {
  const bed = await startDegradationBed()
  bed.wire.freeze()
  const watch = startStopwatch()
  await expect(bed.start({ DATABASE_WAIT_MS: '1500' })).rejects.toThrow('cannot use the database')
  expect(watch.ms).toBeLessThan(1_500 + hangMs)
  const made = bed.wire.made
  const patient = bed.start({ DATABASE_WAIT_MS: '30000' })
  await expect.poll(() => bed.wire.made).toBeGreaterThan(made)
  await bed.wire.mend()
  const tollgate = await patient
  expect((await served(() => bed.call(chatPath, { body: chatBody, tollgate }))).status).toBe(200)
})

function untilAway(bed: DegradationBed): Promise<void> {
  return expect
    .poll(async () => (await bed.call('/readyz')).json, { timeout: hangMs, interval: 20 })
    .toMatchObject({ postgres: 'away' })
}

function untilReached(bed: DegradationBed): Promise<void> {
  return expect
    .poll(async () => (await bed.call('/readyz')).json, { timeout: hangMs, interval: 20 })
    .toMatchObject({ postgres: 'reached' })
}

async function expectTruth({ database }: DegradationBed): Promise<void> {
  const found = async () => {
    const { findings } = await verifyLedger(database.sql)
    return findings.filter(({ differences }) => differences > 0)
  }
  await expect.poll(found, { timeout: hangMs }).toEqual([])
}
