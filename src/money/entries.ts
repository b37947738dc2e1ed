/** A movement of money made by an operator. */
export interface NewEntry {
  id: string
  accountId: string
  /** A top-up adds money. An adjustment adds or deducts it. */
  kind: 'top_up' | 'adjustment'
  /** Nano-USD. */
  amountNano: bigint
  note: string | null
}

/** The state of an account. */
export interface Balance {
  /** If true, requests need a reservation. If false, their cost is only recorded. */
  limited: boolean
  balanceNano: bigint
  /** The money held for running requests. */
  heldNano: bigint
}

/**
 * `repeated`: the same entry exists, and nothing changed. `conflict`: a different entry has the id. `taken`:
 * the id belongs to a request, whose charge will need it. `unknown`: the account does not exist. `held`: a
 * limited account would have less money than is held for running requests. `excessive`: the sum exceeds a
 * Postgres bigint.
 */
export type Booking =
  | { verdict: 'booked' | 'repeated'; createdAt: Date; balance: Balance }
  | { verdict: 'held'; balance: Balance }
  | { verdict: 'conflict' | 'taken' | 'unknown' | 'excessive' }
