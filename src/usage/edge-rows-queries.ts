import type postgres from 'postgres'
import { firstIdAt } from '../db/first-id.ts'
import type { Cancellable } from '../db/pool.ts'
import { hourMs, type TimeRange } from './summary-range.ts'

/** The maximum number of usage log rows that are read for the ends of a range. Each takes about 2 us. */
export const edgeRowsMax = 200_000

/**
 * Returns the number of rows in the hours of these pieces, to decide whether they can be read; Infinity if
 * the usage log may have lost some of them. From `hoursFrom` on, sums by hour exist, so the number of rows of
 * an hour is known. For an earlier hour it is not, so its partition must exist.
 */
export async function rowsNear(
  sql: postgres.Sql,
  pieces: readonly TimeRange[],
  hoursFrom: number,
  running: Cancellable,
): Promise<number> {
  if (pieces.length === 0) return 0
  const numbers = pieces.flatMap(({ from, to }) => [Math.floor(from / hourMs), Math.floor((to - 1) / hourMs)])
  const hours = [...new Set(numbers)].map((number) => number * hourMs)
  const [found] = await running(sql<{ rows: string; gone: boolean }[]>`
    with asked as (
      select hour, hour >= ${new Date(hoursFrom)}::timestamptz as is_kept, first_id, end_id,
        coalesce((select sum(s.rows) from rollup_hours s where s.hour = a.hour), 0) as rows,
        to_regclass('requests_' || to_char(hour at time zone 'UTC', 'YYYYMMDD')) is not null as has_partition,
        exists (select from archived_days d where d.table_name = 'requests' and d.state = 'dropped'
          and d.day = (hour at time zone 'UTC')::date) as is_archived
      from unnest(${hours.map((ms) => new Date(ms).toISOString())}::text[]::timestamptz[],
        ${hours.map(firstIdAt)}::text[]::uuid[], ${hours.map((ms) => firstIdAt(ms + hourMs))}::text[]::uuid[]) as a (hour, first_id, end_id)
    ), seen as (
      select a.*, case when is_kept and (has_partition or rows = 0) then rows else (
        select count(*) from (
          select from requests r where r.id >= a.first_id and r.id < a.end_id
            and r.created_at >= a.hour and r.created_at < a.hour + interval '1 hour' limit ${edgeRowsMax + 1}::bigint
        ) as found) end as there
      from asked a
    )
    select sum(there) as rows, bool_or(case
      when is_kept then rows > 0 and (is_archived or not has_partition and there < rows)
      else is_archived or not has_partition end) as gone
    from seen`)
  return found?.gone === true ? Number.POSITIVE_INFINITY : Number(found?.rows)
}
