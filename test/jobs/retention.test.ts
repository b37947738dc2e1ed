import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { type ImageTestbed, type Job, startImageTestbed } from '../support/image-testbed.ts'
import { png } from '../support/image-upstream.ts'
import { patienceMs } from '../support/until.ts'

let bed: ImageTestbed
afterEach(() => bed?.close())

test('a worker deletes images and jobs at the end of their retention, and no others', async () => {
  bed = await startImageTestbed({
    backend: 'postgres',
    // At shutdown the worker does not wait for the job that hangs.
    env: { IMAGE_RETENTION_HOURS: '24', IMAGE_SWEEP_MS: '50', DRAIN_ON_SHUTDOWN_MS: '500' },
  })
  const images = join(bed.api.dataDir, 'images')
  const name = 'a'.repeat(32)
  const today = new Date().toISOString().slice(0, 10)
  for (const day of ['2020-01-01', today]) {
    mkdirSync(join(images, day), { recursive: true })
    writeFileSync(join(images, day, name), png())
  }
  const [old, young, waits] = [
    await bed.submit({ prompt: 'old' }),
    await bed.submit({ prompt: 'young' }),
    await bed.submit({ prompt: 'old, and hang' }),
  ]
  for (const id of [old, young]) await bed.call(`/v1/images/generations/${id}`, { method: 'DELETE' })
  await bed.database.sql`UPDATE jobs SET created_at = '2020-01-01' WHERE id IN (${old}, ${waits})`
  await bed.startWorker()
  await vi.waitFor(
    async () => {
      expect((await bed.call(`/v1/images/generations/${old}`)).status).toBe(404)
      expect(existsSync(join(images, '2020-01-01'))).toBe(false)
    },
    { timeout: patienceMs, interval: 20 },
  )
  expect(readdirSync(join(images, today))).toContain(name)
  const kept = (await (await bed.call('/v1/images/generations')).json()) as { data: Job[] }
  expect(kept.data.map(({ id }) => id).sort()).toEqual([young, waits].sort())
}, 180_000)

test('a deleted image is reported as deleted, and its job can still be read', async () => {
  bed = await startImageTestbed({ backend: 'postgres', role: 'all' })
  const id = await bed.submit({ prompt: 'kept for a while' })
  const job = await bed.ended(id)
  const url = job.result?.data[0]?.url ?? ''
  expect((await fetch(url)).status).toBe(200)
  const { fileStorage } = await import('../../src/storage/files.ts')
  const storage = fileStorage({ directory: join(bed.api.dataDir, 'images') })
  expect(await storage.removeBefore(new Date(Date.now() + 48 * 3_600_000))).toBe(1)
  expect((await fetch(url)).status).toBe(404)
  expect(await bed.ended(id)).toMatchObject({ status: 'succeeded' })
}, 180_000)
