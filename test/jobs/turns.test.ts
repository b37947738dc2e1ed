import { afterEach, describe, expect, test, vi } from 'vitest'
import { amount } from '../support/amount.ts'
import {
  type ImageTestbed,
  imagesYaml,
  otherKey,
  paidKey,
  startImageTestbed,
} from '../support/image-testbed.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { patienceMs } from '../support/until.ts'

const manyJobs = amount('TENANT_JOBS', { test: 100, chaos: 10_000 })
const patient = { timeout: patienceMs, interval: 10 }

describe.each(queueBackends())('the turns of tenants, queue on %s', (backend) => {
  let bed: ImageTestbed
  afterEach(() => bed?.close())

  /** The place of a prompt's first call among all calls. */
  const placeOf = (prompt: string) => bed.upstream.calls.findIndex(({ body }) => body.prompt === prompt)

  test(`a tenant with one job waits for six of another’s ${manyJobs} at most, and one with priority for fewer`, async () => {
    bed = await startImageTestbed({ backend })
    const waiting = Array.from({ length: manyJobs }, (_, i) => `many ${i}`)
    const submitAll = async () => {
      for (let prompt = waiting.pop(); prompt !== undefined; prompt = waiting.pop())
        await bed.submit({ prompt })
    }
    await Promise.all(Array.from({ length: 10 }, submitAll))
    await bed.startWorker({ IMAGE_CONCURRENCY: '1' })
    await vi.waitFor(() => expect(bed.upstream.calls.length).toBeGreaterThan(5), patient)

    const single = await bed.submit({ prompt: 'single' }, paidKey)
    const before = bed.upstream.calls.length
    await bed.ended(single, paidKey)
    expect(placeOf('single') - before).toBeLessThanOrEqual(6)

    const urgent = await bed.submit({ prompt: 'urgent' }, otherKey)
    const then = bed.upstream.calls.length
    await bed.ended(urgent, otherKey)
    // It is the first of the waiting jobs: only running and just claimed jobs come before it.
    expect(placeOf('urgent') - then).toBeLessThanOrEqual(2)
  }, 600_000)

  test('two workers together never exceed the concurrency of a channel, and no job fails because it waits', async () => {
    const yaml = (url: string) =>
      imagesYaml(url).replace(
        '    models: { draw: upstream-draw }\n',
        '    models: { draw: upstream-draw }\n    images: { concurrency: 2 }\n',
      )
    bed = await startImageTestbed({ backend, yaml, env: { IMAGE_RUNS_MAX: '1' } })
    const ids = await Promise.all(
      Array.from({ length: 10 }, (_, i) => bed.submit({ prompt: `busy ${i} delay:250` })),
    )
    await Promise.all([bed.startWorker(), bed.startWorker()])
    for (const id of ids) expect(await bed.ended(id)).toMatchObject({ status: 'succeeded' })
    expect(bed.upstream.peak()).toBe(2)
    expect(bed.upstream.calls.length).toBe(10)
    expect(await bed.differences()).toEqual([])
  }, 180_000)
})
