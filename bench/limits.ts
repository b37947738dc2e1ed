import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { LimitScope, Limits } from '../src/limits/limits.ts'
import { memoryLimits } from '../src/limits/memory.ts'
import { openRedisLimits } from '../src/limits/redis.ts'
import { systemClock } from '../src/runtime/clock.ts'
import { silentLog } from '../src/telemetry/relay-log.ts'
import { startRedis } from '../test/support/redis.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * The cost of a request's limits: `node runtime.cjs bench/limits.ts`. Needs redis-server. Measures each backend with one scope
 * and with three, each scope with all three limits. 32 clients take and settle for three seconds, after one second of
 * warm-up; the figure is this process's CPU time for one request. Then one client shows the time for one request.
 */
const clients = 32
const warmUpMs = 1_000
const measureMs = 3_000
const plenty = { requestsPerMinute: 2e9, tokensPerMinute: 2e9, concurrency: 1e6 }
const scopes: LimitScope[] = (['key', 'group', 'tenant'] as const).map((kind) => ({
  kind,
  id: '019ab000-0000-7000-8000-000000000001',
  limits: plenty,
}))

console.log(`takes and settles from ${clients} clients for ${measureMs} ms; then one client`)
await measure('memory', memoryLimits(systemClock))
const redis = await startRedis()
// The Redis of the tests writes to disk. Limits do not need that.
const admin = new Redis(redis.url)
await admin.config('SET', 'appendonly', 'no')
admin.disconnect()
const shared = await openRedisLimits({
  url: redis.url,
  waitMs: 1_000,
  leaseMs: 30_000,
  clock: systemClock,
  log: silentLog,
})
await measure('redis', shared)
await shared.close()
await redis.stop()

async function measure(name: string, limits: Limits): Promise<void> {
  for (const count of [1, 3]) {
    const asked = scopes.slice(0, count)
    await run(limits, asked, clients, warmUpMs)
    const cpu = process.cpuUsage()
    const done = await run(limits, asked, clients, measureMs)
    const { user, system } = process.cpuUsage(cpu)
    const since = performance.now()
    const alone = await run(limits, asked, 1, measureMs / 3)
    const aloneUs = ((performance.now() - since) * 1_000) / alone
    console.log(
      `${name}, scopes: ${count}: ${Math.round((done * 1_000) / measureMs)}/s, ` +
        `CPU ${((user + system) / done).toFixed(1)} us each; alone ${aloneUs.toFixed(1)} us each; ` +
        `then ${limits.state().mode}, ${limits.state().localDecisions} decided without Redis`,
    )
  }
}

/** Returns the number of requests taken and settled. */
async function run(
  limits: Limits,
  asked: readonly LimitScope[],
  clients: number,
  ms: number,
): Promise<number> {
  const until = performance.now() + ms
  let done = 0
  const client = async () => {
    while (performance.now() < until) {
      // A backend that answers at once would give the other clients no turn.
      if (done % 1_000 === 0) await sleep(0)
      const decision = await limits.take(asked, 10, `request ${done++}`)
      if (!decision.granted) throw new Error(`refused by ${decision.limit}`)
      decision.settle(20)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return done
}
