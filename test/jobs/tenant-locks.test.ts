import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase } from '../support/database.ts'
import { patienceMs } from '../support/until.ts'
import { type JobBed, newJob, startJobBed } from './job-bed.ts'

/** What others may do while one call waits for the lock of a tenant's jobs. */

let bed: JobBed
let other: Database
beforeEach(async () => {
  bed = await startJobBed(1)
  other = openDatabase(bed.url, { max: 1 })
})
afterEach(async () => {
  await other.close()
  await bed.close()
})

const first = '00000000-0000-7000-8000-000000000001'
const second = '00000000-0000-7000-8000-000000000002'

const waiting = () =>
  expect
    .poll(
      async () =>
        (
          await bed.database.sql`SELECT 1 FROM pg_stat_activity
            WHERE datname = current_database() AND wait_event = 'advisory'`
        ).length,
      { timeout: patienceMs },
    )
    .toBe(1)

test('the sweep locks one tenant at a time', async () => {
  for (const tenantId of [first, second]) {
    await bed.aJob({ tenantId })
    await bed.aJob({ tenantId })
  }
  await bed.database.sql`UPDATE jobs SET enqueued_at = NULL`
  await other.sql`SELECT pg_advisory_lock(hashtextextended(${second}, 7023913))`
  const swept = bed.jobs.sweep(60_000)
  await waiting()
  const [free] = await other.sql`SELECT pg_try_advisory_lock(hashtextextended(${first}, 7023913)) AS is`
  expect(free).toEqual({ is: true })
  await other.sql`SELECT pg_advisory_unlock_all()`
  expect(await swept).toHaveLength(2)
})

test("a tenant's waiting jobs are counted before its lock, and under it near the bound only", async () => {
  await bed.aJob({ tenantId: first })
  const accept = async (waitingMax: number) => {
    const { opened } = newJob({ tenantId: first })
    const job = {
      id: opened.id,
      tenant_id: first,
      key_id: second,
      group_id: second,
      priority: 0,
      model: 'draw',
      quote: '{}',
      opened: '{}',
    }
    const [row] = await bed.database.sql`
      SELECT verdict FROM accept_job(${JSON.stringify(job)}::text::jsonb, NULL, NULL, NULL, 1, ${waitingMax}::integer)`
    return row?.verdict
  }
  await other.sql`SELECT pg_advisory_lock(hashtextextended(${first}, 7023913))`
  const accepted = accept(1_500)
  await waiting()
  // They would decide, if they were counted now.
  await other.sql`INSERT INTO jobs (id, tenant_id, key_id, group_id, state, priority, model, quote, opened, created_at)
    SELECT gen_random_uuid(), ${first}, ${second}, ${second}, 'queued', 0, 'draw', '{}', '{}', now()
    FROM generate_series(1, 1500)`
  await other.sql`SELECT pg_advisory_unlock_all()`
  expect(await accepted).toBe('accepted')
  expect(await accept(1_500)).toBe('full')
  expect(await accept(1_502)).toBe('accepted')
  // Near the bound others may come first.
  await other.sql`SELECT pg_advisory_lock(hashtextextended(${first}, 7023913))`
  const late = accept(1_503)
  await waiting()
  await other.sql`INSERT INTO jobs (id, tenant_id, key_id, group_id, state, priority, model, quote, opened, created_at)
    VALUES (gen_random_uuid(), ${first}, ${second}, ${second}, 'queued', 0, 'draw', '{}', '{}', now())`
  await other.sql`SELECT pg_advisory_unlock_all()`
  expect(await late).toBe('full')
})
