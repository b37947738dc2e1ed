import { heldTokens, type Levels, placeWaitMs, refilled, standingOf, unitsPerOne, waitMs } from './buckets.ts'
import {
  type Decision,
  type Denial,
  type Lease,
  type LimitName,
  type Limits,
  lease,
  type Scope,
  unlimitedLease,
} from './limits.ts'

/** Limits that this process counts alone. */
export interface MemoryLimits extends Limits {
  take(scopes: readonly Scope[], tokensEstimate: number): Decision
  /**
   * Count a request that Redis has granted, as far as there is room. The caller calls the returned function once, when the
   * request ends, with the tokens that it used.
   */
  note(scopes: readonly Scope[], tokensEstimate: number): Lease['settle']
}

/**
 * Each scope has a bucket for requests, a bucket for tokens, and a count of running requests. Keeps every scope with
 * running requests, and at most `scopesMax` idle scopes. `clock`: whole milliseconds.
 */
export function memoryLimits(options: { scopesMax?: number; clock?: () => number } = {}): MemoryLimits {
  const { scopesMax = 100_000, clock = Date.now } = options
  const states = new Map<string, ScopeState>()
  let sweptMs = 0

  function stateOf({ kind, id }: Scope, nowMs: number): ScopeState {
    const name = `${kind}:${id}`
    const known = states.get(name)
    if (known !== undefined) return known
    if (states.size >= scopesMax || nowMs - sweptMs > sweepMs) {
      sweptMs = nowMs
      forgetIdle(states, scopesMax, nowMs)
    }
    const state = { running: 0, requests: 0, tokens: 0, atMs: nowMs, fullAtMs: nowMs }
    states.set(name, state)
    return state
  }

  function holdsOf(scopes: readonly Scope[], tokensEstimate: number): Hold[] {
    const nowMs = clock()
    return scopes.map((scope) => {
      const state = stateOf(scope, nowMs)
      refill(state, scope, nowMs)
      return { scope, state, tokens: heldTokens(scope, tokensEstimate) }
    })
  }

  function settle(held: readonly Hold[], actualTokens: number): void {
    const nowMs = clock()
    for (const { scope, state, tokens } of held) {
      state.running--
      refill(state, scope, nowMs)
      if (scope.limits.tokensPerMinute === undefined) continue
      state.tokens = Math.max(0, state.tokens + (actualTokens - tokens) * unitsPerOne)
      noteFull(state, scope)
    }
  }

  return {
    take(scopes, tokensEstimate) {
      if (scopes.length === 0) return unlimitedLease
      const held = holdsOf(scopes, tokensEstimate)
      const denied = findDenial(held)
      if (denied !== undefined) {
        const { index, ...denial } = denied
        const refused = { index, limit: denial.limit }
        return { granted: false, ...denial, ...standingOf(scopes, held.map(stateOfHold), refused) }
      }
      charge(held)
      return lease(standingOf(scopes, held.map(stateOfHold)), (actualTokens) => settle(held, actualTokens))
    },
    note(scopes, tokensEstimate) {
      const held = holdsOf(scopes, tokensEstimate)
      charge(held)
      for (const { scope, state } of held) {
        const { requestsPerMinute, tokensPerMinute } = scope.limits
        // Other processes did not use all of their parts: more than a full limit here is not a debt of this process.
        state.requests = Math.min(state.requests, (requestsPerMinute ?? 0) * unitsPerOne)
        state.tokens = Math.min(state.tokens, (tokensPerMinute ?? 0) * unitsPerOne)
      }
      return (actualTokens) => settle(held, actualTokens)
    },
    state: () => ({ mode: 'local', processes: 1, localDecisions: 0 }),
    async close() {},
  }
}

interface ScopeState extends Levels {
  running: number
  /** The time of the levels. */
  atMs: number
  /** The time at which both buckets are full. From then on the state can be forgotten. */
  fullAtMs: number
}

/** The share of a scope that a request holds. */
interface Hold {
  scope: Scope
  state: ScopeState
  tokens: number
}

const sweepMs = 60_000

function stateOfHold({ state }: Hold): Levels {
  return state
}

function refill(state: ScopeState, { limits }: Scope, nowMs: number): void {
  // A clock that was set back must not change a level.
  const elapsedMs = Math.max(0, nowMs - state.atMs)
  state.atMs = nowMs
  state.requests = refilled(state.requests, limits.requestsPerMinute, elapsedMs)
  state.tokens = refilled(state.tokens, limits.tokensPerMinute, elapsedMs)
}

/** The limit with the longest wait: once it has room, the others have room too. Of equal waits, the first limit. */
function findDenial(held: readonly Hold[]): (Denial & { index: number }) | undefined {
  let found: (Denial & { index: number }) | undefined
  const consider = (index: number, scope: Scope, limit: LimitName, allowed: number, retryAfterMs: number) => {
    if (retryAfterMs > (found?.retryAfterMs ?? 0)) {
      found = { index, scope: scope.kind, limit, allowed, retryAfterMs }
    }
  }
  for (const [index, { scope, state, tokens }] of held.entries()) {
    const { requestsPerMinute: requests, tokensPerMinute } = scope.limits
    consider(index, scope, 'requests', requests ?? 0, waitMs(state.requests, 1, requests))
    consider(index, scope, 'tokens', tokensPerMinute ?? 0, waitMs(state.tokens, tokens, tokensPerMinute))
  }
  if (found !== undefined) return found
  for (const [index, { scope, state }] of held.entries()) {
    const { concurrency } = scope.limits
    if (concurrency === undefined || state.running < concurrency) continue
    return { index, scope: scope.kind, limit: 'concurrency', allowed: concurrency, retryAfterMs: placeWaitMs }
  }
  return undefined
}

function charge(held: readonly Hold[]): void {
  for (const { scope, state, tokens } of held) {
    state.running++
    if (scope.limits.requestsPerMinute !== undefined) state.requests += unitsPerOne
    state.tokens += tokens * unitsPerOne
    noteFull(state, scope)
  }
}

function noteFull(state: ScopeState, { limits }: Scope): void {
  state.fullAtMs =
    state.atMs +
    Math.max(
      waitMs(state.requests, limits.requestsPerMinute ?? 0, limits.requestsPerMinute),
      waitMs(state.tokens, limits.tokensPerMinute ?? 0, limits.tokensPerMinute),
    )
}

/** Forgets idle scopes with full buckets; when too many are left, also those that were not used for the longest time. */
function forgetIdle(states: Map<string, ScopeState>, scopesMax: number, nowMs: number): void {
  const idle = [...states].filter(([, state]) => state.running === 0).sort(([, a], [, b]) => a.atMs - b.atMs)
  // A tenth at a time: a flood of new scopes must not sort the map for each of them.
  const surplus = states.size >= scopesMax ? Math.ceil(scopesMax / 10) : 0
  idle.forEach(([name, state], index) => {
    if (index < surplus || state.fullAtMs <= nowMs) states.delete(name)
  })
}
