import type { Sql } from 'postgres'
import { buildIndexes, type IndexPass, type MissingIndex } from '../../money/index-builder.ts'
import type { Clock } from '../../runtime/clock.ts'

/**
 * The indexes of closed days, which serve queries by admins over all tenants. A day is closed when it has
 * ended and its rows have arrived. The partitions of today and tomorrow have no such indexes, because each
 * would slow down every insert and a single day of rows can be read quickly enough. Building an index at
 * once, by sorting, costs a fraction of inserting into it row by row.
 */
interface LogIndex {
  /** The suffix of the index name, after the partition's name. */
  readonly name: string
  readonly on: string
  /** The extension that provides its operators. */
  readonly extension?: 'pg_trgm'
}

export const logIndexes: readonly LogIndex[] = [
  { name: 'log_key', on: '(key_id, created_at)' },
  { name: 'log_model', on: '(requested_model, created_at)' },
  { name: 'log_served', on: '(served_model, created_at) where served_model <> requested_model' },
  { name: 'log_channel', on: '(channel, created_at) where channel is not null' },
  { name: 'log_user', on: '(end_user, created_at) where end_user is not null' },
  { name: 'log_error', on: '(error_kind, created_at) where error_kind is not null' },
  // Supports equal addresses and common prefixes, whatever the collation of the database.
  { name: 'log_address', on: '(client_address text_pattern_ops, created_at)' },
  {
    name: 'log_error_text',
    on: 'using gin (error_message gin_trgm_ops) where error_message is not null',
    extension: 'pg_trgm',
  },
]

/** How late the rows of a day can arrive. Later rows are still found, but cost more. */
const lateHours = 1

/** Builds the missing indexes of closed days, newest day first, using `buildIndexes`. */
export async function keepLogIndexes(
  sql: Sql,
  clock: Clock,
  limits?: { waitMs?: number },
): Promise<IndexPass> {
  return await buildIndexes(sql, missingIndexes, clock, limits)
}

async function missingIndexes(sql: Sql): Promise<MissingIndex[]> {
  const rows = await sql<{ partition: string; name: string; is_invalid: boolean }[]>`
    select c.relname::text as partition, w.name, i.indexrelid is not null as is_invalid
    from pg_inherits h
    join pg_class c on c.oid = h.inhrelid
    cross join unnest(${logIndexes.map(({ name }) => name)}::text[]) with ordinality as w (name, place)
    left join pg_class x on x.relname = c.relname || '_' || w.name and x.relnamespace = c.relnamespace
    left join pg_index i on i.indexrelid = x.oid
    where h.inhparent = to_regclass('requests') and c.relname ~ '^requests_[0-9]{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD')
        < ((now() - make_interval(hours => ${lateHours})) at time zone 'UTC')::date
      and i.indisvalid is not true
    order by c.relname desc, w.place`
  return rows.flatMap(({ partition, name, is_invalid }) => {
    const index = logIndexes.find((each) => each.name === name)
    return index === undefined
      ? []
      : [{ ...index, table: partition, name: `${partition}_${index.name}`, isInvalid: is_invalid }]
  })
}
