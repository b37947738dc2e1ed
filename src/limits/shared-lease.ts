import { heldTokens, standingOf } from './buckets.ts'
import type { Allowance, Held, LimitLease, LimitRefusal, LimitScope, Standing } from './limits.ts'
import type { MemoryLease } from './memory-lease.ts'
import type { RedisStore, Taken } from './redis-store.ts'

/** What the leases of a process need from the Redis-backed limits. */
export interface LeaseHome {
  /** True while Redis answers and all processes count together. */
  isShared(): boolean
  /** Keeps renewing the concurrency slots of this request until `leave`. */
  enter(requestId: string, scopes: readonly LimitScope[]): void
  leave(requestId: string): void
  /** `inTime` resolves with undefined if Redis is too slow; `asking` still resolves with what Redis did. */
  hold(...question: Parameters<RedisStore['hold']>): {
    asking: Promise<Taken>
    inTime: Promise<Taken | undefined>
  }
  decidedLocally(): void
  /** Runs in the background. */
  settle(...settlement: Parameters<RedisStore['settle']>): void
}

interface Granted {
  scopes: readonly LimitScope[]
  requestId: string
}

/** A request that Redis granted. */
export class SharedLease implements LimitLease {
  readonly granted = true
  readonly requests: Allowance | undefined
  readonly tokens: Allowance | undefined
  readonly #home: LeaseHome
  readonly #request: Granted
  /** The same request in the local limits. */
  readonly #noted: MemoryLease
  /** The tokens that Redis holds in each scope. */
  #held: readonly number[]
  #ended = false

  constructor(
    home: LeaseHome,
    given: Granted & { held: readonly number[]; standing: Standing; noted: MemoryLease },
  ) {
    const { scopes, requestId, held, standing, noted } = given
    this.#home = home
    this.#request = { scopes, requestId }
    this.#held = held
    this.#noted = noted
    this.requests = standing.requests
    this.tokens = standing.tokens
    home.enter(requestId, scopes)
  }

  async hold(tokensEstimate: number): Promise<Held> {
    const { scopes, requestId } = this.#request
    if (!this.#home.isShared()) return this.#holdLocally(tokensEstimate)
    const more = scopes.map((scope) => heldTokens(scope, tokensEstimate))
    // Redis may free the slots now, and a renewal at this moment would take them again.
    this.#home.leave(requestId)
    const { asking, inTime } = this.#home.hold(scopes, more, this.#held, requestId)
    const taken = await inTime
    if (taken === undefined) return this.#holdLocally(tokensEstimate, { asking, more })
    if (taken.refused !== undefined) {
      this.#ended = true
      this.#noted.giveBack()
      return refusalFrom(scopes, taken)
    }
    this.#noted.noteTokens(tokensEstimate)
    this.#keep(more)
    return { granted: true, ...standingOf(scopes, taken.levels) }
  }

  settle(actualTokens: number): void {
    this.#noted.settle(actualTokens)
    this.#end(actualTokens, 0)
  }

  giveBack(): void {
    this.#noted.giveBack()
    this.#end(0, -1)
  }

  /** `late` is the call that Redis did not answer in time. */
  #holdLocally(tokensEstimate: number, late?: { asking: Promise<Taken>; more: readonly number[] }): Held {
    this.#home.decidedLocally()
    const decision = this.#noted.hold(tokensEstimate)
    const refusedHere = !decision.granted
    if (refusedHere && late === undefined) this.#end(0, -1)
    else if (refusedHere) this.#leave()
    else if (!this.#ended) this.#home.enter(this.#request.requestId, this.#request.scopes)
    late?.asking
      .then(({ refused }) => {
        // If Redis refused, it has already returned everything. If the request runs, the next renewal takes
        // its slots again.
        if (refused !== undefined) return
        if (refusedHere) this.#giveBackShared(late.more)
        else this.#keep(late.more)
      })
      .catch(() => {})
    return decision
  }

  /** Redis has granted these tokens. */
  #keep(more: readonly number[]): void {
    const { scopes, requestId } = this.#request
    if (this.#ended) {
      const tokens = more.map((count) => -count)
      this.#home.settle(scopes, requestId, { requests: 0, tokens })
      return
    }
    this.#held = this.#held.map((count, index) => count + (more[index] ?? 0))
    this.#home.enter(requestId, scopes)
  }

  #giveBackShared(more: readonly number[]): void {
    const { scopes, requestId } = this.#request
    const tokens = this.#held.map((count, index) => -count - (more[index] ?? 0))
    this.#home.settle(scopes, requestId, { requests: -1, tokens })
  }

  #end(actualTokens: number, requests: number): void {
    if (this.#ended) return
    this.#leave()
    const { scopes, requestId } = this.#request
    if (requests === 0 && !scopes.some(hasPlaces) && !scopes.some(hasTokens)) return
    const tokens = scopes.map((scope, index) =>
      hasTokens(scope) ? actualTokens - (this.#held[index] ?? 0) : 0,
    )
    this.#home.settle(scopes, requestId, { requests, tokens })
  }

  #leave(): void {
    this.#ended = true
    this.#home.leave(this.#request.requestId)
  }
}

/** A request that this process granted alone. */
export class LocalLease implements LimitLease {
  readonly granted = true
  readonly requests: Allowance | undefined
  readonly tokens: Allowance | undefined
  readonly #home: LeaseHome
  readonly #request: Granted
  readonly #decision: LimitLease
  #ended = false

  constructor(home: LeaseHome, { scopes, requestId, decision }: Granted & { decision: LimitLease }) {
    this.#home = home
    this.#request = { scopes, requestId }
    this.#decision = decision
    this.requests = decision.requests
    this.tokens = decision.tokens
    home.enter(requestId, scopes)
  }

  hold(tokensEstimate: number): Held | Promise<Held> {
    const held = this.#decision.hold(tokensEstimate)
    if (!(held instanceof Promise) && !held.granted) this.#end()
    return held
  }

  settle(actualTokens: number): void {
    this.#decision.settle(actualTokens)
    this.#end()
  }

  giveBack(): void {
    this.#decision.giveBack()
    this.#end()
  }

  #end(): void {
    if (this.#ended) return
    this.#ended = true
    const { scopes, requestId } = this.#request
    this.#home.leave(requestId)
    // If Redis is available again, the renewal has taken the slots there; the tokens were never charged
    // there.
    const places = scopes.filter(hasPlaces)
    if (!this.#home.isShared() || places.length === 0) return
    this.#home.settle(places, requestId, { requests: 0, tokens: [] })
  }
}

/** Converts a refusal by Redis. */
export function refusalFrom(scopes: readonly LimitScope[], { levels, refused }: Taken): LimitRefusal {
  const scope = refused === undefined ? undefined : scopes[refused.index]
  if (refused === undefined || scope === undefined)
    throw new Error('Redis refused a scope that was not part of the request')
  const { limit, retryAfterMs } = refused
  const { requestsPerMinute, tokensPerMinute, concurrency } = scope.limits
  const allowed = { requests: requestsPerMinute, tokens: tokensPerMinute, concurrency }[limit] ?? 0
  const standing = standingOf(scopes, levels, refused)
  return { granted: false, scope: scope.kind, limit, allowed, retryAfterMs, ...standing }
}

export function hasPlaces({ limits }: LimitScope): boolean {
  return limits.concurrency !== undefined
}

function hasTokens({ limits }: LimitScope): boolean {
  return limits.tokensPerMinute !== undefined
}
