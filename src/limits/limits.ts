import type { RateLimits } from '../catalog/snapshot.ts'

/** Rate, token and concurrency limits of keys, groups and tenants. */
export interface Limits {
  /**
   * The first decision, over all limits of all scopes: either every limit has room and is charged, or none is
   * charged. The lease holds `tokensEstimate` until it is settled; in a scope with a smaller limit it holds
   * that limit. With 0, because the request is not read yet, it refuses only where more tokens than the
   * limit are used. `requestId` must be unique. Answers without a promise when this process can decide alone;
   * never rejects.
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
   * The second decision, over the tokens of all scopes at once. The lease then holds these tokens too. A
   * refusal gives back all that the lease has taken, its request included, and ends it. Call it at most once.
   * Answers without a promise when this process can decide alone; never rejects.
   */
  hold(tokensEstimate: number): Held | Promise<Held>
  /**
   * Give back the place, and replace the estimate by the tokens that were used. Only the first end of a lease
   * counts.
   */
  settle(actualTokens: number): void
  /** Give back all that was taken, the request included, as though it had never come. */
  giveBack(): void
}

export type Held = Granted | LimitRefusal

/** The tokens are held. */
export interface Granted extends Standing {
  granted: true
}

export interface LimitRefusal extends Standing, Denial {
  granted: false
}

export interface Denial {
  /** The limit without room; of several, the one with the longest wait. */
  scope: LimitScope['kind']
  limit: LimitName
  /** The value of that limit. */
  allowed: number
  /**
   * Whole ms, at least 1, until there is room, unless another request takes it first. A guess for
   * concurrency.
   */
  retryAfterMs: number
}

export type LimitName = 'requests' | 'tokens' | 'concurrency'

/** The rest after the decision, in the scope with the least left; undefined: no scope limits it. */
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
  /** `shared`: all processes count together. `local`: this process counts alone. */
  mode: 'shared' | 'local'
  /**
   * Processes that last counted together. Alone, a process allows its part: the limit divided by this number.
   */
  processes: number
  /** Decisions since the start that this process made alone because Redis could not be used. */
  localDecisions: number
}

const unlimited: Granted = { granted: true, requests: undefined, tokens: undefined }

/** The lease of every request without limits. */
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
