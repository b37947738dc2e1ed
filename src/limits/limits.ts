import type { RateLimits } from '../catalog/snapshot.ts'

/** Rate, token and concurrency limits of keys, of their groups and of their tenants. */
export interface Limits {
  /**
   * One decision over all scopes and all limits: either every one has room and is charged, or none is.
   * `tokensEstimate` is held until the lease is settled; in a scope that allows less in a minute, that minute's tokens
   * are. `requestId` is not used twice. Answers at once where nobody has to be asked; never rejects.
   */
  take(scopes: readonly Scope[], tokensEstimate: number, requestId: string): Decision | Promise<Decision>
  state(): LimitsState
  close(): Promise<void>
}

/** What shares a set of limits; they hold for all that bears the same kind and id. */
export interface Scope {
  kind: 'key' | 'group' | 'tenant'
  id: string
  limits: RateLimits
}

export type Decision = Lease | Refusal

export interface Lease extends Standing {
  granted: true
  /** Give back the place and put the true tokens in the estimate's stead. Only the first call counts. */
  settle(actualTokens: number): void
}

export interface Refusal extends Standing, Denial {
  granted: false
}

export interface Denial {
  /** Which limit has no room; of several, the one that takes longest to have some. */
  scope: Scope['kind']
  limit: LimitName
  /** What that limit is. */
  allowed: number
  /** After so long there is room, if nobody else has taken it: 1 or more, whole. A guess where `limit` is concurrency. */
  retryAfterMs: number
}

export type LimitName = 'requests' | 'tokens' | 'concurrency'

/** What is left after the decision, in the scope that has the least of it; undefined: not limited. */
export interface Standing {
  requests: Allowance | undefined
  tokens: Allowance | undefined
}

export interface Allowance {
  limit: number
  remaining: number
  /** Until all of it is there again, whole. */
  resetMs: number
}

export interface LimitsState {
  /** Whether all processes count together, or this one for itself. */
  mode: 'shared' | 'local'
  /** That were last seen counting together; a local limit is one part in so many. */
  processes: number
  /** Since the start: those that were to be shared and could not be. */
  localDecisions: number
}

/** The lease of everybody who has no limits. */
export const unlimitedLease: Lease = Object.freeze({
  granted: true,
  settle() {},
  requests: undefined,
  tokens: undefined,
})

export function isLimited({ requestsPerMinute, tokensPerMinute, concurrency }: RateLimits): boolean {
  return requestsPerMinute !== undefined || tokensPerMinute !== undefined || concurrency !== undefined
}
