import { setTimeout as sleep } from 'node:timers/promises'
import { createRedisBackend } from 'bullmq'
import { Redis } from 'ioredis'
import type { Log } from '../telemetry/log.ts'
import type { QueueBackend } from './backend.ts'
import { lineOf } from './backend.ts'

/**
 * One connection adds jobs and fails at once while Redis is down. Each worker has two connections, which wait
 * until Redis is back. Rejects when Redis cannot be used within `waitMs`.
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
    // Reconnect when the network has dropped the connection without a word.
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

/** Longer than one blocking call of BullMQ's workers, which lasts ten seconds. */
const silentMs = 15_000

async function waitForRedis(url: string, commandMs: number, waitMs: number, log: Log): Promise<void> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const problem = await findProblem(url, commandMs)
    if (problem === undefined) return
    const message = `cannot use the Redis at ${new URL(url).host}: ${problem}`
    // Fail at once where waiting cannot help.
    if (/^(WRONGPASS|NOAUTH|NOPERM|ERR)/.test(problem) || Date.now() + retryMs > deadline)
      throw new Error(message)
    log.warn({}, `${message}; trying for some seconds more`)
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
    // This error says only "Connection is closed." The event before it had the reason.
    return lineOf(firstError ?? error)
  } finally {
    redis.disconnect()
  }
}
