import type { BudgetSource } from './budgets.ts'

/**
 * A request whose money is limited. `amountNano` is its maximum cost, which must be held before the request
 * is sent.
 */
export interface ReservationRequest {
  requestId: string
  accountId: string
  keyId: string
  groupId: string
  amountNano: bigint
  /** True if its client has left, so that it need not wait. */
  hasLeft(): boolean
}

export type ReservationResult =
  | { kind: 'granted' }
  /** The client left while the request waited. No money is held. */
  | { kind: 'left' }
  | MoneyRefusal

/**
 * `busy`: running requests held the money for as long as the request could wait. `insufficient`: there would
 * be too little even without them.
 */
export interface MoneyRefusal {
  kind: 'busy' | 'insufficient'
  /** The source without enough money; if there are several, the fullest. */
  source: BudgetSource
  /** The limit minus everything spent, in nano-USD. */
  leftNano: bigint
  /**
   * The part of `leftNano` that is not held for running requests. Both are negative if more than the limit
   * has been spent.
   */
  freeNano: bigint
}

/** A request that has no verdict yet. */
export interface PendingReservation extends ReservationRequest {
  /** Its position in the order of arrival. */
  readonly place: number
  /** Until when it can wait for money held by running requests, in milliseconds since the epoch. */
  readonly waitsUntil: number
  /**
   * True once all requests that ended before it have been shipped, so that only running requests hold money.
   */
  shipped: boolean
  /** True if the request has given up. A later grant must be returned. */
  abandoned: boolean
  settle(verdict: ReservationResult): void
  reject(error: unknown): void
  /**
   * Called when a transaction has decided about it, with any verdict, or when it waits separately for its
   * locked account.
   */
  answered: () => void
  /** Stops the timeout for the decision by Postgres. */
  stopTimeout: () => void
}
