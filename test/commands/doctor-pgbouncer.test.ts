import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../support/database.ts'
import { type DoctorBed, startDoctorBed } from '../support/doctor-bed.ts'
import { startPgBouncer } from '../support/pgbouncer.ts'

let bed: DoctorBed
beforeAll(async () => {
  bed = await startDoctorBed()
})
afterAll(() => bed.close())

const leavesOut =
  'ignore_startup_parameters = plan_cache_mode,jit,statement_timeout,max_parallel_workers_per_gather'

async function diagnose(mode: 'transaction' | 'session', ...settings: string[]) {
  const bouncer = await startPgBouncer(bed.databaseUrl, { mode, settings })
  onTestFinished(() => bouncer.stop())
  return await bed.diagnose({ DATABASE_URL: bouncer.url })
}

test.each([
  ['also where it leaves our settings out', [leavesOut]],
  ['also where it refuses our settings', []],
])('PgBouncer in transaction mode is wrong, %s', async (_, settings) => {
  const found = await diagnose('transaction', ...settings)
  expect(found.wrong, found.text).toEqual(['database.pooler'])
  expect(found.finding('database.pooler')?.what).toContain('transaction mode')
})

test('PgBouncer in session mode is well where it leaves our settings out, and says how where it refuses them', async () => {
  const well = await diagnose('session', leavesOut)
  expect(well.wrong, well.text).toEqual([])
  const refused = await diagnose('session')
  expect(refused.wrong, refused.text).toEqual(['database.pooler_settings'])
  expect(refused.finding('database.pooler_settings')?.run).toContain('plan_cache_mode')
})

test('DATABASE_POOLER_URL is looked at: well before the same database, wrong where it is down or leads to another one', async () => {
  const bouncer = await startPgBouncer(bed.databaseUrl, { mode: 'transaction' })
  onTestFinished(() => bouncer.stop())
  const well = await bed.diagnose({ DATABASE_POOLER_URL: bouncer.url })
  expect(well.wrong, well.text).toEqual([])
  expect(well.finding('database.pooler_url')).toMatchObject({ verdict: 'well' })
  // Its share of the connections goes to the pool.
  expect(well.finding('database.connections')?.what).toMatch(/^at most 25 of/)

  const other = await freshDatabase()
  onTestFinished(other.drop)
  const elsewhere = new URL(bouncer.url)
  elsewhere.pathname = new URL(other.url).pathname
  const found = await bed.diagnose({ DATABASE_POOLER_URL: elsewhere.href })
  expect(found.wrong, found.text).toEqual(['database.pooler_url'])
  expect(found.finding('database.pooler_url')?.what).toContain('a database other than DATABASE_URL')

  const away = await bed.diagnose({ DATABASE_POOLER_URL: 'postgres://me:hunter2@127.0.0.1:9/x' })
  expect(away.wrong, away.text).toEqual(['database.pooler_url'])
  expect(away.finding('database.pooler_url')?.why).toContain('nothing listens at 127.0.0.1:9')
  expect(away.text).not.toContain('hunter2')
})
