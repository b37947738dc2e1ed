import { randomUUIDv7 } from 'node:crypto'
import { and, eq, inArray, or, sql } from '../../db/drizzle.cjs'
import { erasures, tenants } from '../../db/schema.ts'
import type { TypedTransaction } from '../../db/transactions.ts'
import { isUuid } from './list.ts'

type Row = typeof erasures.$inferSelect

/** Returns a tenant by its id or name. */
export async function tenantCalled(
  tx: TypedTransaction,
  called: string,
): Promise<{ id: string; name: string } | undefined> {
  const rows = await tx
    .select({ id: tenants.id, name: tenants.name })
    .from(tenants)
    .where(or(isUuid(called) ? eq(tenants.id, called) : undefined, eq(tenants.name, called)))
  return rows.find(({ id }) => id === called) ?? rows[0]
}

export async function addErasure(
  tx: TypedTransaction,
  asked: Pick<Row, 'tenantId' | 'endUser' | 'endUserHash' | 'what' | 'fromAt' | 'dryRun' | 'actor'> & {
    toAt: Date | undefined
  },
): Promise<Row | undefined> {
  const { toAt, ...values } = asked
  const [row] = await tx
    .insert(erasures)
    .values({
      ...values,
      id: randomUUIDv7(),
      // The clock of Postgres determines which requests are older.
      toAt: sql`least(now(), ${toAt ?? null}::timestamptz)`,
      createdAt: sql`now()`,
      state: 'queued',
      counts: {},
      notReached: [],
    })
    .returning()
  return row
}

/** Returns undefined if the erasure has ended or never existed. */
export async function cancelErasure(tx: TypedTransaction, id: string): Promise<Row | undefined> {
  const [row] = await tx
    .update(erasures)
    .set({ state: 'cancelled', endedAt: sql`now()`, endUser: null, waitsFor: null, leasedUntil: null })
    .where(and(eq(erasures.id, id), inArray(erasures.state, ['queued', 'running', 'waiting'])))
    .returning()
  return row
}

export async function findErasure(tx: TypedTransaction, id: string): Promise<Row | undefined> {
  const [row] = await tx.select().from(erasures).where(eq(erasures.id, id))
  return row
}
