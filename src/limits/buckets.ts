import type { Allowance, LimitScope, Standing } from './limits.ts'

/**
 * The arithmetic of limits per minute. A bucket holds one minute's limit and refills evenly. Levels are
 * counted in 60,000ths: each millisecond then refills a whole number, so nothing is rounded, and the Lua in
 * redis-scripts.ts computes the same numbers.
 */
export const unitsPerOne = 60_000

/**
 * The used part of a scope's two buckets that has not been refilled yet, in 60,000ths. At 0 the bucket is
 * full.
 */
export interface Levels {
  requests: number
  tokens: number
}

/** The wait reported for a limit of 0, which never has room. */
export const minuteMs = 60_000
/** The wait reported for a concurrency slot, because the end of a running request cannot be predicted. */
export const placeWaitMs = 1_000

/** The level after `elapsedMs` of refilling; 0 if there is no limit. */
export function refilled(used: number, perMinute: number | undefined, elapsedMs: number): number {
  return perMinute === undefined ? 0 : Math.max(0, used - elapsedMs * perMinute)
}

/** The time until the bucket has room for `amount`; 0 if it already has. */
export function waitMs(used: number, amount: number, perMinute: number | undefined): number {
  if (perMinute === undefined) return 0
  if (perMinute === 0) return minuteMs
  return Math.max(0, Math.ceil((used + (amount - perMinute) * unitsPerOne) / perMinute))
}

/**
 * The tokens that an estimate takes from a scope: at most the limit, because a larger amount would never fit.
 */
export function heldTokens({ limits }: LimitScope, tokensEstimate: number): number {
  return limits.tokensPerMinute === undefined ? 0 : Math.min(tokensEstimate, limits.tokensPerMinute)
}

/**
 * `levels` are those of the scopes, in the same order. If a limit has refused, its allowance is the one
 * shown.
 */
export function standingOf(
  scopes: readonly LimitScope[],
  levels: readonly Levels[],
  refused?: { index: number; limit: string },
): Standing {
  const least = (name: keyof Levels): Allowance | undefined => {
    let found: Allowance | undefined
    for (const [index, { limits }] of scopes.entries()) {
      const perMinute = name === 'requests' ? limits.requestsPerMinute : limits.tokensPerMinute
      if (perMinute === undefined) continue
      const own = allowance(perMinute, levels[index]?.[name] ?? 0)
      if (refused?.index === index && refused.limit === name) return own
      if (found === undefined || own.remaining < found.remaining) found = own
    }
    return found
  }
  return { requests: least('requests'), tokens: least('tokens') }
}

function allowance(perMinute: number, used: number): Allowance {
  return {
    limit: perMinute,
    remaining: Math.max(0, Math.floor(perMinute - used / unitsPerOne)),
    resetMs: perMinute === 0 ? minuteMs : Math.ceil(used / perMinute),
  }
}
