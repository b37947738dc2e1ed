import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { sentenceOf } from '../../src/canonical/reasons/catalogue.ts'
import { freeKey, type ImageTestbed, type Job, makeImageTestbed } from '../support/image-testbed.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'

const patient = { timeout: patienceMs, interval: 10 }
const path = '/v1/images/generations'

describe.each(queueBackends())('processes that shut down, queue on %s', (backend) => {
  let bed: ImageTestbed<TollgateProcess>
  beforeAll(async () => {
    bed = await makeImageTestbed(startTollgate, { backend })
  })
  afterAll(() => bed?.close())

  let worker: TollgateProcess | undefined
  const theWorker = async () => {
    worker ??= await bed.startWorker()
    return worker
  }
  /** Stops the worker, and resolves with its exit code. The next `theWorker` starts another one. */
  const endWorker = () => {
    const ended = worker?.stop()
    worker = undefined
    return ended
  }

  test('when an API process ends, a waiting client gets 202 with the job, and a follower gets the last event', async () => {
    const api = await bed.startApi({ DRAIN_ON_SHUTDOWN_MS: '300' })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${freeKey}` }
    const body = JSON.stringify({ model: 'draw', prompt: 'waits' })
    const waiting = fetch(`${api.url}${path}`, { method: 'POST', headers, body })
    const stream = await fetch(`${api.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: 'draw', prompt: 'streams', stream: true }),
    })
    const streamed = stream.text()
    const idOf = (prompt: string) =>
      vi.waitFor(async () => {
        const jobs = await bed.database.sql<
          { id: string }[]
        >`SELECT id FROM jobs WHERE body LIKE ${`%${prompt}%`}`
        expect(jobs).toHaveLength(1)
        return jobs[0]?.id ?? ''
      }, patient)
    const id = await idOf('waits')
    const followed = (await fetch(`${api.url}${path}/${id}/events`, { headers })).text()
    expect(await api.stop()).toBe(0)
    const answer = await waiting
    expect(answer.status).toBe(202)
    expect(await answer.json()).toMatchObject({ id, status: 'queued' })
    expect(await followed).toMatch(/^event: queued\n/)
    expect(await streamed).toContain(sentenceOf('images_made_while_draining', { id: await idOf('streams') }))
    await theWorker()
    expect(await bed.ended(id)).toMatchObject({ status: 'succeeded' })
    const ids = await bed.database.sql<{ id: string }[]>`SELECT id FROM jobs`
    for (const one of ids) expect(await bed.ended(one.id)).toMatchObject({ status: 'succeeded' })
    await endWorker()
  }, 180_000)

  test('a follower that has left does not delay the shutdown', async () => {
    const api = await bed.startApi({ DRAIN_ON_SHUTDOWN_MS: '50000' })
    const gone = new AbortController()
    const id = await bed.submit({ prompt: 'never made' })
    const headers = { authorization: `Bearer ${freeKey}` }
    const answer = await fetch(`${api.url}${path}/${id}/events`, { headers, signal: gone.signal })
    await answer.body?.getReader().read()
    gone.abort()
    const began = Date.now()
    expect(await api.stop()).toBe(0)
    expect(Date.now() - began).toBeLessThan(30_000)
    await bed.call(`${path}/${id}`, { method: 'DELETE' })
  }, 180_000)

  test('a worker ends when its job has ended, and calls the upstream once', async () => {
    const ending = await theWorker()
    bed.upstream.hold()
    const id = await bed.submit({ prompt: 'held at the end' })
    await vi.waitFor(() => expect(bed.upstream.running()).toBe(1), patient)
    const waits = await bed.submit({ prompt: 'comes too late' })
    const ended = endWorker()
    await vi.waitFor(() => expect(ending.stderr() + ending.stdout()).toContain('draining'), patient)
    bed.upstream.release()
    expect(await ended).toBe(0)
    expect(await bed.ended(id)).toMatchObject({ status: 'succeeded' })
    expect(bed.upstream.count('held at the end')).toBe(1)
    await theWorker()
    expect(await bed.ended(waits)).toMatchObject({ status: 'succeeded' })
    expect(bed.upstream.count('comes too late')).toBe(1)
  }, 180_000)

  test('the next worker runs a job that failed while its worker ended', async () => {
    const ending = await theWorker()
    bed.upstream.hold()
    const id = await bed.submit({ prompt: 'held fail-first:1' })
    await vi.waitFor(() => expect(bed.upstream.running()).toBe(1), patient)
    const ended = endWorker()
    await vi.waitFor(() => expect(ending.stderr() + ending.stdout()).toContain('draining'), patient)
    bed.upstream.release()
    expect(await ended).toBe(0)
    const job = (await (await bed.call(`${path}/${id}`)).json()) as Job
    expect(job).toMatchObject({ status: 'queued', attempts: [{ status: 500 }] })
    await theWorker()
    expect(await bed.ended(id)).toMatchObject({ status: 'succeeded' })
  }, 180_000)
})
