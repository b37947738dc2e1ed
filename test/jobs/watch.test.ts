import { randomUUIDv7 } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { followJob } from '../../src/images/follow-job.ts'
import type { Job } from '../../src/jobs/job.ts'
import { JobWatch } from '../../src/jobs/watch.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { patienceMs, untilSteady } from '../support/until.ts'
import { anEnding, claimed, type JobBed, startJobBed } from './job-bed.ts'

let bed: JobBed
const watches: JobWatch[] = []
const patient = { timeout: patienceMs, interval: 5 }
beforeAll(async () => {
  bed = await startJobBed()
})
afterEach(async () => {
  await Promise.all(watches.splice(0).map((watch) => watch.end()))
})
afterAll(() => bed?.close())

/** A watch that counts its reads. They fail while `broken` is true. */
function aWatch(sweepMs: number, listens = true) {
  const state = { reads: 0, broken: false, said: [] as string[] }
  const watch = new JobWatch({
    jobs: {
      read(ids) {
        state.reads++
        return state.broken ? Promise.reject(new Error('away')) : bed.jobs.read(ids)
      },
    },
    database: listens ? bed.database : { listen: () => async () => {} },
    sweepMs,
    log: relayLog((_level, _fields, message) => void state.said.push(message)),
  })
  watches.push(watch)
  return { watch, state }
}

const hourMs = 3_600_000
/** The reads of a watch that sweeps every 5 ms. */
const twentySweepsMs = 100

test('each change arrives by its notification, long before the sweep', async () => {
  const { watch } = aWatch(hourMs)
  const id = await bed.aJob()
  const seen: string[] = []
  watch.watch(id, ({ state }) => seen.push(state))
  await vi.waitFor(() => expect(seen).toContain('queued'), patient)
  const { lease, job } = claimed(await bed.jobs.claim(id))
  await vi.waitFor(() => expect(seen).toContain('running'), patient)
  await bed.jobs.finish(lease, 'running', job, anEnding())
  await vi.waitFor(() => expect(seen.at(-1)).toBe('succeeded'), patient)
  expect([...seen].sort((a, b) => order.indexOf(a) - order.indexOf(b))).toEqual(seen)
})

const order = ['queued', 'running', 'succeeded']

test('without notifications the sweep finds a change, even after failed reads', async () => {
  const { watch, state } = aWatch(20, false)
  const id = await bed.aJob()
  const seen: Job[] = []
  state.broken = true
  watch.watch(id, (job) => seen.push(job))
  await vi.waitFor(() => expect(state.reads).toBeGreaterThan(2), patient)
  expect(seen).toEqual([])
  state.broken = false
  await vi.waitFor(() => expect(seen.at(-1)?.state).toBe('queued'), patient)
  claimed(await bed.jobs.claim(id))
  await vi.waitFor(() => expect(seen.at(-1)?.state).toBe('running'), patient)
})

test('a watcher that has left gets no more calls, and without watchers there are no reads', async () => {
  const { watch, state } = aWatch(5, false)
  const id = await bed.aJob()
  const seen: string[][] = [[], []]
  const leave = seen.map((mine) => watch.watch(id, (job) => mine.push(job.state)))
  await vi.waitFor(() => expect(seen.every((mine) => mine.length > 2)).toBe(true), patient)
  leave[0]?.()
  const readsBefore = seen[0]?.length
  const [first, second] = seen
  const before = second?.length ?? 0
  await vi.waitFor(() => expect(second?.length).toBeGreaterThan(before + 2), patient)
  expect(first?.length).toBe(readsBefore)
  leave[1]?.()
  leave[1]?.()
  await untilSteady(() => state.reads, twentySweepsMs)
})

test('followJob ends with the job or with the signal, and leaves no watcher behind', async () => {
  const { watch, state } = aWatch(5, false)
  const gateway = { jobWatch: watch }
  const id = await bed.aJob()
  const gone = new AbortController()
  const left = followJob(gateway, id, gone.signal)
  const stays = followJob(gateway, id, new AbortController().signal)
  gone.abort()
  expect(await left).toBeUndefined()
  expect(await followJob(gateway, id, gone.signal)).toBeUndefined()
  const { lease, job } = claimed(await bed.jobs.claim(id))
  await bed.jobs.finish(lease, 'running', job, anEnding())
  expect((await stays)?.state).toBe('succeeded')
  await untilSteady(() => state.reads, twentySweepsMs)
})

test('followJob waits for an unknown job until the signal comes', async () => {
  const { watch, state } = aWatch(5, false)
  const gone = new AbortController()
  const following = followJob({ jobWatch: watch }, randomUUIDv7(), gone.signal)
  await vi.waitFor(() => expect(state.reads).toBeGreaterThan(2), patient)
  gone.abort()
  expect(await following).toBeUndefined()
})
