import { setTimeout as sleep } from 'node:timers/promises'
import { createRedisBackend } from 'bullmq'
import { Redis } from 'ioredis'
import type { Log } from '../../telemetry/log.ts'
import type { QueueBackend } from './backend.ts'
import { lineOf } from './backend.ts'

/**
 * Opens one connection for adding jobs, which fails at once while Redis is down. Each worker has two more
 * connections, which wait until Redis is back. Rejects if Redis cannot be used within `waitMs`.
 */
export async function openRedis(
  url: string,
  commandMs: number,
  waitMs: number,
  log: Log,
): Promise<QueueBackend> {
  await waitForRedis(url, commandMs, waitMs, log)
  const connectTimeout = commandMs
  const retryStrategy = (times: number) => Math.min(50 * times, 1_000)
  const producer = new Redis(url, {
    connectTimeout,
    retryStrategy,
    commandTimeout: commandMs,
    // Reconnects when the network has silently dropped the connection.
    socketTimeout: commandMs,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
  })
  producer.on('error', (error) => log.warn({ error: lineOf(error) }, 'the queue cannot reach Redis'))
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

/** Longer than one blocking call of a BullMQ worker, which lasts ten seconds. */
const silentMs = 15_000

async function waitForRedis(url: string, commandMs: number, waitMs: number, log: Log): Promise<void> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const problem = await findProblem(url, commandMs)
    if (problem === undefined) return
    const message = `cannot use the Redis at ${new URL(url).host}: ${problem}`
    // Fails at once if waiting cannot help.
    if (/^(WRONGPASS|NOAUTH|NOPERM|ERR)/.test(problem) || Date.now() + retryMs > deadline)
      throw new Error(message)
    log.warn({}, `${message}; retrying for a few more seconds`)
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
  let firstError: unknown
  redis.on('error', (error) => {
    firstError ??= error
  })
  try {
    await redis.connect()
    await redis.ping()
    return undefined
  } catch (error) {
    // This error is only "Connection is closed."; the earlier event has the reason.
    return lineOf(firstError ?? error)
  } finally {
    redis.disconnect()
  }
}
