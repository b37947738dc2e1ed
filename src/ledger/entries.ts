import type postgres from 'postgres'

/** Money that an operator moves by hand. */
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
 * `repeated`: the same entry exists, and nothing changed. `conflict`: another entry has the id. `taken`: a request has the
 * id, which its charge will need. `unknown`: there is no such account. `held`: a limited account would have less money than
 * running requests hold. `excessive`: the sum does not fit into a bigint of Postgres.
 */
export type Booking =
  | { verdict: 'booked' | 'repeated'; createdAt: Date; balance: Balance }
  | { verdict: 'held'; balance: Balance }
  | { verdict: 'conflict' | 'taken' | 'unknown' | 'excessive' }

/** Book an entry, once for each id. */
export async function bookEntry(sql: postgres.Sql, entry: NewEntry): Promise<Booking> {
  const { id, accountId, kind, amountNano, note } = entry
  const [row] = await sql<BookingRow[]>`
    SELECT verdict, booked_at, balance, held, is_limited
    FROM book_entry(${id}, ${accountId}, ${kind}, ${String(amountNano)}::bigint, ${note})`
  if (row === undefined) throw new Error('book_entry answered nothing')
  const { verdict } = row
  const balance = {
    limited: row.is_limited ?? false,
    balanceNano: BigInt(row.balance ?? 0),
    heldNano: BigInt(row.held ?? 0),
  }
  switch (verdict) {
    case 'booked':
    case 'repeated':
      return { verdict, createdAt: row.booked_at ?? new Date(0), balance }
    case 'held':
      return { verdict, balance }
    default:
      return { verdict }
  }
}

interface BookingRow {
  verdict: Booking['verdict']
  booked_at: Date | null
  balance: string | null
  held: string | null
  is_limited: boolean | null
}
