import type { Group } from '../catalog/snapshot.ts'
import { type Lease, type Limits, type Refusal, type Standing, unlimitedLease } from './limits.ts'

/**
 * Limits of this process alone: one token bucket a minute deep for requests and one for tokens, refilled evenly,
 * and a count of running requests. Remembers at most `keysMax` keys that are idle; running ones always.
 */
export function memoryLimits(options: { keysMax: number } = { keysMax: 100_000 }): Limits {
  const states = new Map<string, KeyState>()
  let sweptMs = 0

  function stateOf(keyId: string, nowMs: number): KeyState {
    const known = states.get(keyId)
    if (known !== undefined) return known
    if (states.size >= options.keysMax || nowMs - sweptMs > sweepMs) {
      sweptMs = nowMs
      forgetIdle(states, options.keysMax, nowMs)
    }
    const state = { running: 0, requests: newBucket(nowMs), tokens: newBucket(nowMs), usedMs: nowMs }
    states.set(keyId, state)
    return state
  }

  return {
    take(keyId, limits, tokensEstimate, nowMs) {
      const { requestsPerMinute, tokensPerMinute, concurrency } = limits
      if (requestsPerMinute === undefined && tokensPerMinute === undefined && concurrency === undefined) {
        return unlimitedLease
      }
      const state = stateOf(keyId, nowMs)
      state.usedMs = nowMs
      refill(state.requests, requestsPerMinute, nowMs)
      refill(state.tokens, tokensPerMinute, nowMs)
      const tokens = tokensPerMinute === undefined ? 0 : Math.min(tokensEstimate, tokensPerMinute)

      const requestsMs = waitMs(state.requests, 1, requestsPerMinute)
      const tokensMs = waitMs(state.tokens, tokens, tokensPerMinute)
      // The longer wait is named: after it the other has passed too.
      if (tokensMs > requestsMs) return refuse('tokens', tokensMs, state, limits)
      if (requestsMs > 0) return refuse('requests', requestsMs, state, limits)
      if (concurrency !== undefined && state.running >= concurrency)
        return refuse('concurrency', 0, state, limits)

      state.running++
      state.requests.used++
      state.tokens.used += tokens
      return lease(state, limits, tokens)
    },
  }
}

interface Bucket {
  /** What was used and has not been refilled yet: 0 when full; above the limit after more use than estimated. */
  used: number
  refilledMs: number
  perMinute: number
}

interface KeyState {
  running: number
  requests: Bucket
  tokens: Bucket
  usedMs: number
}

const minuteMs = 60_000
const sweepMs = 60_000

function newBucket(nowMs: number): Bucket {
  return { used: 0, refilledMs: nowMs, perMinute: 0 }
}

function refill(bucket: Bucket, perMinute: number | undefined, nowMs: number): void {
  // A clock that was set back must not empty or fill anything.
  const elapsedMs = Math.max(0, nowMs - bucket.refilledMs)
  bucket.refilledMs = nowMs
  bucket.perMinute = perMinute ?? 0
  bucket.used = Math.max(0, bucket.used - (elapsedMs * bucket.perMinute) / minuteMs)
}

/** How long until there is room for an amount; 0 when there is now. */
function waitMs(bucket: Bucket, amount: number, perMinute: number | undefined): number {
  if (perMinute === undefined) return 0
  if (perMinute === 0) return minuteMs
  return Math.max(0, refillMs(bucket.used + amount - perMinute, perMinute))
}

function refillMs(amount: number, perMinute: number): number {
  return perMinute === 0 ? minuteMs : (amount * minuteMs) / perMinute
}

function lease(state: KeyState, limits: Group['limits'], tokensHeld: number): Lease {
  let settled = false
  return {
    granted: true,
    settle(actualTokens) {
      if (settled) return
      settled = true
      state.running--
      if (limits.tokensPerMinute !== undefined) {
        state.tokens.used = Math.max(0, state.tokens.used + actualTokens - tokensHeld)
      }
    },
    ...standing(state, limits),
  }
}

function refuse(limit: Refusal['limit'], delayMs: number, state: KeyState, limits: Group['limits']): Refusal {
  const retryAfterSeconds = Math.max(1, Math.ceil(delayMs / 1000))
  return { granted: false, limit, retryAfterSeconds, ...standing(state, limits) }
}

function standing(state: KeyState, limits: Group['limits']): Standing {
  const { requestsPerMinute: requests, tokensPerMinute: tokens } = limits
  return {
    limitRequests: requests,
    remainingRequests: requests && Math.max(0, Math.floor(requests - state.requests.used)),
    resetRequestsMs: requests && Math.ceil(refillMs(state.requests.used, requests)),
    limitTokens: tokens,
    remainingTokens: tokens && Math.max(0, Math.floor(tokens - state.tokens.used)),
    resetTokensMs: tokens && Math.ceil(refillMs(state.tokens.used, tokens)),
  }
}

/** Keys whose buckets are full again start afresh; when there are still too many, those unused for longest do. */
function forgetIdle(states: Map<string, KeyState>, keysMax: number, nowMs: number): void {
  const idle = [...states]
    .filter(([, state]) => state.running === 0)
    .sort(([, a], [, b]) => a.usedMs - b.usedMs)
  // A tenth at once, so that a flood of new keys does not sort them all for each.
  const surplus = states.size >= keysMax ? Math.ceil(keysMax / 10) : 0
  idle.forEach(([keyId, state], index) => {
    if (index < surplus || (isFull(state.requests, nowMs) && isFull(state.tokens, nowMs)))
      states.delete(keyId)
  })
}

function isFull(bucket: Bucket, nowMs: number): boolean {
  return bucket.used * minuteMs <= (nowMs - bucket.refilledMs) * bucket.perMinute
}
