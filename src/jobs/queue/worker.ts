import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from 'bullmq'
import { DelayedError, UnrecoverableError, Worker } from 'bullmq'
import type { Log } from '../../telemetry/log.ts'
import type { QueueBackend } from './backend.ts'
import { bullName, lineOf, quietLog, unused } from './backend.ts'
import { jobIdOf } from './payload.ts'
import type { QueueName, QueueWorker, WorkOptions } from './queue.ts'

export interface WorkerOptions extends WorkOptions {
  lockMs: number
  prefix: string
  /** The longest time for which `close` waits to report the last jobs to the backend. */
  closeMs: number
}

/** Starts a BullMQ worker that survives every outage of its backend. */
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
      // BullMQ needs two checks to find a lost job: the second must run after the lock has expired.
      stalledInterval: Math.ceil(options.lockMs / 2),
      // Practically unlimited, because Postgres counts how often the workers of a job have died.
      maxStalledCount: 1_000_000_000,
      // The pause between attempts to reach a backend that is down. BullMQ's default is 15 seconds.
      runRetryDelay: 1_000,
    },
    backend.connect,
  )
  worker.on('error', (error) => log.warn({ error: lineOf(error) }, 'the queue reported an error'))
  worker.on('stalled', (id) =>
    log.warn({ job: id }, 'the worker of a job is gone, so another worker takes the job'),
  )
  const close = async () => {
    const closed = worker.close()
    await Promise.race([closed, idle(running).then(() => sleep(options.closeMs, undefined, { ref: false }))])
    // Aborts calls that still wait for a backend that is down. A job whose end was not reported runs again.
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
    log.warn({ data }, 'dropped a queued job that another version of this program has written')
    throw new UnrecoverableError('unknown payload')
  }
  const end = await runOnce(id, run, log)
  if (end === undefined) return
  await job.moveToDelayed(Date.now() + end.again, token)
  // Signals to BullMQ that the job has neither completed nor failed.
  throw new DelayedError()
}

async function runOnce(id: string, run: WorkOptions['run'], log: Log) {
  try {
    return await run(id)
  } catch (error) {
    log.warn({ id, error: lineOf(error) }, 'a job run was interrupted and will be retried')
    // BullMQ stores the message, and Postgres cannot store every text, so we use a fixed one.
    throw new Error('the run was interrupted')
  }
}

/** Resolves when no job is running, including jobs that start in the meantime. */
async function idle(running: ReadonlySet<Promise<unknown>>): Promise<void> {
  while (running.size > 0) await Promise.allSettled(running)
}
