import type { Sql } from 'postgres'
import { makeEntryMonths } from '../../src/db/entry-months.ts'

/** Give a database without entries partitions from this many months ago on. */
export async function startMonthsAgo(sql: Sql, count: number): Promise<void> {
  const bound = monthAt(-count)
  await sql.unsafe(`
    DROP TABLE ${tableOf(0)}, ${tableOf(1)};
    ALTER TABLE entries DETACH PARTITION entries_before;
    ALTER TABLE entries ATTACH PARTITION entries_before FOR VALUES FROM (MINVALUE) TO ('${bound}Z');
    DELETE FROM entry_months WHERE starts_at > '-infinity';
    UPDATE entry_months SET month = '${monthAt(-count - 1)}', ends_at = '${bound}Z'`)
  await makeEntryMonths(sql)
}

/** The first day of this month (UTC), or of one this many months later, such as `2026-11-01`. */
export function monthAt(later: number): string {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + later)).toISOString().slice(0, 10)
}

/** A moment in the middle of this month, or of one this many months later. */
export function midMonth(later: number): Date {
  return new Date(`${monthAt(later).slice(0, 8)}15T12:00:00Z`)
}

/** The partitions of `entries`, and the number of rows in each. */
export async function entryTables(sql: Sql): Promise<Record<string, number>> {
  const names = await sql<{ name: string }[]>`
    SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = to_regclass('entries')
      AND (SELECT relkind FROM pg_class WHERE oid = to_regclass('entries')) = 'p' ORDER BY 1`
  const rows = await sql<{ name: string; count: string }[]>`
    SELECT tableoid::regclass::text AS name, count(*) FROM entries GROUP BY 1`
  const counts = new Map(rows.map(({ name, count }) => [name, Number(count)]))
  return Object.fromEntries(names.map(({ name }) => [name, counts.get(name) ?? 0]))
}

export function tableOf(later: number): string {
  return `entries_${monthAt(later).slice(0, 7).replace('-', '')}`
}
