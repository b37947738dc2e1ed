import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Decision, LimitScope, Limits } from '../../src/limits/limits.ts'
import { openRedisLimits, type RedisLimitsOptions } from '../../src/limits/redis.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { startStopwatch } from '../support/stopwatch.ts'
import { holdsFor, patienceMs } from '../support/until.ts'
import { openShared } from './backends.ts'
import { granted, refused, scopeOf } from './scopes.ts'

/** Limits that processes share, and what they do without Redis. A busy machine must not look like a Redis outage. */

const waitMs = 250
/** Nothing refills. Beats and leases go on. */
const now = () => 1_800_000_000_000
const atOneMoment = { clock: { ...systemClock, now }, redisTime: now }

describe('limits on Redis', () => {
  let redis: RedisServer
  let ask: Redis
  let logged: string[]
  const opened: Limits[] = []
  let asked = 0

  beforeEach(async () => {
    redis = await startRedis()
    ask = new Redis(redis.url)
    ask.on('error', () => {})
    logged = []
  })
  afterEach(async () => {
    redis.resume()
    ask.disconnect()
    for (const limits of opened.splice(0)) await limits.close()
    await redis.stop()
  })

  const log = relayLog((level, _fields, message) => void logged.push(`${level}: ${message}`))
  async function open(options: Partial<RedisLimitsOptions> = {}): Promise<Limits> {
    const limits = await openShared(redis.url, { log, ...options })
    opened.push(limits)
    return limits
  }
  const take = (limits: Limits, scope: LimitScope, tokens = 0) => limits.take([scope], tokens, `r${++asked}`)
  const count = (decisions: readonly Decision[]) => decisions.filter((decision) => decision.granted).length
  const shared = (limits: Limits) =>
    expect.poll(() => limits.state().mode, { timeout: patienceMs, interval: 10 }).toBe('shared')
  const local = (limits: Limits) =>
    expect.poll(() => limits.state().mode, { timeout: patienceMs, interval: 10 }).toBe('local')

  test.each([
    ['600 requests a minute', { requestsPerMinute: 600 }, 0, 600],
    ['6,000 tokens a minute', { tokensPerMinute: 6_000 }, 10, 600],
    ['50 at once', { concurrency: 50 }, 0, 50],
  ])(
    'of 1,000 requests at once in two processes exactly as many pass as %s allow',
    async (_, limits, tokens, most) => {
      const two = [await open(atOneMoment), await open(atOneMoment)]
      const scope = scopeOf(limits)
      const decisions = await Promise.all(
        Array.from({ length: 500 }, () => two.map(async (one) => await take(one, scope, tokens))).flat(),
      )
      expect(decisions).toHaveLength(1_000)
      expect(count(decisions)).toBe(most)
    },
  )

  test('by default the clock of Redis counts, and every key expires by itself', async () => {
    const limits = await open()
    const scope = scopeOf({ requestsPerMinute: 1, tokensPerMinute: 100, concurrency: 5 })
    const lease = await granted(take(limits, scope, 10))
    const { retryAfterMs } = await refused(take(limits, scope))
    expect(retryAfterMs).toBeGreaterThan(50_000)
    lease.settle(500)
    expect((await refused(take(limits, scope))).retryAfterMs).toBeGreaterThan(200_000)
    const keys = await ask.keys('*')
    expect(keys.length).toBeGreaterThanOrEqual(2)
    for (const key of keys) {
      expect(await ask.pttl(key), key).toBeGreaterThan(0)
      // All keys are in one slot of a cluster, because one script uses all of them.
      expect(key).toMatch(/^\{tollgate:limits\}:/)
    }
    const fast = scopeOf({ requestsPerMinute: 60_000 })
    await granted(take(limits, fast))
    expect(await ask.pttl(`{tollgate:limits}:key:${fast.id}`)).toBeLessThan(61_000)
  })

  test('a running request keeps its place while its process lives, and loses it when the process is killed', async () => {
    const leaseMs = 1_000
    const limits = await open({ leaseMs })
    const scope = scopeOf({ concurrency: 1 })
    const holder = spawn(process.execPath, ['test/support/limits-process.ts'], {
      env: { ...process.env, REDIS_URL: redis.url, LEASE_MS: String(leaseMs), SCOPE: JSON.stringify(scope) },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = once(holder, 'exit')
    try {
      expect(String(await once(holder.stdout, 'data'))).toBe('held\n')
      await holdsFor(3 * leaseMs, async () => {
        expect(await take(limits, scope)).toMatchObject({ granted: false, limit: 'concurrency' })
      })
    } finally {
      holder.kill('SIGKILL')
      await ended
    }
    const free = async () => (await take(limits, scope)).granted
    await expect.poll(free, { timeout: patienceMs, interval: 50 }).toBe(true)
  })

  test('when Redis freezes under load, no request waits long, each process uses its share, and nothing counts twice later', async () => {
    const options = { waitMs, ...atOneMoment }
    const two = [await open(options), await open(options)] as const
    await expect.poll(() => two[0].state().processes, { timeout: patienceMs }).toBe(2)
    const scope = scopeOf({ requestsPerMinute: 101, tokensPerMinute: 1_020 })
    for (const limits of two) await granted(take(limits, scope, 10))

    redis.pause()
    const waits: number[] = []
    const client = async (limits: Limits) => {
      const decisions: Decision[] = []
      for (let turn = 0; turn < 20; turn++) {
        const watch = startStopwatch()
        decisions.push(await take(limits, scope, 10))
        waits.push(watch.ms)
      }
      return decisions
    }
    const decisions = await Promise.all(
      two.map((one) => Promise.all(Array.from({ length: 8 }, () => client(one)))),
    )
    expect(Math.max(...waits)).toBeLessThan(waitMs + 1_000)
    expect(waits.filter((wait) => wait >= waitMs - 1).length).toBeLessThanOrEqual(2 * 8 * 4)
    // 160 were asked of each process. Its half of the limit is 51, and one of them was used before.
    for (const own of decisions) expect(count(own.flat())).toBe(50)
    expect(take(two[0], scope)).not.toBeInstanceOf(Promise)
    expect(two[0].state()).toMatchObject({ mode: 'local', processes: 2 })
    for (const { granted, ...decision } of decisions.flat(2)) {
      if (granted && 'settle' in decision) decision.settle(0)
    }

    redis.resume()
    for (const limits of two) await shared(limits)
    // Redis executed some calls too late. The processes take these back.
    const left = async () => (await granted(take(two[0], scope, 0))).requests?.remaining
    let taken = 2
    await expect.poll(async () => (await left()) === 101 - ++taken, { timeout: patienceMs }).toBe(true)
    expect((await granted(take(two[1], scope, 0))).tokens).toMatchObject({ limit: 1_020, remaining: 1_000 })
    expect(logged.filter((line) => line.startsWith('warn'))).toHaveLength(2)
    expect(logged.filter((line) => line.startsWith('info'))).toHaveLength(2)
  })

  test('when Redis freezes between the two decisions, the process decides about tokens, and later nothing counts twice', async () => {
    const limits = await open({ waitMs, ...atOneMoment })
    const scope = scopeOf({ requestsPerMinute: 10, tokensPerMinute: 1_000, concurrency: 5 })
    const [passing, refusedLater, ending] = [
      await granted(take(limits, scope)),
      await granted(take(limits, scope)),
      await granted(take(limits, scope)),
    ]
    redis.pause()
    expect(await passing.hold(700)).toMatchObject({ granted: true, tokens: { remaining: 300 } })
    expect(await refusedLater.hold(400)).toMatchObject({ granted: false, limit: 'tokens' })
    const holding = ending.hold(100)
    ending.settle(0)
    expect(await holding).toMatchObject({ granted: true })
    passing.settle(50)
    redis.resume()
    await shared(limits)
    const level = async () => {
      const [requests, tokens] = await ask.hmget(`{tollgate:limits}:key:${scope.id}`, 'requests', 'tokens')
      const running = await ask.zcard(`{tollgate:limits}:key:${scope.id}:running`)
      return [Number(requests) / 60_000, Number(tokens) / 60_000, running]
    }
    // Redis decided all three too late: what it granted to requests that had ended was taken back.
    await expect.poll(level, { timeout: patienceMs }).toEqual([2, 50, 0])
  })

  test('when Redis is killed, limits are local at once; after its restart they are shared again, with the running requests', async () => {
    const limits = await open(atOneMoment)
    const scope = scopeOf({ requestsPerMinute: 5, concurrency: 3 })
    const leases = [await granted(take(limits, scope)), await granted(take(limits, scope))]
    await redis.kill9()
    await local(limits)
    // The process counts its own running requests, wherever they were granted.
    leases.push(await granted(take(limits, scope)))
    expect(await take(limits, scope)).toMatchObject({ limit: 'concurrency' })
    leases[0]?.settle(0)
    await granted(take(limits, scope))
    expect(await take(limits, scope)).toMatchObject({ limit: 'concurrency', requests: { remaining: 1 } })
    expect(limits.state().localDecisions).toBe(4)

    await redis.restart()
    await shared(limits)
    expect(await take(await open(atOneMoment), scope)).toMatchObject({
      granted: false,
      limit: 'concurrency',
      requests: { remaining: 3 },
    })
    expect(logged.map((line) => line.slice(0, 4))).toEqual(['warn', 'info'])
  })

  test('when Redis loses everything, counts begin anew, running requests get their places back, and no count falls below 0', async () => {
    const leaseMs = 600
    const limits = await open({ leaseMs, redisTime: systemClock.now })
    const scope = scopeOf({ tokensPerMinute: 1_000, concurrency: 2 })
    const leases = [await granted(take(limits, scope, 500)), await granted(take(limits, scope, 500))]
    await redis.flush()
    const standing = () => ask.zcard(`{tollgate:limits}:key:${scope.id}:running`)
    await expect.poll(standing, { timeout: patienceMs, interval: 20 }).toBe(2)
    expect(await take(limits, scope)).toMatchObject({ limit: 'concurrency', tokens: { remaining: 1_000 } })
    for (const lease of leases) lease.settle(0)
    expect(await take(limits, scope, 1_000)).toMatchObject({ granted: true, tokens: { remaining: 0 } })
    await ask.script('FLUSH')
    expect(await take(limits, scope, 1_000)).toMatchObject({ granted: false, limit: 'tokens' })
    expect(limits.state()).toMatchObject({ mode: 'shared', localDecisions: 0 })
  })

  test('a process that starts without Redis has local limits, and shares them when Redis is there', async () => {
    await redis.kill9()
    const limits = await openRedisLimits({ url: redis.url, waitMs, leaseMs: 30_000, clock: systemClock, log })
    opened.push(limits)
    const scope = scopeOf({ requestsPerMinute: 1 })
    await granted(take(limits, scope))
    expect(await take(limits, scope)).toMatchObject({ granted: false, limit: 'requests' })
    expect(logged).toEqual([expect.stringContaining('warn: Redis does not answer')])
    await redis.restart()
    await shared(limits)
    await granted(take(limits, scope))
    expect(logged[1]).toContain('info: Redis is back')
  })

  test('a Redis that refuses writes counts as away', async () => {
    const limits = await open({ waitMs })
    await ask.config('SET', 'maxmemory', '1')
    const scope = scopeOf({ requestsPerMinute: 2 })
    const decisions = []
    for (let turn = 0; turn < 5; turn++) decisions.push(await take(limits, scope))
    expect(count(decisions)).toBe(2)
    await local(limits)
    await ask.config('SET', 'maxmemory', '0')
    await shared(limits)
    await granted(take(limits, scope))
  })

  test('when Redis loses everything or is down for long, no process believes that it is the only one', async () => {
    const two = [await open({ waitMs }), await open({ waitMs })]
    const processes = () => two.map((limits) => limits.state().processes)
    await expect.poll(processes, { timeout: patienceMs }).toEqual([2, 2])
    /** Resolves when both processes have reported after Redis knew both, so that both have counted two. */
    const untilBothSaidThatTheyLive = async () => {
      const read = () => ask.zrange('{tollgate:limits}:processes', '0', '-1', 'WITHSCORES')
      await expect.poll(async () => (await read()).length / 2).toBe(2)
      const before = await read()
      await expect.poll(async () => (await read()).filter((word) => before.includes(word)).length).toBe(2)
    }
    const seen = new Set<number>()
    const timer = setInterval(() => {
      for (const count of processes()) seen.add(count)
    }, 5)
    try {
      await redis.flush()
      await untilBothSaidThatTheyLive()
      redis.pause()
      const asked = async (limits: Limits) => {
        await take(limits, scopeOf({ requestsPerMinute: 10 }))
        return limits.state().mode
      }
      for (const limits of two) await expect.poll(() => asked(limits), { timeout: patienceMs }).toBe('local')
      // Longer than Redis remembers a silent process.
      await holdsFor(3_500, () => expect(processes()).toEqual([2, 2]))
      redis.resume()
      await Promise.all(two.map(shared))
      await untilBothSaidThatTheyLive()
    } finally {
      clearInterval(timer)
    }
    expect([...seen]).toEqual([2])
  })

  test('a process that has ended no longer counts as one that shares', async () => {
    const staying = await open()
    const leaving = await openShared(redis.url)
    const processes = () => staying.state().processes
    await expect.poll(processes, { timeout: patienceMs }).toBe(2)
    await leaving.close()
    await expect.poll(processes, { timeout: patienceMs }).toBe(1)
  })
})
