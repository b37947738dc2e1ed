/** Money that an operator moves. */
export interface NewEntry {
  id: string
  accountId: string
  /** A top-up adds money. An adjustment adds or takes it. */
  kind: 'top_up' | 'adjustment'
  /** Nano-USD. */
  amountNano: bigint
  note: string | null
}

/** The state of an account. */
export interface Balance {
  /** True: its requests need a reservation. False: we only record their cost. */
  limited: boolean
  balanceNano: bigint
  /** The part that running requests hold. */
  heldNano: bigint
}

/**
 * `repeated`: the same entry exists, and nothing changed. `conflict`: another entry has the id. `taken`: a
 * request has the id, which its charge will need. `unknown`: there is no such account. `held`: a limited
 * account would have less money than running requests hold. `excessive`: the sum does not fit into a bigint
 * of Postgres.
 */
export type Booking =
  | { verdict: 'booked' | 'repeated'; createdAt: Date; balance: Balance }
  | { verdict: 'held'; balance: Balance }
  | { verdict: 'conflict' | 'taken' | 'unknown' | 'excessive' }
