import type postgres from 'postgres'
import { requestColumns } from '../../journal/row.ts'
import { conditionsOf, joined } from './conditions.ts'
import type { LogFilter, LogRow } from './row-tests.ts'

/**
 * A position in the order in which rows became visible. This is not the order of their times, because a row
 * is written when its request ends, and requests end in any order, in several processes.
 */
export interface TailPlace {
  /** A Postgres snapshot: the rows visible in it come before this position. */
  readonly snapshot: string
  /**
   * The block of each partition at which the search begins. Earlier blocks contain only rows that come before
   * this position.
   */
  readonly blocks: Readonly<Record<string, number>>
}

/** Makes the trigger record the rows of the next minutes. Must be repeated while a tail is open. */
export async function watchRows(sql: postgres.Sql): Promise<void> {
  await sql`
    insert into tail_watch (one, until) values (true, now() + interval '10 minutes')
    on conflict (one) do update set until = greatest(tail_watch.until, excluded.until)`
}

/**
 * The partitions to which most running requests write, with their sizes in blocks. Rows of older days are
 * always recorded. The partition of two days ago is included because the day may end between the writing of a
 * row and the search.
 */
export async function tailSizes(
  sql: postgres.Sql,
): Promise<{ snapshot: string; sizes: Record<string, number> }> {
  const rows = await sql<{ name: string; blocks: number; snapshot: string }[]>`
    select c.relname as name, (pg_relation_size(c.oid) / current_setting('block_size')::bigint)::float8 as blocks,
      pg_current_snapshot()::text as snapshot
    from pg_inherits h join pg_class c on c.oid = h.inhrelid
    where h.inhparent = 'requests'::regclass
      and (c.relname = 'requests_default' or (c.relname ~ '^requests_[0-9]{8}$'
        and to_date(right(c.relname, 8), 'YYYYMMDD') between (now() at time zone 'UTC')::date - 2
          and (now() at time zone 'UTC')::date + 1))`
  return {
    snapshot: rows[0]?.snapshot ?? '',
    sizes: Object.fromEntries(rows.map(({ name, blocks }) => [name, blocks])),
  }
}

export interface NewRows {
  /** The newest matching rows, oldest first. */
  rows: LogRow[]
  /** The number of all matching rows. */
  count: number
  /** Where the next search begins. */
  snapshot: string
}

/**
 * The rows that have become visible since a position, each once. `filter`, with ids as returned by `withIds`,
 * selects rows; `until` excludes rows that became visible after this snapshot. Most rows are recorded in
 * noted_requests. Those written before a tail was open are in the blocks from the position on, except for
 * small ones, which Postgres can put into the free space of any block. The transaction of each row is in
 * `xmin`. https://www.postgresql.org/docs/18/functions-info.html#FUNCTIONS-PG-SNAPSHOT
 */
export async function newRows(
  sql: postgres.Sql,
  { snapshot, blocks }: TailPlace,
  { until, filter, most }: { until?: string; filter?: LogFilter; most: number },
): Promise<NewRows> {
  const before = until === undefined ? sql`` : sql`and pg_visible_in_snapshot(x.id, ${until}::pg_snapshot)`
  const parts = Object.entries(blocks).flatMap(([name, block], at) => {
    const [table, from] = [sql.unsafe(name), sql.unsafe(`'(${Math.trunc(block)},0)'::tid`)]
    const part = sql`
      select ${sql.unsafe(columns)} from ${table} r cross join lateral (${fullXid(sql)}) as x (id)
      where r.ctid >= ${from} and not pg_visible_in_snapshot(x.id, ${snapshot}::pg_snapshot) ${before}`
    return at === 0 ? [part] : [sql`union all`, part]
  })
  const union = parts.length === 0 ? sql`` : sql`union all`
  // A transaction before the snapshot's `xmin` is visible in it, so the index can exclude it.
  const noted = sql`
    select ${sql.unsafe(columns)} from noted_requests n join requests r on r.id = n.id and r.created_at = n.created_at
    cross join lateral (select n.transaction::text::xid8) as x (id)
    where n.transaction >= pg_snapshot_xmin(${snapshot}::pg_snapshot)::text::bigint
      and not pg_visible_in_snapshot(x.id, ${snapshot}::pg_snapshot) ${before}`
  const conditions = filter === undefined ? [] : conditionsOf(sql, filter)
  const where = conditions.length === 0 ? sql`` : sql`where ${joined(sql, conditions, sql`and`)}`
  const found = await sql<(LogRow & { tail_count: string; tail_snapshot: string })[]>`
    select *, count(*) over () as tail_count, pg_current_snapshot()::text as tail_snapshot
    from (select distinct on (id) * from (${parts} ${union} ${noted}) as found) as fresh ${where} order by id desc limit ${sql.unsafe(String(Math.trunc(most)))}`
  return {
    rows: found.toReversed(),
    count: Number(found[0]?.tail_count ?? 0),
    snapshot: found[0]?.tail_snapshot ?? snapshot,
  }
}

/**
 * `xmin` contains the lower 32 bits of a transaction id. The row's transaction is assumed to be less than two
 * billion transactions old.
 */
function fullXid(sql: postgres.Sql) {
  return sql`
    select (case when low.id > low.next then low.id - 4294967296 else low.id end)::text::xid8 from (
      select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next,
        (pg_snapshot_xmax(pg_current_snapshot())::text::bigint / 4294967296) * 4294967296 + r.xmin::text::bigint as id
    ) as low`
}

const columns = requestColumns.map(({ name }) => `r.${name}`).join(', ')
