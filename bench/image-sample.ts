import { setTimeout as sleep } from 'node:timers/promises'
import { type ImageDrive, submitImages } from './image-load.ts'
import type { ImageCpu, ImageRig } from './image-rig.ts'
import { percentile } from './percentile.ts'

/** One scenario on one rig. Times in milliseconds. */
export interface ImageSample {
  jobs: number
  jobsPerSecond: number
  submit: Spread
  /** From the row's creation until a worker claimed the job. */
  queue: Spread
  /** From the claim to the end. */
  run: Spread
  cpuUsPerJob: ImageCpu
  /** The faults that make the figures void. */
  faults: string[]
}

export interface Spread {
  p50: number
  p99: number
}

/** Submit jobs, wait until the last one has ended, and read their times from the database. */
export async function sampleImages(rig: ImageRig, model: string, drive: ImageDrive): Promise<ImageSample> {
  await rig.upstreamCalls()
  const before = rig.cpuUs()
  const { ids, latenciesMs, errors, firstAt } = await submitImages(rig.origin, rig.keys, model, drive)
  await allEnded(rig)
  await sleep(settleMs)
  const after = rig.cpuUs()
  const jobs = await rig.sql<EndedJob[]>`
    SELECT state, error, fence, extract(epoch FROM started_at - created_at)::float8 * 1000 AS queue_ms,
      extract(epoch FROM finished_at - started_at)::float8 * 1000 AS run_ms,
      extract(epoch FROM finished_at)::float8 * 1000 AS ended_at
    FROM jobs WHERE id = ANY (${ids}::uuid[])`
  const lastAt = jobs.reduce((latest, job) => Math.max(latest, job.ended_at), firstAt)
  const share = (of: keyof ImageCpu) => (after[of] - before[of]) / ids.length
  return {
    jobs: ids.length,
    jobsPerSecond: (ids.length * 1000) / (lastAt - firstAt),
    submit: spreadOf(latenciesMs),
    queue: spreadOf(jobs.map((job) => job.queue_ms)),
    run: spreadOf(jobs.map((job) => job.run_ms)),
    cpuUsPerJob: {
      api: share('api'),
      workers: share('workers'),
      postgres: share('postgres'),
      redis: share('redis'),
    },
    faults: [...faultsOf(errors), ...faultsOfJobs(ids.length, jobs, await rig.upstreamCalls())],
  }
}

/** The CPU time of idle processes: microseconds in a second. */
export async function sampleIdle(rig: ImageRig, durationMs: number): Promise<ImageCpu> {
  const before = rig.cpuUs()
  await sleep(durationMs)
  const after = rig.cpuUs()
  const share = (of: keyof ImageCpu) => ((after[of] - before[of]) * 1000) / durationMs
  return { api: share('api'), workers: share('workers'), postgres: share('postgres'), redis: share('redis') }
}

interface EndedJob {
  state: string
  error: string | null
  fence: number
  queue_ms: number
  run_ms: number
  ended_at: number
}

/** When the rows of the last jobs have ended, the queue still has work to do for them. */
const settleMs = 500
const pollMs = 250
const stuckMs = 60_000

/** Rejects when no job has ended for a minute. */
async function allEnded({ sql }: ImageRig): Promise<void> {
  let least = Number.POSITIVE_INFINITY
  let leastAt = Date.now()
  for (;;) {
    const [row] = await sql<{ open: number }[]>`
      SELECT count(*)::int AS open FROM jobs WHERE state IN ('queued', 'running')`
    const open = row?.open ?? 0
    if (open === 0) return
    if (open < least) {
      least = open
      leastAt = Date.now()
    }
    if (Date.now() - leastAt > stuckMs)
      throw new Error(`${open} jobs have not ended, and none did in the last minute`)
    await sleep(pollMs)
  }
}

function faultsOf(errors: Readonly<Record<string, number>>): string[] {
  return Object.entries(errors).map(([error, count]) => `${count} x ${error}`)
}

function faultsOfJobs(wanted: number, jobs: readonly EndedJob[], upstreamCalls: number): string[] {
  const errors: Record<string, number> = {}
  for (const { state, error } of jobs) {
    if (state === 'succeeded') continue
    const name = `job ${state}: ${error}`
    errors[name] = (errors[name] ?? 0) + 1
  }
  const again = jobs.filter(({ fence }) => fence !== 1).length
  return [
    ...faultsOf(errors),
    ...(jobs.length === wanted ? [] : [`${jobs.length} jobs in the database for ${wanted} accepted`]),
    ...(again === 0 ? [] : [`${again} jobs were not run exactly once`]),
    ...(upstreamCalls === wanted ? [] : [`${upstreamCalls} upstream calls for ${wanted} jobs`]),
  ]
}

function spreadOf(samples: readonly number[]): Spread {
  return { p50: percentile(samples, 0.5), p99: percentile(samples, 0.99) }
}
