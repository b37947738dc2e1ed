import { randomUUIDv7 } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TollgateProcess } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import {
  adminToken,
  chatBody,
  chatPath,
  type DegradationBed,
  paidKey,
  served,
  startDegradationBed,
} from './bed.ts'

/** What /readyz and GET /admin/v1/ledger say while rows wait for Postgres. */

const env = { LEDGER_LAG_MS_MAX: '1000' }
const patient = { timeout: patienceMs }

test('a process whose rows alone wait is not ready until they are shipped; the others stay ready', async () => {
  const bed = await startDegradationBed({ env })
  const other = await bed.start()
  for (const tollgate of [bed.tollgate, other])
    expect((await served(() => chat(bed, tollgate))).status).toBe(200)
  const { sql } = bed.database
  const instanceOf = async (id: string) => {
    const rows = async () =>
      await sql<{ instance_id: string }[]>`SELECT instance_id FROM journal_positions ORDER BY instance_id`
    await expect.poll(async () => (await rows()).length, patient).toBe(2)
    return (await rows()).map(({ instance_id }) => instance_id).filter((one) => one !== id)
  }
  const { journals } = await stateOf(bed)
  const [mine = ''] = (await instanceOf('')).filter((one) => journals.includes(one))

  await sql.begin(async (tx) => {
    // The shipments of this process wait for the lock.
    await tx`SELECT 1 FROM journal_positions WHERE instance_id = ${mine} FOR UPDATE`
    const load = async () => {
      await chat(bed, bed.tollgate)
      await chat(bed, other)
      return await readyz(bed, bed.tollgate)
    }
    await expect.poll(load, patient).toMatchObject({ code: 503, status: 'lagging' })
    const lagging = await readyz(bed, bed.tollgate)
    expect(lagging.unshipped_oldest_ms).toBeGreaterThan(1_000)
    expect(lagging.unshipped_rows).toBeGreaterThan(0)
    expect(lagging.journal_bytes).toBeGreaterThan(0)
    expect(await readyz(bed, other)).toMatchObject({ code: 200, status: 'ready' })
    const { status, others, unshipped } = await stateOf(bed)
    expect({ status, others }).toEqual({ status: 'lagging', others: 'moving' })
    expect(unshipped).toMatchObject({ rows: expect.any(Number), oldest_ms: expect.any(Number) })
  })
  await expect
    .poll(() => readyz(bed, bed.tollgate), patient)
    .toMatchObject({ code: 200, status: 'ready', unshipped_rows: 0, unshipped_oldest_ms: 0 })
  const alarms = bed.tollgate.stderr().split('wait for Postgres for longer than LEDGER_LAG_MS_MAX').length - 1
  expect(alarms).toBe(1)
  await expect
    .poll(() => bed.tollgate.stderr())
    .toContain('Postgres has caught up with the rows of this process')
})

test('while Postgres hangs, /readyz answers at once: 200 and degraded; the money that is held is not known', async () => {
  const bed = await startDegradationBed({ env })
  expect((await served(() => chat(bed, bed.tollgate))).status).toBe(200)
  await expect.poll(() => readyz(bed, bed.tollgate), patient).toMatchObject({ unshipped_rows: 0 })
  bed.wire.freeze()
  expect((await chat(bed, bed.tollgate)).status).toBe(200)
  await expect
    .poll(() => readyz(bed, bed.tollgate), patient)
    .toMatchObject({ code: 200, status: 'degraded', postgres: 'away' })
  // On a busy machine one of a few calls does. A call that waits for Postgres takes longer each time.
  await expect.poll(async () => (await bed.call('/readyz')).tookMs).toBeLessThan(1_000)
  expect(await stateOf(bed)).toMatchObject({
    status: 'degraded',
    postgres: 'away',
    others: 'standing',
    holds: null,
    unshipped: { rows: 1 },
  })
  await bed.wire.mend()
  await expect.poll(() => readyz(bed, bed.tollgate), patient).toMatchObject({ code: 200, status: 'ready' })
})

test('it tells held money by age, frames set aside, journals of its disk, and those that it cannot adopt', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-lag-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }))
  const [foreign, aside] = [randomUUIDv7(), `${randomUUIDv7()}-0-7`]
  const journal = join(dataDir, 'journal', foreign)
  mkdirSync(journal, { recursive: true })
  mkdirSync(join(dataDir, 'journal', `set-aside-${aside}`))
  writeFileSync(join(journal, 'owner.json'), JSON.stringify({ host: 'elsewhere', pid: 1 }))
  writeFileSync(join(journal, 'columns.json'), '{"open":')
  const bed = await startDegradationBed({ env, dataDir })
  const { sql } = bed.database
  const [account] = await sql<{ id: string }[]>`SELECT id FROM accounts WHERE limited`
  for (const [seconds, nano] of [
    [5, 10],
    [300, 20],
    [301, 30],
    [200_000, 40],
  ] as const)
    await sql`INSERT INTO reservations (request_id, account_id, instance_id, amount_nano, created_at)
      VALUES (${randomUUIDv7()}, ${account?.id ?? ''}, ${randomUUIDv7()}, ${nano}, now() - make_interval(secs => ${seconds}))`
  await sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${foreign}, 'elsewhere', 1, now(), now() - interval '1 hour', 'live') ON CONFLICT (id) DO UPDATE SET heartbeat_at = excluded.heartbeat_at`
  await expect
    .poll(() => stateOf(bed), patient)
    .toMatchObject({
      adoption: { current: null, failed: [{ instance: foreign, reason: expect.stringContaining('JSON') }] },
    })
  const state = await stateOf(bed)
  expect(state).toEqual({
    status: 'ready',
    postgres: 'reached',
    unshipped: { rows: 0, bytes: 0, oldest_ms: 0 },
    others: null,
    journal: { bytes: expect.any(Number), bytes_max: 2 ** 31, trouble: null },
    journals: expect.arrayContaining([foreign]),
    adoption: expect.anything(),
    set_aside: { count: 1, ids: [aside] },
    holds: {
      ages: [
        { under_seconds: 60, count: 1, nano_usd: '10' },
        { under_seconds: 600, count: 2, nano_usd: '50' },
        { under_seconds: 3_600, count: 0, nano_usd: '0' },
        { under_seconds: 86_400, count: 0, nano_usd: '0' },
        { under_seconds: null, count: 1, nano_usd: '40' },
      ],
      complete: true,
    },
  })
  expect(state.journals).toHaveLength(2)
  expect(await readyz(bed, bed.tollgate)).toMatchObject({ journals: 2, adopting: false, frames_set_aside: 1 })
  expect((await bed.call('/admin/v1/ledger', { key: paidKey })).status).toBe(401)
})

const chat = (bed: DegradationBed, tollgate: TollgateProcess) =>
  bed.call(chatPath, { body: chatBody, tollgate })

async function readyz(bed: DegradationBed, tollgate: TollgateProcess) {
  const { status, text } = await bed.call('/readyz', { tollgate })
  return { code: status, ...JSON.parse(text) }
}

async function stateOf(bed: DegradationBed) {
  const { text } = await bed.call('/admin/v1/ledger', { key: adminToken })
  return JSON.parse(text)
}
