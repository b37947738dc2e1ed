import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from 'bullmq'
import { DelayedError, UnrecoverableError, Worker } from 'bullmq'
import type { Log } from '../telemetry/log.ts'
import type { QueueBackend } from './backend.ts'
import { bullName, lineOf, quietLog, unused } from './backend.ts'
import { jobIdOf } from './payload.ts'
import type { QueueName, QueueWorker, WorkOptions } from './queue.ts'

export interface WorkerOptions extends WorkOptions {
  lockMs: number
  prefix: string
  /** Longest time in which `close` reports the last jobs to the backend. */
  closeMs: number
}

/** A BullMQ worker that survives every outage of its backend. */
export function startWorker(backend: QueueBackend, name: QueueName, options: WorkerOptions): QueueWorker {
  const log = quietLog(options.log.child({ queue: name }))
  const running = new Set<Promise<unknown>>()
  const process = (job: Job, token?: string) => {
    const run = runJob(job, token, options.run, log)
    running.add(run)
    return run.finally(() => running.delete(run))
  }
  const worker = new Worker(
    bullName(name),
    process,
    {
      connection: unused,
      prefix: options.prefix,
      concurrency: options.concurrency,
      lockDuration: options.lockMs,
      // BullMQ needs two checks to find a lost job, the second one after the lock has expired.
      stalledInterval: Math.ceil(options.lockMs / 2),
      // Practically no limit: Postgres counts how often the workers of a job died.
      maxStalledCount: 1_000_000_000,
      // Wait between two attempts to reach a backend that is down; the default is 15 seconds.
      runRetryDelay: 1_000,
    },
    backend.connect,
  )
  worker.on('error', (error) => log.warn({ error: lineOf(error) }, 'the queue is in trouble'))
  worker.on('stalled', (id) =>
    log.warn({ job: id }, 'the worker of a job is gone and the job is given to another'),
  )
  const close = async () => {
    const closed = worker.close()
    await Promise.race([closed, idle(running).then(() => sleep(options.closeMs, undefined, { ref: false }))])
    // Cuts calls that still wait for a backend that is down. A job whose end was not reported runs again.
    void worker.disconnect().catch(() => {})
  }
  let closing: Promise<void> | undefined
  return {
    close() {
      closing ??= close()
      return closing
    },
  }
}

async function runJob(job: Job, token: string | undefined, run: WorkOptions['run'], log: Log): Promise<void> {
  const id = jobIdOf(job.data)
  if (id === undefined) {
    const data = JSON.stringify(job.data)?.slice(0, 200)
    log.warn({ data }, 'a job of the queue was written by another version of this program and is dropped')
    throw new UnrecoverableError('unknown payload')
  }
  const end = await runOnce(id, run, log)
  if (end === undefined) return
  await job.moveToDelayed(Date.now() + end.again, token)
  // This error tells BullMQ that the job has neither ended nor failed.
  throw new DelayedError()
}

async function runOnce(id: string, run: WorkOptions['run'], log: Log) {
  try {
    return await run(id)
  } catch (error) {
    log.warn({ id, error: lineOf(error) }, 'a run of a job broke off; it is run again')
    // BullMQ stores the message, and Postgres cannot store every text: give it one of our own.
    throw new Error('the run broke off')
  }
}

/** Resolves when no job runs, jobs that begin meanwhile included. */
async function idle(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running)
}
