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
  /** After this time without an answer of Redis, this process decides alone. */
  waitMs: number
  /** A running request holds its places for this long after its last renewal: its process may have died. */
  leaseMs: number
  clock: Clock
  log: Log
  /** Whole milliseconds by which Redis counts. Default: its own time. */
  redisTime?: () => number
}

/**
 * Limits that all processes count together in Redis. While Redis is slow or away, each process allows its
 * part: the limit divided by the last known number of processes, less what this process has granted before.
 * Resolves when Redis has answered, or after `connectMs`.
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
  /** Running requests, and the scopes in which each holds a place. */
  readonly #running = new Map<string, readonly LimitScope[]>()
  #mode: LimitsState['mode'] | 'opening' = 'opening'
  /** The numbers of processes at the last beats, the newest last. */
  #counts: number[] = []
  #countedAt = Number.NEGATIVE_INFINITY
  #localDecisions = 0
  /** Consecutive timeouts of Redis. Requests that timed out together count once. */
  #misses = 0
  #missedAt = 0
  #beating = false
  #renewedAt = 0
  #closed = false
  #open: () => void = () => {}
  /** What leases need of this object. */
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
   * The largest of the last counts: after Redis lost its data, the other processes still have to beat again.
   */
  get #processes(): number {
    return Math.max(1, ...this.#counts)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    // The latest settlements are sent before this command, on the same connection.
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
      // This process decides now: if Redis grants the request later, we take that back.
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
      // If Redis goes away, the local limits must know what this process has granted.
      noted: this.#local.note(this.#partsOf(scopes), tokensEstimate),
    })
  }

  #takeLocal(scopes: readonly LimitScope[], tokensEstimate: number, requestId: string): Decision {
    this.#localDecisions++
    const decision = this.#local.take(this.#partsOf(scopes), tokensEstimate)
    return decision.granted ? new LocalLease(this.#home, { scopes, requestId, decision }) : decision
  }

  /** The answer of Redis; undefined: it did not come in time. */
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
   * Runs in the background. If it fails, the places become free when their lease ends, and the buckets
   * refill.
   */
  #settleShared(...settlement: Parameters<RedisStore['settle']>): void {
    this.#store.settle(...settlement).catch(() => {})
  }

  /** Say that this process is alive, count the processes, and see whether Redis answers in time. */
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
        // It has answered, but late: ask again at once to see whether it is in time now.
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
      // Each reconnect beats too. Within one beat the other processes cannot have beaten again: keep the
      // larger count.
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
      'Redis does not answer in time: each process allows its part of each limit until it does',
    )
  }

  #goShared(): void {
    this.#misses = 0
    if (this.#mode === 'local') {
      const fields = { processes: this.#processes }
      this.#options.log.info(fields, 'Redis is back: all processes count limits together')
      // Renew all places now: requests that began meanwhile have none, and Redis may have lost the others.
      this.#renewedAt = Number.NEGATIVE_INFINITY
    }
    this.#mode = 'shared'
    this.#open()
  }
}

/** Longest time between two beats of a process. */
const beatMs = 1_000
/** A process counts as alive until it has missed this many beats. We remember as many counts. */
const beatsMissedMax = 3
/** Consecutive timeouts after which we stop to ask Redis. */
const missesMax = 3
/** A timer may fire this much too early. */
const timerMs = 5

/** Of an answer that comes too late; any other error is thrown again. */
function undefinedIfLate(error: unknown): undefined {
  if (!(error instanceof LateError)) throw error
}

/** The part of each limit that one of `processes` may grant alone. */
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
