import type { Limits } from '../../src/limits/limits.ts'
import { memoryLimits } from '../../src/limits/memory.ts'
import { openRedisLimits, type RedisLimitsOptions } from '../../src/limits/redis.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { type ManualClock, manualClock } from '../support/manual-clock.ts'
import { queueBackends } from '../support/queue-backends.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'

/** Limits under a clock that the test sets. */
export interface Clocked extends Pick<ManualClock, 'pass'> {
  limits: Limits
}

export interface Backend {
  name: string
  start(): Promise<void>
  open(): Promise<Clocked>
  stop(): Promise<void>
}

/** Every backend that this machine has. CI must have both. */
export function backends(): Backend[] {
  return queueBackends().map((name) => (name === 'redis' ? redisBackend() : memoryBackend()))
}

function memoryBackend(): Backend {
  return {
    name: 'memory',
    async start() {},
    async open() {
      const clock = manualClock()
      return { limits: memoryLimits(clock), pass: clock.pass }
    },
    async stop() {},
  }
}

function redisBackend(): Backend {
  let server: RedisServer | undefined
  const opened: Limits[] = []
  return {
    name: 'redis',
    async start() {
      server = await startRedis()
    },
    async open() {
      const clock = manualClock()
      const limits = await openShared(server?.url ?? '', { clock, redisTime: clock.now })
      opened.push(limits)
      return { limits, pass: clock.pass }
    },
    async stop() {
      for (const limits of opened) await limits.close()
      await server?.stop()
    },
  }
}

/** Limits as a process opens them, but with a wait that is long enough for a busy machine. Throws without Redis. */
export async function openShared(url: string, options: Partial<RedisLimitsOptions> = {}): Promise<Limits> {
  const limits = await openRedisLimits({
    url,
    waitMs: 10_000,
    leaseMs: 2 ** 30,
    clock: systemClock,
    log: silentLog,
    ...options,
  })
  if (limits.state().mode !== 'shared') throw new Error('Redis is not used')
  return limits
}
