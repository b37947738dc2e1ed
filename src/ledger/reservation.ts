import type { BudgetSource } from './budgets.ts'

/**
 * A request whose money is limited. `amountNano` is the most that it may cost, which must be held before it
 * is sent.
 */
export interface ReservationRequest {
  requestId: string
  accountId: string
  keyId: string
  groupId: string
  amountNano: bigint
  /** True: its client has left, so it need not wait. */
  hasLeft(): boolean
}

export type ReservationResult =
  | { kind: 'granted' }
  /** The client left while the request waited. Nothing is held. */
  | { kind: 'left' }
  | MoneyRefusal

/**
 * `busy`: running requests held the money for as long as the request could wait. `insufficient`: there is too
 * little even without them.
 */
export interface MoneyRefusal {
  kind: 'busy' | 'insufficient'
  /** The source without enough money; of several, the fullest. */
  source: BudgetSource
  /** The limit less all that is spent, in nano-USD. */
  leftNano: bigint
  /**
   * The part of `leftNano` that no running request holds. Both are below 0 when more is spent than the limit
   * allows.
   */
  freeNano: bigint
}

/** A request that has no verdict yet. */
export interface PendingReservation extends ReservationRequest {
  /** Its place in the order of arrival. */
  readonly place: number
  /** The end of its wait for money that running requests hold, in milliseconds since the epoch. */
  readonly waitsUntil: number
  /** True: all requests that ended before it are shipped, so that only running requests hold money. */
  shipped: boolean
  /** True: the request has given up. A later grant must be given back. */
  abandoned: boolean
  settle(verdict: ReservationResult): void
  reject(error: unknown): void
  /**
   * Called when a transaction has decided about it, with any verdict, or when it waits alone for its locked
   * account.
   */
  answered: () => void
  /** Ends the time within which Postgres must decide. */
  stopTimeout: () => void
}
