import type postgres from 'postgres'

/** A movement of money by hand. */
export interface NewEntry {
  id: string
  accountId: string
  /** A top-up brings money; an adjustment may take it as well. */
  kind: 'top_up' | 'adjustment'
  /** Nano-USD. */
  amountNano: bigint
  note: string | null
}

/** An account as it stands. */
export interface Balance {
  /** Its requests are admitted by reservation; else they are only recorded. */
  limited: boolean
  balanceNano: bigint
  /** What running requests hold of it. */
  heldNano: bigint
}

/**
 * `repeated`: this very entry stood already, and nothing changed. `conflict`: the id is another's. `taken`: the id is a
 * request's, whose charge bears it too. `unknown`: no such account. `held`: a limited account would have less than running
 * requests hold. `excessive`: no number holds the sum.
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
