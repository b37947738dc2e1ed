import { Queue } from 'bullmq'
import { inTime } from '../../runtime/in-time.ts'
import type { Log } from '../../telemetry/log.ts'
import type { QueueBackend } from './backend.ts'
import { bullName, lineOf, quietLog, unused } from './backend.ts'
import { jobOptions, payloadOf } from './payload.ts'
import { openPostgres } from './postgres.ts'
import type { JobQueue, QueueName, Queues, QueueWorker } from './queue.ts'
import { openRedis } from './redis.ts'
import { startWorker } from './worker.ts'

export interface QueueOptions {
  /** If absent, the queues are in Postgres. */
  redisUrl: string | undefined
  databaseUrl: string
  /** The longest time that `add` and `counts` wait for the backend. */
  commandMs: number
  /**
   * The lock duration. A worker that is silent for longer loses its jobs to other workers, after at most
   * twice this time.
   */
  lockMs: number
  log: Log
  /** The longest time to wait for the backend on startup. Default: 10 seconds. */
  waitMs?: number
  /** The prefix of every key in Redis, which lets installations share one Redis. Default: `tollgate`. */
  prefix?: string
}

/**
 * Opens the queues: on Redis if `redisUrl` is set, otherwise on Postgres, where `prepareQueueSchema` must
 * have created the schema. Rejects with an Error for the operator if the backend cannot be used. Later
 * outages of the backend are tolerated.
 */
export async function openQueues(options: QueueOptions): Promise<Queues> {
  const log = quietLog(options.log)
  const { redisUrl, databaseUrl, commandMs, lockMs, waitMs = 10_000, prefix = 'tollgate' } = options
  const backend =
    redisUrl === undefined
      ? await openPostgres(databaseUrl, commandMs, waitMs, log)
      : await openRedis(redisUrl, commandMs, waitMs, log)
  const queues = {
    images: openQueue(backend, 'images', prefix, log),
    webhooks: openQueue(backend, 'webhooks', prefix, log),
    probes: openQueue(backend, 'probes', prefix, log),
    alerts: openQueue(backend, 'alerts', prefix, log),
    answers: openQueue(backend, 'answers', prefix, log),
  }
  const all = Object.values(queues)
  const workers = new Set<QueueWorker>()
  const close = async () => {
    for (const worker of workers) void worker.close()
    await Promise.all(all.map((queue) => closeQueue(queue, commandMs)))
    await backend.close()
  }
  try {
    await Promise.all(all.map((queue) => inTime(queue.waitUntilReady(), waitMs, 'the queue')))
  } catch (cause) {
    await close()
    throw new Error(`the queue cannot use its ${backend.name}: ${lineOf(cause)}`, { cause })
  }
  return {
    backend: backend.name,
    images: jobQueue(queues.images, commandMs),
    webhooks: jobQueue(queues.webhooks, commandMs),
    probes: jobQueue(queues.probes, commandMs),
    alerts: jobQueue(queues.alerts, commandMs),
    answers: jobQueue(queues.answers, commandMs),
    work(name, work) {
      const worker = startWorker(backend, name, { ...work, lockMs, prefix, closeMs: commandMs })
      workers.add(worker)
      return worker
    },
    async board(basePath) {
      // Loaded when an admin opens the pages, because most processes never need it.
      const { queueBoard } = await import('./board.ts')
      return queueBoard(all, basePath)
    },
    close,
  }
}

function openQueue(backend: QueueBackend, name: QueueName, prefix: string, log: Log) {
  const queue = new Queue(
    bullName(name),
    // We do not read the events, and by default BullMQ would keep ten thousand of them.
    { connection: unused, prefix, streams: { events: { maxLen: 100 } } },
    backend.connect,
  )
  queue.on('error', (error) => log.warn({ queue: name, error: lineOf(error) }, 'the queue reported an error'))
  return queue
}

function jobQueue(queue: ReturnType<typeof openQueue>, commandMs: number): JobQueue {
  return {
    async add(jobs) {
      const entries = jobs.map((job) => ({ name: 'run', data: payloadOf(job.id), opts: jobOptions(job) }))
      const [first] = entries
      if (first === undefined) return
      // A batch is expensive on Postgres because it creates two temporary tables.
      const added: Promise<unknown> =
        entries.length === 1 ? queue.add(first.name, first.data, first.opts) : queue.addBulk(entries)
      await inTime(added, commandMs, 'the queue')
    },
    async counts() {
      const counts = await inTime(
        queue.getJobCounts('wait', 'prioritized', 'delayed', 'active'),
        commandMs,
        'the queue',
      )
      return {
        waiting: (counts.wait ?? 0) + (counts.prioritized ?? 0),
        delayed: counts.delayed ?? 0,
        active: counts.active ?? 0,
      }
    },
  }
}

async function closeQueue(queue: ReturnType<typeof openQueue>, commandMs: number): Promise<void> {
  try {
    await inTime(queue.close(), commandMs, 'the queue')
  } catch {
    // The backend is down. `backend.close` is called next and closes its connections.
  }
}
