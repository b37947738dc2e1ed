import { expect, test } from 'vitest'
import { bounds, revokeColdKey, startDegradationBed } from './bed.ts'

const images = '/v1/images/generations'

test("without a worker a client gets the job's address after IMAGE_WAIT_MS, and a frozen worker loses its job to another", async () => {
  const bed = await startDegradationBed({ env: { ROLE: 'api', IMAGE_LEASE_MS: '1000' } })
  const waited = await bed.call(images, { body: { model: 'draw', prompt: 'first held' } })
  expect(waited.status).toBe(202)
  expect(waited.tookMs).toBeGreaterThanOrEqual(bounds.IMAGE_WAIT_MS - 50)
  expect((await bed.call(`${images}/${waited.requestId}`)).json).toMatchObject({ status: 'queued' })
  await revokeColdKey(bed)

  bed.painter.hold()
  const frozen = await bed.start({ ROLE: 'worker' }, bed.tollgate.dataDir)
  await expect.poll(() => bed.painter.running(), { timeout: 20_000 }).toBe(1)
  process.kill(frozen.pid, 'SIGSTOP')
  const other = await bed.start({ ROLE: 'worker' }, bed.tollgate.dataDir)
  await expect.poll(() => bed.painter.count('first held'), { timeout: 30_000 }).toBe(2)
  bed.painter.release()
  const job = async () => (await bed.call(`${images}/${waited.requestId}`)).json
  await expect.poll(job, { timeout: 20_000 }).toMatchObject({ status: 'succeeded' })
  const first = await job()
  // The frozen worker continues, and changes nothing.
  process.kill(frozen.pid, 'SIGCONT')
  const next = await bed.call(images, { body: { model: 'draw', prompt: 'second' } })
  expect([200, 202]).toContain(next.status)
  expect(await bed.database.sql`SELECT id FROM requests WHERE id = ${waited.requestId}`).toHaveLength(1)
  expect(await job()).toMatchObject({ attempts: (first as { attempts: unknown[] }).attempts })
  expect(await other.stop()).toBe(0)
})
