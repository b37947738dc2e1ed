import type { Clock } from '../runtime/clock.ts'
import { heldTokens } from './buckets.ts'
import { type Decision, type LimitScope, type Limits, unlimitedLease } from './limits.ts'
import { findDenial, type Hold, MemoryLease, refill, refusalIn, type ScopeState } from './memory-lease.ts'

/** Limits that this process counts on its own. */
export interface MemoryLimits extends Limits {
  take(scopes: readonly LimitScope[], tokensEstimate: number): Decision
  /** Counts a request that Redis has granted, as far as there is room. */
  note(scopes: readonly LimitScope[], tokensEstimate: number): MemoryLease
}

/**
 * Each scope has a bucket for requests, a bucket for tokens, and a count of running requests. All scopes with
 * running requests are kept, and at most `scopesMax` idle scopes.
 */
export function memoryLimits(clock: Pick<Clock, 'now'>, scopesMax = 100_000): MemoryLimits {
  const states = new Map<string, ScopeState>()
  let sweptMs = 0

  function stateOf({ kind, id }: LimitScope, nowMs: number): ScopeState {
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

  function holdsOf(scopes: readonly LimitScope[], tokensEstimate: number): Hold[] {
    const nowMs = clock.now()
    return scopes.map((scope) => {
      const state = stateOf(scope, nowMs)
      refill(state, scope, nowMs)
      return { scope, state, tokens: heldTokens(scope, tokensEstimate) }
    })
  }

  return {
    take(scopes, tokensEstimate) {
      if (scopes.length === 0) return unlimitedLease
      const holds = holdsOf(scopes, tokensEstimate)
      const denied = findDenial(holds)
      return denied === undefined ? new MemoryLease(holds, clock) : refusalIn(holds, denied)
    },
    note(scopes, tokensEstimate) {
      const lease = new MemoryLease(holdsOf(scopes, tokensEstimate), clock)
      lease.boundLevels()
      return lease
    },
    state: () => ({ mode: 'local', processes: 1, localDecisions: 0 }),
    async close() {},
  }
}

const sweepMs = 60_000

/**
 * Discards idle scopes with full buckets and, if too many are left, those that have been unused for longest.
 */
function forgetIdle(states: Map<string, ScopeState>, scopesMax: number, nowMs: number): void {
  const idle = [...states].filter(([, state]) => state.running === 0).sort(([, a], [, b]) => a.atMs - b.atMs)
  // Discards a tenth at a time, so that a flood of new scopes does not sort the map for each one.
  const surplus = states.size >= scopesMax ? Math.ceil(scopesMax / 10) : 0
  idle.forEach(([name, state], index) => {
    if (index < surplus || state.fullAtMs <= nowMs) states.delete(name)
  })
}
