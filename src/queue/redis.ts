import { setTimeout as sleep } from 'node:timers/promises'
import { createRedisBackend } from 'bullmq'
import { Redis } from 'ioredis'
import type { Backend } from './backend.ts'
import { describe } from './backend.ts'
import type { QueueLog } from './queue.ts'

/**
 * One connection for all that is added, which says at once when Redis is away, and two for each worker, which wait
 * until it is back. Rejects when Redis cannot be used within `waitMs`.
 */
export async function openRedis(
  url: string,
  commandMs: number,
  waitMs: number,
  log: QueueLog,
): Promise<Backend> {
  await waitForRedis(url, commandMs, waitMs, log)
  const connectTimeout = commandMs
  const retryStrategy = (times: number) => Math.min(50 * times, 1_000)
  const producer = new Redis(url, {
    connectTimeout,
    retryStrategy,
    commandTimeout: commandMs,
    // A connection that the network forgot is made anew.
    socketTimeout: commandMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  })
  producer.on('error', (error) => log('the queue cannot reach Redis', { error: describe(error) }))
  const patient = { url, connectTimeout, retryStrategy, socketTimeout: silentMs, maxRetriesPerRequest: null }
  return {
    name: 'redis',
    connect(name, options, role) {
      const connection = role?.withBlockingConnection ? patient : producer
      return createRedisBackend(name, { ...options, connection }, role)
    },
    async close() {
      producer.disconnect()
    },
  }
}

/** BullMQ's workers wait in Redis for ten seconds at a time. */
const silentMs = 15_000

async function waitForRedis(url: string, commandMs: number, waitMs: number, log: QueueLog): Promise<void> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const problem = await findProblem(url, commandMs)
    if (problem === undefined) return
    const message = `cannot use the Redis at ${new URL(url).host}: ${problem}`
    // What waiting cannot mend fails at once.
    if (/^(WRONGPASS|NOAUTH|NOPERM|ERR)/.test(problem) || Date.now() + retryMs > deadline)
      throw new Error(message)
    log(`${message}; trying for some seconds more`, {})
    await sleep(retryMs)
  }
}

const retryMs = 250

async function findProblem(url: string, commandMs: number): Promise<string | undefined> {
  const redis = new Redis(url, {
    lazyConnect: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
    connectTimeout: commandMs,
    commandTimeout: commandMs,
  })
  let told: unknown
  redis.on('error', (error) => {
    told ??= error
  })
  try {
    await redis.connect()
    await redis.ping()
    return undefined
  } catch (error) {
    // "Connection is closed." is what follows; the event before has the reason.
    return describe(told ?? error)
  } finally {
    redis.disconnect()
  }
}
