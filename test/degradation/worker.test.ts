import { expect, test } from 'vitest'
import { patienceMs } from '../support/until.ts'
import { bounds, expectEnd, revokeColdKey, startDegradationBed } from './bed.ts'

const images = '/v1/images/generations'

test("without a worker a client gets the job's address after IMAGE_WAIT_MS, and a frozen worker loses its job to another", async () => {
  const bed = await startDegradationBed({ env: { ROLE: 'api', IMAGE_LEASE_MS: '1000' } })
  const waited = await bed.call(images, { body: { model: 'draw', prompt: 'first held' } })
  expect(waited.status).toBe(202)
  expect(waited.elapsedMs).toBeGreaterThanOrEqual(bounds.IMAGE_WAIT_MS - 50)
  expect((await bed.call(`${images}/${waited.requestId}`)).json).toMatchObject({ status: 'queued' })
  await revokeColdKey(bed)

  bed.painter.hold()
  const frozen = await bed.start({ ROLE: 'worker' }, bed.tollgate.dataDir)
  await expect.poll(() => bed.painter.running(), { timeout: patienceMs }).toBe(1)
  process.kill(frozen.pid, 'SIGSTOP')
  const other = await bed.start({ ROLE: 'worker' }, bed.tollgate.dataDir)
  await expect.poll(() => bed.painter.count('first held'), { timeout: patienceMs }).toBe(2)
  bed.painter.release()
  const job = async () => (await bed.call(`${images}/${waited.requestId}`)).json
  await expect.poll(job, { timeout: patienceMs }).toMatchObject({ status: 'succeeded' })
  const first = await job()
  // The frozen worker continues, and changes nothing.
  process.kill(frozen.pid, 'SIGCONT')
  const next = await bed.call(images, { body: { model: 'draw', prompt: 'second' } })
  expect([200, 202]).toContain(next.status)
  expect(await bed.database.sql`SELECT id FROM requests WHERE id = ${waited.requestId}`).toHaveLength(1)
  expect(await job()).toMatchObject({ attempts: (first as { attempts: unknown[] }).attempts })
  expect(await other.stop()).toBe(0)
})

test('an image job whose result Postgres refuses for what it is fails, with a row that says so', async () => {
  const bed = await startDegradationBed()
  await bed.database.sql.unsafe(`CREATE FUNCTION refuse_result() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF new.outcome = 'succeeded' AND new.endpoint LIKE '%images%' THEN
        RAISE EXCEPTION 'a value that no column takes' USING ERRCODE = 'check_violation';
      END IF;
      RETURN new;
    END $$`)
  await bed.database.sql`CREATE TRIGGER refuse_result BEFORE INSERT ON requests
    FOR EACH ROW EXECUTE FUNCTION refuse_result()`
  const accepted = await bed.call('/v1/images/generations', {
    body: { model: 'draw', prompt: 'refused' },
    headers: { prefer: 'respond-async' },
  })
  expect(accepted.status).toBe(202)
  const rows = () => bed.database.sql`SELECT outcome, error_reason, cost_nano FROM requests`
  await expect
    .poll(rows, { timeout: patienceMs })
    .toEqual([{ outcome: 'failed', error_reason: 'image_result_unrecorded', cost_nano: '0' }])
  expect(await bed.database.sql`SELECT state FROM jobs`).toEqual([{ state: 'failed' }])
})

test('a process ends in time while its work on erasures waits for a lock', async () => {
  const bed = await startDegradationBed()
  const { sql } = bed.database
  await sql.begin(async (tx) => {
    await tx`LOCK TABLE erasures`
    const waiting = () => sql`
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%erasures%'`
    await expect.poll(waiting).toHaveLength(1)
    await expectEnd(bed)
  })
})
