import { heldTokens, type Levels, placeWaitMs, refilled, standingOf, unitsPerOne, waitMs } from './buckets.ts'
import {
  type Decision,
  type Denial,
  type Lease,
  type LimitName,
  type Limits,
  type Scope,
  unlimitedLease,
} from './limits.ts'

/** Limits of this process alone. */
export interface MemoryLimits extends Limits {
  take(scopes: readonly Scope[], tokensEstimate: number): Decision
  /**
   * Count a request that was granted elsewhere, as far as there is room. Call what is returned once, with the true
   * tokens, when it ends.
   */
  note(scopes: readonly Scope[], tokensEstimate: number): Lease['settle']
}

/**
 * One token bucket a minute deep for requests and one for tokens, refilled evenly, and a count of running requests.
 * Remembers at most `scopesMax` scopes that are idle; running ones always. `clock`: milliseconds, whole.
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
      let settled = false
      return {
        granted: true,
        settle(actualTokens) {
          if (settled) return
          settled = true
          settle(held, actualTokens)
        },
        ...standingOf(scopes, held.map(stateOfHold)),
      }
    },
    note(scopes, tokensEstimate) {
      const held = holdsOf(scopes, tokensEstimate)
      charge(held)
      for (const { scope, state } of held) {
        const { requestsPerMinute, tokensPerMinute } = scope.limits
        // What others left unused of their parts is no debt of this process.
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
  /** When the levels were what they are. */
  atMs: number
  /** When it may be forgotten. */
  fullAtMs: number
}

/** What a request takes of a scope. */
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
  // A clock that was set back must not empty or fill anything.
  const elapsedMs = Math.max(0, nowMs - state.atMs)
  state.atMs = nowMs
  state.requests = refilled(state.requests, limits.requestsPerMinute, elapsedMs)
  state.tokens = refilled(state.tokens, limits.tokensPerMinute, elapsedMs)
}

/** The longest wait is named: after it the others have passed too. Of equal ones the first. */
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

/** Scopes whose buckets are full again start afresh; when there are still too many, those unused for longest do. */
function forgetIdle(states: Map<string, ScopeState>, scopesMax: number, nowMs: number): void {
  const idle = [...states].filter(([, state]) => state.running === 0).sort(([, a], [, b]) => a.atMs - b.atMs)
  // A tenth at once, so that a flood of new scopes does not sort them all for each.
  const surplus = states.size >= scopesMax ? Math.ceil(scopesMax / 10) : 0
  idle.forEach(([name, state], index) => {
    if (index < surplus || state.fullAtMs <= nowMs) states.delete(name)
  })
}
