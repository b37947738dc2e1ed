import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { heldTokens, standingOf } from './buckets.ts'
import {
  type Decision,
  type Lease,
  type Limits,
  type LimitsState,
  type Scope,
  unlimitedLease,
} from './limits.ts'
import { type MemoryLimits, memoryLimits } from './memory.ts'
import { connectMs, RedisStore, type Taken } from './redis-store.ts'

export interface RedisLimitsOptions {
  url: string
  /** Redis is waited for so long, then this process decides alone. */
  waitMs: number
  /** A running request counts for so long after it was last heard of. */
  leaseMs: number
  log: LimitsLog
  /** Milliseconds, whole. Default: the clock of Redis. */
  clock?: () => number
}

export interface LimitsLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

/**
 * Limits that all processes count together in Redis. While it is slow or away each process allows its part: the limit
 * divided by how many processes were last seen, less what it has let through before. Resolves once Redis has answered or
 * has shown that it does not.
 */
export async function openRedisLimits(options: RedisLimitsOptions): Promise<Limits> {
  const limits = new RedisLimits(options)
  await Promise.race([limits.opened, sleep(connectMs)])
  return limits
}

class RedisLimits implements Limits {
  readonly opened: Promise<void>
  readonly #options: RedisLimitsOptions
  readonly #local: MemoryLimits
  readonly #store: RedisStore
  readonly #processId = randomUUID()
  readonly #timer: NodeJS.Timeout
  /** Requests that run, and the scopes in which they have a place. */
  readonly #running = new Map<string, readonly Scope[]>()
  #mode: LimitsState['mode'] | 'opening' = 'opening'
  /** How many processes Redis had, a beat apart, the newest last. */
  #counts: number[] = []
  #countedAt = Number.NEGATIVE_INFINITY
  #localDecisions = 0
  /** How often Redis was waited for in vain, one after the other; whatever waited at the same time waited once. */
  #misses = 0
  #missedAt = 0
  #beating = false
  #renewedAt = 0
  #closed = false
  #open: () => void = () => {}

  constructor(options: RedisLimitsOptions) {
    const { url, clock, leaseMs } = options
    this.#options = options
    this.opened = new Promise((resolve) => {
      this.#open = resolve
    })
    this.#local = memoryLimits(clock === undefined ? {} : { clock })
    this.#store = new RedisStore(url, {
      clock,
      ready: () => void this.#beat(),
      lost: () => this.#goLocal(this.#store.trouble),
    })
    this.#timer = setInterval(() => void this.#beat(), Math.min(beatMs, leaseMs / 3))
    this.#timer.unref()
  }

  take(scopes: readonly Scope[], tokensEstimate: number, requestId: string): Decision | Promise<Decision> {
    if (scopes.length === 0) return unlimitedLease
    return this.#mode === 'shared'
      ? this.#takeShared(scopes, tokensEstimate, requestId)
      : this.#takeLocal(scopes, tokensEstimate, requestId)
  }

  state(): LimitsState {
    const mode = this.#mode === 'shared' ? 'shared' : 'local'
    return { mode, processes: this.#processes, localDecisions: this.#localDecisions }
  }

  /** The most of them: when Redis has lost its data or was away, the others have yet to say that they are there. */
  get #processes(): number {
    return Math.max(1, ...this.#counts)
  }

  async close(): Promise<void> {
    this.#closed = true
    clearInterval(this.#timer)
    // What was settled just now is on its way before this.
    await inTime(this.#store.leave(this.#processId), this.#options.waitMs).catch(() => {})
    this.#store.close()
  }

  async #takeShared(scopes: readonly Scope[], tokensEstimate: number, requestId: string): Promise<Decision> {
    const { waitMs, leaseMs } = this.#options
    const askedAt = performance.now()
    const held = scopes.map((scope) => heldTokens(scope, tokensEstimate))
    const asking = this.#store.take(scopes, held, requestId, leaseMs)
    const taken = await inTime(asking, waitMs).catch(() => undefined)
    if (taken === undefined) {
      this.#miss(askedAt)
      // It is decided without Redis: what Redis makes of it later must not count as well.
      const takenBack = { requests: -1, tokens: held.map((tokens) => -tokens) }
      asking
        .then(({ refused }) => {
          if (refused === undefined) this.#settleShared(scopes, requestId, takenBack)
        })
        .catch(() => {})
      return this.#takeLocal(scopes, tokensEstimate, requestId)
    }
    this.#misses = 0
    if (taken.refused !== undefined) return refusal(scopes, taken.levels, taken.refused)
    // Should Redis go away, this process goes on from what it has let through.
    const settleNoted = this.#local.note(this.#partsOf(scopes), tokensEstimate)
    const leave = this.#enter(scopes, requestId)
    return lease(standingOf(scopes, taken.levels), (actualTokens) => {
      settleNoted(actualTokens)
      leave()
      if (!scopes.some(hasPlaces) && !scopes.some(hasTokens)) return
      const tokens = scopes.map((scope, index) => (hasTokens(scope) ? actualTokens - (held[index] ?? 0) : 0))
      this.#settleShared(scopes, requestId, { requests: 0, tokens })
    })
  }

  #takeLocal(scopes: readonly Scope[], tokensEstimate: number, requestId: string): Decision {
    this.#localDecisions++
    const decision = this.#local.take(this.#partsOf(scopes), tokensEstimate)
    if (!decision.granted) return decision
    const leave = this.#enter(scopes, requestId)
    return lease(decision, (actualTokens) => {
      decision.settle(actualTokens)
      leave()
      // Its places stand in Redis where that came back meanwhile; its tokens never do.
      const places = scopes.filter(hasPlaces)
      if (this.#mode !== 'shared' || places.length === 0) return
      this.#settleShared(places, requestId, { requests: 0, tokens: [] })
    })
  }

  #partsOf(scopes: readonly Scope[]): Scope[] {
    return scopes.map((scope) => partOf(scope, this.#processes))
  }

  /** From now on its places are renewed, until what is returned is called. */
  #enter(scopes: readonly Scope[], requestId: string): () => void {
    const places = scopes.filter(hasPlaces)
    if (places.length > 0) this.#running.set(requestId, places)
    return () => void this.#running.delete(requestId)
  }

  /** Nobody waits for it: where it fails, a place becomes free by expiry and tokens by refilling. */
  #settleShared(...settlement: Parameters<RedisStore['settle']>): void {
    this.#store.settle(...settlement).catch(() => {})
  }

  /** Say that this process is there, learn how many are, and see whether Redis is to be relied upon. */
  async #beat(): Promise<void> {
    if (this.#beating || this.#closed || !this.#store.isReady) return
    this.#beating = true
    const askedAt = performance.now()
    let again = false
    try {
      const asking = this.#store.beat(this.#processId, beatMs * beatsMissedMax)
      const processes = await inTime(asking, this.#options.waitMs)
      if (processes === undefined) {
        this.#miss(askedAt)
        await asking
        // It answers again. Whether it does so in time shows at once.
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
      // Redis that comes and goes is asked more often than the others can say that they are there.
      const last = this.#counts.pop() ?? 0
      this.#counts.push(Math.max(last, processes))
      return
    }
    this.#countedAt = nowMs
    this.#counts = [...this.#counts.slice(1 - beatsMissedMax), processes]
  }

  #renewWhenDue(): void {
    const { leaseMs } = this.#options
    if (performance.now() - this.#renewedAt < leaseMs / 3 - timerMs) return
    this.#renewedAt = performance.now()
    const places = [...this.#running].flatMap(([requestId, scopes]) =>
      scopes.map((scope) => ({ scope, requestId })),
    )
    this.#store.renew(places, leaseMs).catch(() => {})
  }

  #miss(askedAt: number): void {
    if (askedAt < this.#missedAt) return
    this.#missedAt = performance.now()
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
      // What began meanwhile, or before it lost everything, has no place there.
      this.#renewedAt = Number.NEGATIVE_INFINITY
    }
    this.#mode = 'shared'
    this.#open()
  }
}

/** How often a process says that it is there, at least. */
const beatMs = 1_000
/** It counts as there until it has not said so for so many times; so many counts are remembered. */
const beatsMissedMax = 3
/** Answers in a row that do not come in time, until Redis is not asked any more. */
const missesMax = 3
/** How much earlier than it should a timer may come. */
const timerMs = 5

/**
 * Undefined when the time is over. An answer that has come is taken even then: it may only wait behind this process's
 * own work.
 */
function inTime<T>(answer: Promise<T>, waitMs: number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => setImmediate(() => resolve(undefined)), waitMs)
    answer.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function hasPlaces({ limits }: Scope): boolean {
  return limits.concurrency !== undefined
}

function hasTokens({ limits }: Scope): boolean {
  return limits.tokensPerMinute !== undefined
}

/** What one of so many processes may allow by itself. */
function partOf({ kind, id, limits }: Scope, processes: number): Scope {
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

function refusal(
  scopes: readonly Scope[],
  levels: Taken['levels'],
  refused: NonNullable<Taken['refused']>,
): Decision {
  const { index, limit, retryAfterMs } = refused
  const scope = scopes[index]
  if (scope === undefined) throw new Error('Redis names a scope that was not asked about')
  const { requestsPerMinute, tokensPerMinute, concurrency } = scope.limits
  const allowed = { requests: requestsPerMinute, tokens: tokensPerMinute, concurrency }[limit] ?? 0
  const standing = standingOf(scopes, levels, refused)
  return { granted: false, scope: scope.kind, limit, allowed, retryAfterMs, ...standing }
}

function lease({ requests, tokens }: Pick<Lease, 'requests' | 'tokens'>, settle: Lease['settle']): Lease {
  let settled = false
  return {
    granted: true,
    requests,
    tokens,
    settle(actualTokens) {
      if (settled) return
      settled = true
      settle(actualTokens)
    },
  }
}
