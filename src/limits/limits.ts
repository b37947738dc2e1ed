import type { RateLimits } from '../catalog/snapshot.ts'

/** Rate, token and concurrency limits of keys, groups and tenants. */
export interface Limits {
  /**
   * The first decision, over all limits of all scopes: either every limit has room and is charged, or none is
   * charged. The lease holds `tokensEstimate` until it is settled, or the whole limit in a scope whose limit
   * is smaller. An estimate of 0 (the request has not been read yet) is refused only if more tokens than the
   * limit are already used. `requestId` must be unique. Returns without a promise if this process can decide
   * alone; never rejects.
   */
  take(scopes: readonly LimitScope[], tokensEstimate: number, requestId: string): Decision | Promise<Decision>
  state(): LimitsState
  close(): Promise<void>
}

/** A key, group or tenant with its limits. Scopes with the same kind and id share their buckets. */
export interface LimitScope {
  kind: 'key' | 'group' | 'tenant'
  id: string
  limits: RateLimits
}

export type Decision = LimitLease | LimitRefusal

export interface LimitLease extends Standing {
  granted: true
  /**
   * The second decision, over the tokens of all scopes at once. The lease then also holds these tokens. A
   * refusal returns everything that the lease has taken, including its request, and ends the lease. Must be
   * called at most once. Returns without a promise if this process can decide alone; never rejects.
   */
  hold(tokensEstimate: number): Held | Promise<Held>
  /**
   * Frees the concurrency slot and replaces the estimate with the tokens actually used. Only the first call
   * that ends a lease has an effect.
   */
  settle(actualTokens: number): void
  /** Returns everything that was taken, including the request, as if it had never arrived. */
  giveBack(): void
}

export type Held = Granted | LimitRefusal

/** The result of a successful `hold`. */
export interface Granted extends Standing {
  granted: true
}

export interface LimitRefusal extends Standing, Denial {
  granted: false
}

export interface Denial {
  /** The limit without room; if there are several, the one with the longest wait. */
  scope: LimitScope['kind']
  limit: LimitName
  /** The value of that limit. */
  allowed: number
  /**
   * Whole ms, at least 1, until there is room, unless another request uses it first. A guess for concurrency.
   */
  retryAfterMs: number
}

export type LimitName = 'requests' | 'tokens' | 'concurrency'

/**
 * What is left after the decision, in the scope with the least left; undefined if no scope has such a limit.
 */
export interface Standing {
  requests: Allowance | undefined
  tokens: Allowance | undefined
}

export interface Allowance {
  limit: number
  remaining: number
  /** Whole ms until the bucket is full. */
  resetMs: number
}

export interface LimitsState {
  /** `shared`: the processes count together. `local`: this process counts alone. */
  mode: 'shared' | 'local'
  /**
   * The number of processes in the last shared count. A process that counts alone allows its part: the limit
   * divided by this number.
   */
  processes: number
  /** The decisions since the start that this process made alone because Redis was unavailable. */
  localDecisions: number
}

const unlimited: Granted = { granted: true, requests: undefined, tokens: undefined }

/** The lease of every request that has no limits. */
export const unlimitedLease: LimitLease = Object.freeze({
  granted: true,
  hold: () => unlimited,
  settle() {},
  giveBack() {},
  requests: undefined,
  tokens: undefined,
})

export function isLimited({ requestsPerMinute, tokensPerMinute, concurrency }: RateLimits): boolean {
  return requestsPerMinute !== undefined || tokensPerMinute !== undefined || concurrency !== undefined
}
