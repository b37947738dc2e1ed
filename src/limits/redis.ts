import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../runtime/clock.ts'
import { inTime, LateError } from '../runtime/in-time.ts'
import type { Log } from '../telemetry/log.ts'
import { heldTokens, standingOf } from './buckets.ts'
import { type Decision, type LimitScope, type Limits, type LimitsState, unlimitedLease } from './limits.ts'
import { type MemoryLimits, memoryLimits } from './memory.ts'
import { connectMs, RedisStore } from './redis-store.ts'
import { hasPlaces, type LeaseHome, LocalLease, refusalFrom, SharedLease } from './shared-lease.ts'

export interface RedisLimitsOptions {
  url: string
  /** After this time without an answer from Redis, this process decides alone. */
  waitMs: number
  /**
   * How long a running request keeps its concurrency slots after the last renewal, in case its process has
   * died.
   */
  leaseMs: number
  clock: Clock
  log: Log
  /** The current time in whole milliseconds, passed to Redis. By default Redis uses its own. */
  redisTime?: () => number
}

/**
 * Limits that all processes count together in Redis. While Redis is slow or unavailable, each process allows
 * its part: the limit divided by the last known number of processes, less what this process has already
 * granted. Resolves when Redis has answered, or after `connectMs`.
 */
export async function openRedisLimits(options: RedisLimitsOptions): Promise<Limits> {
  const limits = new RedisLimits(options)
  await Promise.race([limits.opened, sleep(connectMs)])
  return limits
}

class RedisLimits implements Limits {
  readonly opened: Promise<void>
  readonly #options: RedisLimitsOptions
  readonly #clock: Clock
  readonly #local: MemoryLimits
  readonly #store: RedisStore
  readonly #processId = randomUUID()
  readonly #timer: NodeJS.Timeout
  /** Running requests and the scopes in which each holds a concurrency slot. */
  readonly #running = new Map<string, readonly LimitScope[]>()
  #mode: LimitsState['mode'] | 'opening' = 'opening'
  /** The numbers of processes at the most recent heartbeats, newest last. */
  #counts: number[] = []
  #countedAt = Number.NEGATIVE_INFINITY
  #localDecisions = 0
  /** The number of consecutive Redis timeouts. Requests that timed out together count once. */
  #misses = 0
  #missedAt = 0
  #beating = false
  #renewedAt = 0
  #closed = false
  #open: () => void = () => {}
  /** What the leases need from this object. */
  readonly #home: LeaseHome = {
    isShared: () => this.#mode === 'shared',
    enter: (requestId, scopes) => {
      const places = scopes.filter(hasPlaces)
      if (places.length > 0) this.#running.set(requestId, places)
    },
    leave: (requestId) => void this.#running.delete(requestId),
    hold: (...question) => {
      const asking = this.#store.hold(...question)
      return { asking, inTime: this.#inTime(asking) }
    },
    decidedLocally: () => {
      this.#localDecisions++
    },
    settle: (...settlement) => this.#settleShared(...settlement),
  }

  constructor(options: RedisLimitsOptions) {
    const { url, clock, redisTime, leaseMs } = options
    this.#options = options
    this.#clock = clock
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
    this.#local = memoryLimits(clock)
    this.#store = new RedisStore(url, {
      time: redisTime,
      ready: () => void this.#beat(),
      lost: () => this.#goLocal(this.#store.trouble),
    })
    this.#timer = setInterval(() => void this.#beat(), Math.min(beatMs, leaseMs / 3))
    this.#timer.unref()
  }

  take(
    scopes: readonly LimitScope[],
    tokensEstimate: number,
    requestId: string,
  ): Decision | Promise<Decision> {
    if (scopes.length === 0) return unlimitedLease
    return this.#mode === 'shared'
      ? this.#takeShared(scopes, tokensEstimate, requestId)
      : this.#takeLocal(scopes, tokensEstimate, requestId)
  }

  state(): LimitsState {
    const mode = this.#mode === 'shared' ? 'shared' : 'local'
    return { mode, processes: this.#processes, localDecisions: this.#localDecisions }
  }

  /**
   * The highest of the recent counts, because after Redis has lost its data the other processes need time to
   * send their heartbeats.
   */
  get #processes(): number {
    return Math.max(1, ...this.#counts)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    // This command follows the latest settlements on the same connection.
    await inTime(this.#store.leave(this.#processId), this.#options.waitMs, 'Redis').catch(() => {})
    this.#store.close()
  }

  async #takeShared(
    scopes: readonly LimitScope[],
    tokensEstimate: number,
    requestId: string,
  ): Promise<Decision> {
    const held = scopes.map((scope) => heldTokens(scope, tokensEstimate))
    const asking = this.#store.take(scopes, held, requestId, this.#options.leaseMs)
    const taken = await this.#inTime(asking)
    if (taken === undefined) {
      // This process decides now. If Redis grants the request later, the grant is returned.
      const takenBack = { requests: -1, tokens: held.map((tokens) => -tokens) }
      asking
        .then(({ refused }) => {
          if (refused === undefined) this.#settleShared(scopes, requestId, takenBack)
        })
        .catch(() => {})
      return this.#takeLocal(scopes, tokensEstimate, requestId)
    }
    if (taken.refused !== undefined) return refusalFrom(scopes, taken)
    return new SharedLease(this.#home, {
      scopes,
      requestId,
      held,
      standing: standingOf(scopes, taken.levels),
      // The local limits must know what this process has granted in case Redis becomes unavailable.
      noted: this.#local.note(this.#partsOf(scopes), tokensEstimate),
    })
  }

  #takeLocal(scopes: readonly LimitScope[], tokensEstimate: number, requestId: string): Decision {
    this.#localDecisions++
    const decision = this.#local.take(this.#partsOf(scopes), tokensEstimate)
    return decision.granted ? new LocalLease(this.#home, { scopes, requestId, decision }) : decision
  }

  /** The answer of Redis; undefined if it was late or failed. */
  async #inTime<T>(asking: Promise<T>): Promise<T | undefined> {
    const askedAt = this.#clock.elapsed()
    const answer = await inTime(asking, this.#options.waitMs, 'Redis').catch(() => undefined)
    if (answer === undefined) this.#miss(askedAt)
    else this.#misses = 0
    return answer
  }

  #partsOf(scopes: readonly LimitScope[]): LimitScope[] {
    return scopes.map((scope) => partOf(scope, this.#processes))
  }

  /**
   * Runs in the background. If it fails, the slots become free when their lease ends, and the buckets refill.
   */
  #settleShared(...settlement: Parameters<RedisStore['settle']>): void {
    this.#store.settle(...settlement).catch(() => {})
  }

  /** Reports that this process is alive, counts the processes, and checks whether Redis answers in time. */
  async #beat(): Promise<void> {
    if (this.#beating || this.#closed || !this.#store.isReady) return
    this.#beating = true
    const askedAt = this.#clock.elapsed()
    let again = false
    try {
      const asking = this.#store.beat(this.#processId, beatMs * beatsMissedMax)
      const processes = await inTime(asking, this.#options.waitMs, 'Redis').catch(undefinedIfLate)
      if (processes === undefined) {
        this.#miss(askedAt)
        await asking
        // Redis has answered, but late: beat again at once to check whether it is fast enough now.
        again = true
      } else {
        this.#count(processes, askedAt)
        this.#goShared()
        this.#renewWhenDue()
      }
    } catch (error) {
      this.#goLocal(String(error))
    } finally {
      this.#beating = false
    }
    if (again) void this.#beat()
  }

  #count(processes: number, nowMs: number): void {
    if (nowMs - this.#countedAt < beatMs - timerMs) {
      // Each reconnect also sends a heartbeat, too soon after the last one for the other processes to have
      // sent theirs again, so the larger count is kept.
      const last = this.#counts.pop() ?? 0
      this.#counts.push(Math.max(last, processes))
      return
    }
    this.#countedAt = nowMs
    this.#counts = [...this.#counts.slice(1 - beatsMissedMax), processes]
  }

  #renewWhenDue(): void {
    const { leaseMs } = this.#options
    if (this.#clock.elapsed() - this.#renewedAt < leaseMs / 3 - timerMs) return
    this.#renewedAt = this.#clock.elapsed()
    const places = [...this.#running].flatMap(([requestId, scopes]) =>
      scopes.map((scope) => ({ scope, requestId })),
    )
    this.#store.renew(places, leaseMs).catch(() => {})
  }

  #miss(askedAt: number): void {
    if (askedAt < this.#missedAt) return
    this.#missedAt = this.#clock.elapsed()
    if (++this.#misses >= missesMax) this.#goLocal(`no answer within ${this.#options.waitMs} ms`)
  }

  #goLocal(error: string): void {
    this.#open()
    if (this.#mode === 'local' || this.#closed) return
    this.#mode = 'local'
    const fields = { error, processes: this.#processes }
    this.#options.log.warn(
      fields,
      'Redis does not answer in time; until it does, each process enforces its own share of every limit',
    )
  }

  #goShared(): void {
    this.#misses = 0
    if (this.#mode === 'local') {
      const fields = { processes: this.#processes }
      this.#options.log.info(fields, 'Redis is back: all processes count limits together')
      // Renew all slots now: requests that began meanwhile have none in Redis, and Redis may have lost the
      // others.
      this.#renewedAt = Number.NEGATIVE_INFINITY
    }
    this.#mode = 'shared'
    this.#open()
  }
}

/** The maximum time between two heartbeats of a process. */
const beatMs = 1_000
/** A process counts as alive until it has missed this many heartbeats. Just as many counts are remembered. */
const beatsMissedMax = 3
/** The number of consecutive timeouts after which requests are no longer sent to Redis. */
const missesMax = 3
/** A timer can fire this much too early. */
const timerMs = 5

/** Returns undefined for a late answer; any other error is thrown again. */
function undefinedIfLate(error: unknown): undefined {
  if (!(error instanceof LateError)) throw error
}

/** The part of each limit that one of `processes` can grant alone. */
function partOf({ kind, id, limits }: LimitScope, processes: number): LimitScope {
  const part = (limit: number | undefined) => (limit === undefined ? undefined : Math.ceil(limit / processes))
  return {
    kind,
    id,
    limits: {
      requestsPerMinute: part(limits.requestsPerMinute),
      tokensPerMinute: part(limits.tokensPerMinute),
      concurrency: part(limits.concurrency),
    },
  }
}
