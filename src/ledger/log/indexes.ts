import type { Sql } from 'postgres'
import type { Clock } from '../../runtime/clock.ts'
import { buildIndexes, type IndexPass, type MissingIndex } from '../index-builder.ts'

/**
 * The indexes of closed days, which serve the queries of admins over all tenants. A day is closed when it has
 * ended and its rows are there. The partitions of today and tomorrow do without: each index would cost every
 * insert, and one day of rows is read fast enough. To build an index at once, by sorting, costs a small part
 * of what inserts into it cost.
 */
interface LogIndex {
  /** The end of its name, after that of the partition. */
  readonly name: string
  readonly on: string
  /** The extension whose operators it uses. */
  readonly extension?: 'pg_trgm'
}

export const logIndexes: readonly LogIndex[] = [
  { name: 'log_key', on: '(key_id, created_at)' },
  { name: 'log_model', on: '(requested_model, created_at)' },
  { name: 'log_served', on: '(served_model, created_at) where served_model <> requested_model' },
  { name: 'log_channel', on: '(channel, created_at) where channel is not null' },
  { name: 'log_user', on: '(end_user, created_at) where end_user is not null' },
  { name: 'log_error', on: '(error_kind, created_at) where error_kind is not null' },
  // For equal addresses, and for those that begin alike, whatever the collation of the database is.
  { name: 'log_address', on: '(client_address text_pattern_ops, created_at)' },
  {
    name: 'log_error_text',
    on: 'using gin (error_message gin_trgm_ops) where error_message is not null',
    extension: 'pg_trgm',
  },
]

/**
 * How much later the rows of a day may come. A row that comes even later costs more, and is found as well.
 */
const lateHours = 1

/** Build the missing indexes of closed days, the newest day first, as `buildIndexes` does. */
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
