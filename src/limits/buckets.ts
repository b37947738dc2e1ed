import type { Allowance, Scope, Standing } from './limits.ts'

/**
 * The arithmetic of limits a minute: a bucket as deep as the limit that is refilled evenly. What was used of it is
 * counted in 60,000ths, of which a millisecond refills a whole number: nothing is ever rounded, and Lua, which does the
 * same in redis-scripts.ts, comes to the same numbers.
 */
export const unitsPerOne = 60_000

/** What was used of the two buckets of a scope and is not refilled yet: 0 when full. In 60,000ths. */
export interface Levels {
  requests: number
  tokens: number
}

/** How long one waits for what is never there. */
export const minuteMs = 60_000
/** Nobody knows when a place becomes free. */
export const placeWaitMs = 1_000

/** What is left of `used` after a time. A limit that is lifted forgets. */
export function refilled(used: number, perMinute: number | undefined, elapsedMs: number): number {
  return perMinute === undefined ? 0 : Math.max(0, used - elapsedMs * perMinute)
}

/** How long until there is room for an amount; 0 when there is now. */
export function waitMs(used: number, amount: number, perMinute: number | undefined): number {
  if (perMinute === undefined) return 0
  if (perMinute === 0) return minuteMs
  return Math.max(0, Math.ceil((used + (amount - perMinute) * unitsPerOne) / perMinute))
}

/** What an estimate charges to a scope: no more than a whole minute, or it could never be charged. */
export function heldTokens({ limits }: Scope, tokensEstimate: number): number {
  return limits.tokensPerMinute === undefined ? 0 : Math.min(tokensEstimate, limits.tokensPerMinute)
}

/** `levels` are those of the scopes, in their order. Where a scope has refused, its allowance is the one that counts. */
export function standingOf(
  scopes: readonly Scope[],
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
