import type { BudgetSource } from './budgets.ts'

/** A request that wants money: the most that it may cost, to be held before it is sent. */
export interface ReservationRequest {
  requestId: string
  accountId: string
  keyId: string
  groupId: string
  amountNano: bigint
  /** True once its client has left: it need not wait any more. */
  hasLeft(): boolean
}

export type Verdict =
  | { kind: 'granted' }
  /** Its client left while it waited. Nothing is held. */
  | { kind: 'left' }
  | Refusal

/**
 * `busy`: running requests held the money for as long as the request could wait. `insufficient`: there is too little even
 * without them.
 */
export interface Refusal {
  kind: 'busy' | 'insufficient'
  /** The fullest of those that cannot bear it. */
  source: BudgetSource
  /** What is not spent yet, in nano-USD. */
  leftNano: bigint
  /** The part of it that no running request holds. Both are below 0 when more was spent than the limit. */
  freeNano: bigint
}

/** A request that has no verdict yet. */
export interface PendingReservation extends ReservationRequest {
  /** Its place in the order of arrival. */
  readonly place: number
  /** Until then it waits for money that running requests hold; milliseconds since the epoch. */
  readonly waitsUntil: number
  /** The requests that had ended by then are shipped: only running requests hold money now. */
  shipped: boolean
  /** The request has given up waiting: a grant must be given back. */
  abandoned: boolean
  settle(verdict: Verdict): void
  reject(error: unknown): void
  /** Called when a transaction has decided about it, whatever the verdict. */
  answered: () => void
}
