import type postgres from 'postgres'
import { momentOf } from '../../journal/tuple.ts'
import type { LogFilter } from './row-tests.ts'

const dayMs = 86_400_000

/**
 * The time range in which matching rows can lie: that of the partitions, the archive files and the rows whose
 * day has no partition yet, or the times inside the requested ids.
 */
export async function logSpan(
  sql: postgres.Sql,
  { conditions }: LogFilter,
  nowMs: number,
): Promise<{ from: Date; to: Date }> {
  for (const condition of conditions) {
    if (condition.not || condition.test !== 'is' || condition.columns[0] !== 'id') continue
    const all = condition.values.flatMap((id) => (typeof id === 'string' ? [momentOf(id)] : []))
    if (all.length === 0) continue
    // Other kinds of uuid can yield any time, but none of our rows has a later one.
    const latest = nowMs + dayMs
    const moments = all.filter((ms) => ms <= latest)
    if (moments.length === 0) return { from: new Date(latest), to: new Date(latest) }
    return { from: new Date(Math.min(...moments)), to: new Date(Math.max(...moments) + 1) }
  }
  const [found] = await sql<{ first: Date | null; archived: Date | null; stray: string | null; now: Date }[]>`
    select min(to_date(right(c.relname, 8), 'YYYYMMDD'))::timestamp at time zone 'UTC' as first,
      (select min(first_at) from archived_days where table_name = 'requests' and state = 'dropped') as archived,
      (select id from requests_default order by id limit 1) as stray, now() as now
    from pg_inherits h join pg_class c on c.oid = h.inhrelid
    where h.inhparent = to_regclass('requests') and c.relname ~ '_[0-9]{8}$'`
  const now = found?.now ?? new Date(nowMs)
  const { first = null, archived = null, stray = null } = found ?? {}
  const starts = [first ?? now, archived ?? now, ...(stray === null ? [] : [new Date(momentOf(stray))])]
  // The clocks of processes are assumed to differ by less than a day.
  return { from: new Date(Math.min(...starts.map(Number))), to: new Date(now.getTime() + dayMs) }
}
