import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError, gatewayError } from '../src/canonical/error.ts'
import type { ImageRequest } from '../src/canonical/image.ts'
import { generate } from '../src/images/generate.ts'
import type { Generated, Generation } from '../src/images/generation.ts'
import { cancelledEnding, failedEnding, madeEnding } from '../src/images/image-ending.ts'
import type { ImageGateway } from '../src/images/image-gateway.ts'
import type { Job } from '../src/jobs/job.ts'
import type { Enqueued, JobEnding, Lease } from '../src/jobs/jobs.ts'
import { asGatewayError } from '../src/pipeline/ending.ts'
import { traceRow } from '../src/pipeline/trace-request.ts'
import { imageClient } from '../src/protocols/index.ts'
import { redactText } from '../src/redaction/redact.ts'
import { pauseAfter } from '../src/runtime/backoff.ts'
import { holdLease } from './hold-lease.ts'
import { endJobTrace, jobTrace } from './trace-job.ts'

/**
 * The pauses between tries to write the end of a job to Postgres. They grow while Postgres rejects the ending
 * itself.
 */
const finishMs = { least: 1_000, most: 10_000 }
/**
 * A reason to stop a job: another worker has claimed it, so this worker must not write anything more about
 * it.
 */
const leaseLost = gatewayError('worker_stopped')
const cancelled = gatewayError('image_cancelled')
/**
 * A reason to stop a job: this process is shutting down, and another worker should claim the job immediately.
 */
const shuttingDown = gatewayError('worker_stopped')

export interface ImageRunner {
  /**
   * Runs one image job from claim to end; the queue calls it for each id. Resolves with undefined if nothing
   * is left to do for the id, otherwise with the time in ms after which the queue must run it again.
   */
  run(id: string): Promise<{ again: number } | undefined>
  /** Puts all running jobs back immediately. */
  stop(): void
}

export function imageRunner(gateway: ImageGateway): ImageRunner {
  const running = new Set<Generation>()
  let stopped = false
  return {
    async run(id) {
      // Another worker will run the job.
      if (stopped) return { again: 0 }
      const claim = await gateway.jobs.claim(id)
      switch (claim.verdict) {
        case 'gone':
        case 'ended':
          return undefined
        case 'held':
        case 'early':
          return { again: Math.max(claim.untilMs - Date.now(), 50) }
        case 'claimed': {
          enqueue(gateway, claim.enqueue)
          const generation = begin(gateway, claim.lease, claim.job, claim.request)
          running.add(generation)
          return await run(gateway, claim.lease, generation).finally(() => {
            running.delete(generation)
            endJobTrace(generation.trace, claim.job)
          })
        }
      }
    },
    stop() {
      stopped = true
      for (const generation of running) end(generation, shuttingDown)
    },
  }
}

/** Aborts the calls of a job. Only the first reason is kept. */
function end(generation: Generation, reason: GatewayError): void {
  generation.ended ??= reason
  for (const call of generation.running) call.abort(reason)
}

/** Queues jobs. The sweep finds those that cannot be queued now. */
export function enqueue(gateway: Pick<ImageGateway, 'jobQueue' | 'log'>, jobs: readonly Enqueued[]): void {
  if (jobs.length === 0) return
  gateway.jobQueue.add(jobs).catch((error: unknown) => {
    gateway.log.warn({ cause: redactText(String(error)), jobs: jobs.length }, 'jobs could not be queued')
  })
}

async function run(
  gateway: ImageGateway,
  lease: Lease,
  generation: Generation,
): Promise<{ again: number } | undefined> {
  const { bounds } = gateway
  const { job } = generation
  const keeper = holdLease(gateway, lease, bounds.imageLeaseMs, {
    lost: () => end(generation, leaseLost),
    cancelled: () => end(generation, cancelled),
  })
  try {
    if (job.cancelRequested) return await finish(gateway, lease, generation, cancelledEnding(generation))
    if (job.runs > bounds.imageRunsMax) {
      return await finish(
        gateway,
        lease,
        generation,
        failedEnding(generation, gatewayError('workers_lost', { what: 'image', runs: job.runs - 1 })),
      )
    }
    const made = (await storageTrouble(gateway, job)) ?? (await generated(gateway, generation))
    if (made instanceof GatewayError) return await failOrRepeat(gateway, lease, generation, made, undefined)
    if (made.waitMs !== undefined) return await putBack(gateway, lease, generation, made.waitMs, 'waited')
    if (made.images.length > 0 && generation.ended !== cancelled) {
      return await finish(gateway, lease, generation, madeEnding(generation, made))
    }
    const error = made.error ?? gatewayError('upstream_image_missing')
    return await failOrRepeat(gateway, lease, generation, error, made)
  } finally {
    keeper.stop()
  }
}

/**
 * Checks the storage before a job runs again, because the operator must not pay an upstream for images that a
 * full disk cannot store.
 */
async function storageTrouble({ images }: ImageGateway, job: Job): Promise<GatewayError | undefined> {
  if (job.runs < 2) return undefined
  try {
    await images.storage.check()
    return undefined
  } catch (cause) {
    return gatewayError('image_storage_away', { how: 'stored' }, { cause })
  }
}

/**
 * Only an error while generating the images can fail the job. Any other error means that Postgres is down,
 * and the job runs again.
 */
async function generated(gateway: ImageGateway, generation: Generation): Promise<Generated | GatewayError> {
  try {
    return await generate(gateway, generation)
  } catch (cause) {
    if (!(cause instanceof GatewayError)) {
      gateway.log.error(
        { job: generation.job.id, cause: redactText(String(cause)) },
        'an image job could not be run',
      )
    }
    return asGatewayError(cause)
  }
}

function begin(gateway: ImageGateway, lease: Lease, job: Job, body: () => string): Generation {
  const { jobs } = gateway
  const partials = [...job.partials]
  const held = (noted: boolean) => {
    if (!noted) throw leaseLost
  }
  let request: ImageRequest | undefined
  const generation: Generation = {
    job,
    // Decoded when the job runs, because a request that cannot be decoded must fail the job.
    get request() {
      request ??= imageClient.readRequest(Buffer.from(body()), gateway.bounds)
      return request
    },
    attempts: job.attempts.map(endedByDeath),
    previews: job.partials,
    credentials: new Set(),
    running: new Set(),
    ended: undefined,
    trace: jobTrace(gateway, job, 'make images'),
    async takeTurn(channel) {
      if (channel.imageConcurrency === undefined && channel.imagesPerMinute === undefined) return 0
      const wait = await jobs.takeTurn(lease, channel)
      if (wait === 'lost') throw leaseLost
      return wait
    },
    async noteAttempts() {
      held(await jobs.noteAttempts(lease, generation.attempts))
    },
    async notePartial(image, index, place) {
      partials.push({ file: image.file, index, image: place })
      const shown = [...partials]
      // While Postgres is down, no one sees this preview. The job continues, because the images are paid for.
      const noted = await jobs.notePartials(lease, shown).catch(() => undefined)
      held(noted !== false)
      if (noted === true && shown.length > generation.previews.length) generation.previews = shown
    },
  }
  return generation
}

/** An attempt without an end was in progress when its worker died. */
function endedByDeath(attempt: Job['attempts'][number]) {
  if (attempt.totalMs !== null || attempt.error !== null) return attempt
  return {
    ...attempt,
    error: {
      kind: 'internal' as const,
      message: 'The worker that made this call ended before the call did.',
    },
  }
}

async function failOrRepeat(
  gateway: ImageGateway,
  lease: Lease,
  generation: Generation,
  error: GatewayError,
  made: Generated | undefined,
): Promise<{ again: number } | undefined> {
  const reason = error === leaseLost ? leaseLost : generation.ended
  switch (reason) {
    case leaseLost:
      return undefined
    case cancelled:
      return await finish(gateway, lease, generation, cancelledEnding(generation))
    case shuttingDown:
      return await putBack(gateway, lease, generation, 0, 'waited')
  }
  const { imageRunsMax, imageBackoffMs } = gateway.bounds
  const { runs } = generation.job
  const mayPass = error.fault === 'upstream' || error.kind === 'unavailable'
  if (!mayPass || runs >= imageRunsMax) {
    return await finish(gateway, lease, generation, failedEnding(generation, error, made), error.cause)
  }
  return await putBack(gateway, lease, generation, pauseOf(runs, imageBackoffMs, error), 'failed')
}

/** Returns the pause before the next run of a job, in ms. */
export function pauseOf(runs: number, backoffMs: number, { retryAfterSeconds = 0 }: GatewayError): number {
  return pauseAfter(runs, { least: backoffMs, most: 3_600_000 }, retryAfterSeconds * 1000)
}

async function putBack(
  gateway: ImageGateway,
  lease: Lease,
  generation: Generation,
  delayMs: number,
  why: 'failed' | 'waited',
): Promise<{ again: number } | undefined> {
  const back = await gateway.jobs.requeue(lease, Math.ceil(delayMs), generation.attempts, why)
  if (back) return { again: delayMs }
  // The client has cancelled the job in the meantime. If another worker has claimed it, this has no effect.
  return await finish(gateway, lease, generation, cancelledEnding(generation))
}

/**
 * Tries to write the end of the job for as long as the lease may be ours, because the images are paid for.
 * `cause` is the reason for a failure, for the operator only.
 */
async function finish(
  gateway: ImageGateway,
  lease: Lease,
  generation: Generation,
  ending: JobEnding,
  cause?: unknown,
): Promise<undefined> {
  const { job } = generation
  let last = ending
  let refusals = 0
  while (generation.ended !== leaseLost) {
    try {
      generation.trace?.step('record')
      const done = await gateway.jobs.finish(lease, 'running', job, last)
      if (done && generation.trace !== undefined)
        traceRow(generation.trace, job.opened, last.close, [...generation.credentials])
      if (done && last.state === 'failed') {
        gateway.log.warn(
          {
            job: job.id,
            kind: last.error?.kind,
            ...(cause === undefined ? {} : { cause: redactText(String(cause)) }),
          },
          last.error?.message ?? 'an image job failed',
        )
      }
      return
    } catch (error) {
      gateway.log.warn(
        { job: job.id, cause: redactText(String(error)) },
        'the end of an image job could not be written yet',
      )
      await sleep(pauseAfter(refusals + 1, finishMs))
      if (error instanceof GatewayError) continue
      // Postgres rejects the ending itself and would do so again. An ending without the result is more likely
      // to be accepted.
      if (last.state === 'succeeded') last = failedEnding(generation, gatewayError('image_result_unrecorded'))
      else refusals++
    }
  }
}
