import type { Clock } from '../runtime/clock.ts'
import { heldTokens, type Levels, placeWaitMs, refilled, standingOf, unitsPerOne, waitMs } from './buckets.ts'
import type { Allowance, Denial, Held, LimitLease, LimitName, LimitRefusal, LimitScope } from './limits.ts'

/** The counts of one scope in this process. */
export interface ScopeState extends Levels {
  running: number
  /** When the levels were last updated. */
  atMs: number
  /** The time at which both buckets will be full. From then on the state can be discarded. */
  fullAtMs: number
}

/** The share of a scope that a request holds or requests. */
export interface Hold {
  readonly scope: LimitScope
  readonly state: ScopeState
  tokens: number
}

/** A request that this process counts in each of its scopes. */
export class MemoryLease implements LimitLease {
  readonly granted = true
  readonly requests: Allowance | undefined
  readonly tokens: Allowance | undefined
  readonly #holds: readonly Hold[]
  readonly #clock: Pick<Clock, 'now'>
  #ended = false

  /** Charges each scope for a concurrency slot, a request and the tokens. */
  constructor(holds: readonly Hold[], clock: Pick<Clock, 'now'>) {
    this.#holds = holds
    this.#clock = clock
    for (const hold of holds) {
      hold.state.running++
      if (hold.scope.limits.requestsPerMinute !== undefined) hold.state.requests += unitsPerOne
      addTokens(hold, hold.tokens)
    }
    const { requests, tokens } = standingIn(holds)
    this.requests = requests
    this.tokens = tokens
  }

  hold(tokensEstimate: number): Held {
    this.#refill()
    const wanted = this.#wanted(tokensEstimate)
    const denied = findTokensDenial(wanted)
    if (denied !== undefined) {
      this.giveBack()
      return refusalIn(this.#holds, denied)
    }
    this.#keep(wanted)
    return { granted: true, ...standingIn(this.#holds) }
  }

  /** Holds these tokens, which Redis has granted, as far as there is room. */
  noteTokens(tokensEstimate: number): void {
    this.#refill()
    this.#keep(this.#wanted(tokensEstimate))
    this.boundLevels()
  }

  /**
   * Caps the levels at the full limits. A higher level means that other processes did not use all of their
   * parts, so this process must not have to pay it off.
   */
  boundLevels(): void {
    for (const { scope, state } of this.#holds) {
      const { requestsPerMinute, tokensPerMinute } = scope.limits
      state.requests = Math.min(state.requests, (requestsPerMinute ?? 0) * unitsPerOne)
      state.tokens = Math.min(state.tokens, (tokensPerMinute ?? 0) * unitsPerOne)
    }
  }

  settle(actualTokens: number): void {
    this.#end(actualTokens, 0)
  }

  giveBack(): void {
    this.#end(0, 1)
  }

  #end(actualTokens: number, requestsBack: number): void {
    if (this.#ended) return
    this.#ended = true
    this.#refill()
    for (const hold of this.#holds) {
      const { scope, state, tokens } = hold
      state.running--
      state.requests = Math.max(0, state.requests - requestsBack * unitsPerOne)
      if (scope.limits.tokensPerMinute !== undefined) addTokens(hold, actualTokens - tokens)
      else noteFull(hold)
    }
  }

  #wanted(tokensEstimate: number): Hold[] {
    return this.#holds.map(({ scope, state }) => ({
      scope,
      state,
      tokens: heldTokens(scope, tokensEstimate),
    }))
  }

  #keep(wanted: readonly Hold[]): void {
    if (this.#ended) return
    for (const [index, more] of wanted.entries()) {
      const hold = this.#holds[index]
      if (hold === undefined) continue
      addTokens(hold, more.tokens)
      hold.tokens += more.tokens
    }
  }

  #refill(): void {
    const nowMs = this.#clock.now()
    for (const { state, scope } of this.#holds) refill(state, scope, nowMs)
  }
}

export function refill(state: ScopeState, { limits }: LimitScope, nowMs: number): void {
  // A clock that was set back must not change a level.
  const elapsedMs = Math.max(0, nowMs - state.atMs)
  state.atMs = nowMs
  state.requests = refilled(state.requests, limits.requestsPerMinute, elapsedMs)
  state.tokens = refilled(state.tokens, limits.tokensPerMinute, elapsedMs)
}

export interface Denied extends Denial {
  /** The position of its scope. */
  index: number
}

export function refusalIn(holds: readonly Hold[], { index, ...denial }: Denied): LimitRefusal {
  return { granted: false, ...denial, ...standingIn(holds, { index, limit: denial.limit }) }
}

/**
 * The limit with the longest wait: once it has room, so do the others. If waits are equal, the first limit.
 */
export function findDenial(holds: readonly Hold[]): Denied | undefined {
  const found = longestWait(holds, ['requests', 'tokens'])
  if (found !== undefined) return found
  for (const [index, { scope, state }] of holds.entries()) {
    const { concurrency } = scope.limits
    if (concurrency === undefined || state.running < concurrency) continue
    return { index, scope: scope.kind, limit: 'concurrency', allowed: concurrency, retryAfterMs: placeWaitMs }
  }
  return undefined
}

function findTokensDenial(holds: readonly Hold[]): Denied | undefined {
  return longestWait(holds, ['tokens'])
}

function longestWait(
  holds: readonly Hold[],
  names: readonly Exclude<LimitName, 'concurrency'>[],
): Denied | undefined {
  let found: Denied | undefined
  for (const [index, { scope, state, tokens }] of holds.entries()) {
    for (const limit of names) {
      const { requestsPerMinute, tokensPerMinute } = scope.limits
      const perMinute = limit === 'requests' ? requestsPerMinute : tokensPerMinute
      const retryAfterMs = waitMs(state[limit], limit === 'requests' ? 1 : tokens, perMinute)
      if (retryAfterMs <= (found?.retryAfterMs ?? 0)) continue
      found = { index, scope: scope.kind, limit, allowed: perMinute ?? 0, retryAfterMs }
    }
  }
  return found
}

function standingIn(holds: readonly Hold[], refused?: { index: number; limit: string }) {
  return standingOf(
    holds.map(({ scope }) => scope),
    holds.map(({ state }) => state),
    refused,
  )
}

function addTokens(hold: Hold, tokens: number): void {
  hold.state.tokens = Math.max(0, hold.state.tokens + tokens * unitsPerOne)
  noteFull(hold)
}

function noteFull({ state, scope: { limits } }: Hold): void {
  state.fullAtMs =
    state.atMs +
    Math.max(
      waitMs(state.requests, limits.requestsPerMinute ?? 0, limits.requestsPerMinute),
      waitMs(state.tokens, limits.tokensPerMinute ?? 0, limits.tokensPerMinute),
    )
}
