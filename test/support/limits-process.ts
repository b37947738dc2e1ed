import { openRedisLimits } from '../../src/limits/redis.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'

/**
 * A process that holds one place of a scope until it is killed. It reads REDIS_URL, LEASE_MS and, as JSON, SCOPE; it
 * prints `held` when it has the place.
 */
const { REDIS_URL = '', LEASE_MS = '', SCOPE = '' } = process.env
const limits = await openRedisLimits({
  url: REDIS_URL,
  waitMs: 10_000,
  leaseMs: Number(LEASE_MS),
  clock: systemClock,
  log: silentLog,
})
const decision = await limits.take([JSON.parse(SCOPE)], 0, `of process ${process.pid}`)
console.log(decision.granted && limits.state().mode === 'shared' ? 'held' : 'refused')
setInterval(() => {}, 1_000)
