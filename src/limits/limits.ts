import type { Group } from '../catalog/snapshot.ts'

/** Rate, token and concurrency limits. They are a group's and hold for each of its keys alone. */
export interface Limits {
  /**
   * One decision over all limits: either every one has room and is charged, or none is.
   * `tokensEstimate` is held until the lease is settled; more than a whole minute's tokens counts as that minute.
   */
  take(keyId: string, limits: Group['limits'], tokensEstimate: number, nowMs: number): Lease | Refusal
}

export interface Lease extends Standing {
  granted: true
  /** Give back the place and put the true tokens in the estimate's stead. Only the first call counts. */
  settle(actualTokens: number): void
}

export interface Refusal extends Standing {
  granted: false
  limit: 'requests' | 'tokens' | 'concurrency'
  /** 1 or more. */
  retryAfterSeconds: number
}

/** Where a key stands after the decision, for response headers. Undefined: not limited. */
export interface Standing {
  limitRequests: number | undefined
  remainingRequests: number | undefined
  /** Until all are available again. */
  resetRequestsMs: number | undefined
  limitTokens: number | undefined
  remainingTokens: number | undefined
  resetTokensMs: number | undefined
}

/** The lease of everybody who has no limits. */
export const unlimitedLease: Lease = Object.freeze({
  granted: true,
  settle() {},
  limitRequests: undefined,
  remainingRequests: undefined,
  resetRequestsMs: undefined,
  limitTokens: undefined,
  remainingTokens: undefined,
  resetTokensMs: undefined,
})
