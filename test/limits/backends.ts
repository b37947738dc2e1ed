import { randomUUID } from 'node:crypto'
import type { RateLimits } from '../../src/catalog/snapshot.ts'
import type { Decision, Lease, Limits, Refusal, Scope } from '../../src/limits/limits.ts'
import { memoryLimits } from '../../src/limits/memory.ts'
import { openRedisLimits, type RedisLimitsOptions } from '../../src/limits/redis.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { queueBackends, type RedisServer, startRedis } from '../support/redis.ts'

/** Limits under a clock that the test sets. */
export interface Clocked {
  limits: Limits
  /** Milliseconds. */
  pass(ms: number): void
}

export interface Backend {
  name: string
  start(): Promise<void>
  open(): Promise<Clocked>
  stop(): Promise<void>
}

/** Every backend that can be had here; CI must have both. */
export function backends(): Backend[] {
  return queueBackends().map((name) => (name === 'redis' ? redisBackend() : memoryBackend()))
}

const startMs = 1_800_000_000_000

function memoryBackend(): Backend {
  return {
    name: 'memory',
    async start() {},
    async open() {
      let nowMs = startMs
      const limits = memoryLimits({ clock: () => nowMs })
      return {
        limits,
        pass(ms) {
          nowMs += ms
        },
      }
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
      let nowMs = startMs
      const limits = await openShared(server?.url ?? '', { clock: () => nowMs })
      opened.push(limits)
      return {
        limits,
        pass(ms) {
          nowMs += ms
        },
      }
    },
    async stop() {
      for (const limits of opened) await limits.close()
      await server?.stop()
    },
  }
}

/** As a process opens them, with a wait that a busy machine does not reach. Throws when Redis is not used. */
export async function openShared(url: string, options: Partial<RedisLimitsOptions> = {}): Promise<Limits> {
  const limits = await openRedisLimits({ url, waitMs: 10_000, leaseMs: 2 ** 30, log: silentLog, ...options })
  if (limits.state().mode !== 'shared') throw new Error('Redis is not used')
  return limits
}

export const none: RateLimits = {
  requestsPerMinute: undefined,
  tokensPerMinute: undefined,
  concurrency: undefined,
}

/** Of an id that no test before had. */
export function scopeOf(limits: Partial<RateLimits>, kind: Scope['kind'] = 'key'): Scope {
  return { kind, id: randomUUID(), limits: { ...none, ...limits } }
}

export async function granted(decision: Decision | Promise<Decision>): Promise<Lease> {
  const decided = await decision
  if (!decided.granted) throw new Error(`refused by ${decided.limit} of the ${decided.scope}`)
  return decided
}

export async function refused(decision: Decision | Promise<Decision>): Promise<Refusal> {
  const decided = await decision
  if (decided.granted) throw new Error('granted')
  return decided
}
