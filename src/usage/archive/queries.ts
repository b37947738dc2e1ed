import type { TypedQueries } from '../../db/connections.ts'
import { and, asc, desc, eq, sql } from '../../db/drizzle.cjs'
import { archivedDays, sweeps } from '../../db/schema.ts'
import type { TypedTransaction } from '../../db/transactions.ts'

/** Makes the next archiver start within a minute. */
export async function askForPass(tx: TypedTransaction): Promise<void> {
  await tx
    .insert(sweeps)
    .values({ name: 'archive', dueAt: new Date(0) })
    .onConflictDoUpdate({ target: sweeps.name, set: { dueAt: new Date(0) } })
}

export interface ArchiveFileFilter {
  table: string | undefined
  state: (typeof archivedDays.$inferSelect)['state'] | undefined
  /** The last file of the previous page. */
  after: { day: string; table: string; part: number } | undefined
  descending: boolean
  limit: number
}

/** The files of the archive, by day. */
export function listArchiveFiles(
  db: TypedQueries,
  { table, state, after, descending, limit }: ArchiveFileFilter,
) {
  const { day, tableName, part } = archivedDays
  const behind =
    after === undefined
      ? undefined
      : descending
        ? sql`(${day}, ${tableName}, ${part}) < (${after.day}::date, ${after.table}, ${after.part}::integer)`
        : sql`(${day}, ${tableName}, ${part}) > (${after.day}::date, ${after.table}, ${after.part}::integer)`
  const order = descending ? desc : asc
  return db
    .select()
    .from(archivedDays)
    .where(
      and(
        behind,
        table === undefined ? undefined : eq(tableName, table),
        state === undefined ? undefined : eq(archivedDays.state, state),
      ),
    )
    .orderBy(order(day), order(tableName), order(part))
    .limit(limit)
}

/** The archive's totals and the time of the next pass; null if no pass has run yet. */
export async function archiveSums(db: TypedQueries) {
  const states = await db
    .select({
      table: archivedDays.tableName,
      state: archivedDays.state,
      files: sql<string>`count(*)`,
      rows: sql<string>`coalesce(sum(${archivedDays.rows}), 0)`,
      bytes: sql<string>`coalesce(sum(${archivedDays.bytes}), 0)`,
      firstDay: sql<string>`min(${archivedDays.day})::text`,
      lastDay: sql<string>`max(${archivedDays.day})::text`,
    })
    .from(archivedDays)
    .groupBy(archivedDays.tableName, archivedDays.state)
    .orderBy(archivedDays.tableName, archivedDays.state)
  const [sweep] = await db.select({ dueAt: sweeps.dueAt }).from(sweeps).where(eq(sweeps.name, 'archive'))
  return { states, dueAt: sweep?.dueAt ?? null }
}
