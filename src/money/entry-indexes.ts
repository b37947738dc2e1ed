import type { Sql } from 'postgres'
import type { Clock } from '../runtime/clock.ts'
import { buildIndexes, type IndexPass, type MissingIndex } from './index-builder.ts'

/**
 * Builds the index that lists manual entries, on each partition of `entries` that lacks it, using
 * `buildIndexes`. This is not done in a migration, which would block writers while it reads all charges. The
 * index excludes charges, so inserting one does not touch it.
 */
export async function keepEntryIndexes(
  sql: Sql,
  clock: Clock,
  limits?: { waitMs?: number },
): Promise<IndexPass> {
  return await buildIndexes(sql, missingIndexes, clock, limits)
}

async function missingIndexes(sql: Sql): Promise<MissingIndex[]> {
  const rows = await sql<{ table: string; name: string; is_invalid: boolean }[]>`
    select c.relname::text as table, c.relname || '_by_hand' as name, i.indexrelid is not null as is_invalid
    from pg_inherits h
    join pg_class c on c.oid = h.inhrelid
    left join pg_class x on x.relname = c.relname || '_by_hand' and x.relnamespace = c.relnamespace
    left join pg_index i on i.indexrelid = x.oid
    where h.inhparent = to_regclass('entries') and i.indisvalid is not true
    order by c.relname desc`
  return rows.map(({ table, name, is_invalid }) => ({ table, name, on, isInvalid: is_invalid }))
}

const on = "(account_id, created_at, id) where kind <> 'charge'"
