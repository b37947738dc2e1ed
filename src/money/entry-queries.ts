import { and, asc, desc, eq, gt, gte, lt, ne, or, type SQL, sql } from '../db/drizzle.cjs'
import { entries, requests } from '../db/schema.ts'
import type { Queries, TypedTransaction } from '../db/transactions.ts'
import type { Booking, NewEntry } from './entries.ts'

/** Books an entry, once per id. */
export async function bookEntry(tx: TypedTransaction, entry: NewEntry): Promise<Booking> {
  const { id, accountId, kind, amountNano, note } = entry
  const { rows } = await tx.execute<BookingRow>(sql`
    SELECT verdict, booked_at, balance::text, held::text, is_limited
    FROM book_entry(${id}, ${accountId}, ${kind}, ${String(amountNano)}::bigint, ${note})`)
  const [row] = rows
  if (row === undefined) throw new Error('book_entry returned no row')
  const { verdict } = row
  const balance = {
    limited: row.is_limited ?? false,
    balanceNano: BigInt(row.balance ?? 0),
    heldNano: BigInt(row.held ?? 0),
  }
  switch (verdict) {
    case 'booked':
    case 'repeated':
      return { verdict, createdAt: new Date(row.booked_at ?? 0), balance }
    case 'held':
      return { verdict, balance }
    default:
      return { verdict }
  }
}

interface BookingRow extends Record<string, unknown> {
  verdict: Booking['verdict']
  booked_at: Date | string | null
  balance: string | null
  held: string | null
  is_limited: boolean | null
}

export interface EntryFilter {
  accountId: string
  /** If absent, all kinds except charges. */
  kind?: ListedEntry['kind'] | undefined
  /** Whether to include charges if `kind` is absent. */
  charges: boolean
  /** Inclusive. */
  from?: Date | undefined
  /** Exclusive. */
  to?: Date | undefined
  after: { createdAt: Date; id: string } | undefined
  descending: boolean
  limit: number
}

export interface ListedEntry {
  id: string
  createdAt: Date
  kind: 'opening' | 'top_up' | 'adjustment' | 'charge'
  amountNano: bigint
  note: string | null
}

/**
 * The entries of an account, ordered by time. Charges are read from the usage log, where they can be found by
 * tenant.
 */
export async function listEntries(db: Queries, filter: EntryFilter): Promise<ListedEntry[]> {
  const { kind, charges, descending, limit } = filter
  const byHand = kind === 'charge' ? [] : await entriesByHand(db, filter)
  const charged = kind === 'charge' || (kind === undefined && charges) ? await chargesOf(db, filter) : []
  const turn = descending ? -1 : 1
  return [...byHand, ...charged]
    .sort((a, b) => turn * (a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1)))
    .slice(0, limit)
}

function entriesByHand(db: Queries, { accountId, kind, from, to, after, descending, limit }: EntryFilter) {
  const order = descending ? desc : asc
  return db
    .select({
      id: entries.id,
      createdAt: entries.createdAt,
      kind: entries.kind,
      amountNano: entries.amount,
      note: entries.note,
    })
    .from(entries)
    .where(
      and(
        eq(entries.accountId, accountId),
        // Written exactly as in the definition of the index.
        ne(entries.kind, sql`'charge'`),
        kind === undefined ? undefined : eq(entries.kind, kind),
        from === undefined ? undefined : gte(entries.createdAt, from),
        to === undefined ? undefined : lt(entries.createdAt, to),
        behind(entries, after, descending),
      ),
    )
    .orderBy(order(entries.createdAt), order(entries.id))
    .limit(limit)
}

/** The charges as entries. A charge has the id and the time of its request, and the negative of its cost. */
async function chargesOf(
  db: Queries,
  { accountId, from, to, after, descending, limit }: EntryFilter,
): Promise<ListedEntry[]> {
  const order = descending ? desc : asc
  const rows = await db
    .select({ id: requests.id, createdAt: requests.createdAt, cost: requests.cost })
    .from(requests)
    .where(
      and(
        eq(requests.tenantId, accountId),
        gt(requests.cost, 0n),
        from === undefined ? undefined : gte(requests.createdAt, from),
        to === undefined ? undefined : lt(requests.createdAt, to),
        behind(requests, after, descending),
      ),
    )
    .orderBy(order(requests.createdAt), order(requests.id))
    .limit(limit)
  return rows.map(({ id, createdAt, cost }) => ({
    id,
    createdAt,
    kind: 'charge',
    amountNano: -(cost ?? 0n),
    note: null,
  }))
}

function behind(
  table: Pick<typeof entries, 'createdAt' | 'id'> | Pick<typeof requests, 'createdAt' | 'id'>,
  after: EntryFilter['after'],
  descending: boolean,
): SQL | undefined {
  if (after === undefined) return undefined
  const later = descending ? lt : gt
  return or(
    later(table.createdAt, after.createdAt),
    and(eq(table.createdAt, after.createdAt), later(table.id, after.id)),
  )
}
