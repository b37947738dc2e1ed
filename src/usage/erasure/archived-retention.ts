import type { Sql } from 'postgres'
import type { Removal } from '../archive/remove-archived.ts'
import type { RemoveArchived } from './work.ts'

type Kind = 'rows' | 'bodies' | 'answers'

interface Due {
  tenant_id: string
  kind: Kind
  /** The first day to process; null means the first day of the archive. */
  first: string | null
  /** The last day to delete. */
  last: string
}

type Ask = <T>(query: (sql: Sql) => PromiseLike<T>) => Promise<T>

/**
 * Deletes data from the archive whose retention for its tenant is shorter than the general one: a few days at
 * a time, oldest first, and all tenants of a day together, because its files are rewritten. It only goes as
 * far as `sweepTenants` has gone in Postgres, because a day whose rows are still there may be archived with
 * them. `isBusy` means that another archiver is running, so the caller should try again soon.
 */
export async function sweepArchive(
  ask: Ask,
  remove: RemoveArchived,
  { daysAtOnce, signal }: { daysAtOnce: number; signal?: AbortSignal | undefined },
): Promise<{ gone: number; isBusy: boolean }> {
  let gone = 0
  for (;;) {
    const dues = await ask(dueOfArchive)
    const days = await ask((sql) => archivedDays(sql, dues))
    for (let at = 0; at < days.length; at += daysAtOnce) {
      if (signal?.aborted === true) return { gone, isBusy: false }
      const some = days.slice(at, at + daysAtOnce)
      const [from = '', to = ''] = [some[0], some.at(-1)]
      const counts = await remove({ from, to }, removalsOf(dues, from, to), signal)
      if (counts === null) return { gone, isBusy: true }
      gone += Object.values(counts).reduce((sum, count) => sum + count, 0)
      await ask((sql) => noteSwept(sql, dues, to))
    }
    await ask((sql) => noteSwept(sql, dues, null))
    if (dues.length < duesMax) return { gone, isBusy: false }
  }
}

/**
 * The maximum of pairs of tenant and kind processed together, because the tenant ids are parameters of one
 * query.
 */
const duesMax = 1_000
/** The number of days that are processed again, because rows can arrive late. */
const againDays = 3
const dayMs = 86_400_000

function dueOfArchive(sql: Sql): Promise<Due[]> {
  return sql<Due[]>`
    SELECT t.id AS tenant_id, k.kind, (a.through + 1 - ${againDays}::integer)::text AS first, l.last::text AS last
    FROM tenants t
    CROSS JOIN LATERAL (VALUES ('rows', t.rows_days), ('bodies', t.bodies_days), ('answers', t.answers_days)) AS k (kind, days)
    JOIN tenant_sweeps s ON s.tenant_id = t.id AND s.kind = k.kind
    LEFT JOIN tenant_sweeps a ON a.tenant_id = t.id AND a.kind = 'archived_' || k.kind
    CROSS JOIN LATERAL (SELECT least((now() AT TIME ZONE 'UTC')::date - k.days - 1, s.through) AS last) AS l
    WHERE k.days IS NOT NULL AND (a.through IS NULL OR a.through < l.last)
    ORDER BY l.last, t.id, k.kind LIMIT ${duesMax}`
}

/** The archived days that can contain data to delete, oldest first. */
async function archivedDays(sql: Sql, dues: readonly Due[]): Promise<string[]> {
  const days = await sql<{ day: string }[]>`
    SELECT DISTINCT a.day::text FROM archived_days a
    JOIN jsonb_to_recordset(${JSON.stringify(dues)}::text::jsonb) AS d (first date, last date)
      ON a.day >= coalesce(d.first, '-infinity') AND a.day <= d.last
    WHERE a.table_name = 'requests' AND a.state = 'dropped' AND a.location IS NOT NULL ORDER BY 1`
  return days.map(({ day }) => day)
}

/** What to delete from these days. Tenants with the same last day share one condition. */
function removalsOf(dues: readonly Due[], from: string, to: string): Removal[] {
  const removals = new Map<string, Removal & { tenantIds: string[] }>()
  for (const { tenant_id, kind, first, last } of dues) {
    if (last < from || (first !== null && first > to)) continue
    const same = removals.get(`${kind} ${last}`)
    if (same !== undefined) same.tenantIds.push(tenant_id)
    else {
      const end = new Date(Date.parse(`${last}T00:00:00Z`) + dayMs)
      removals.set(`${kind} ${last}`, {
        what: kind,
        tenantIds: [tenant_id],
        endUser: null,
        from: null,
        to: end,
      })
    }
  }
  return [...removals.values()]
}

/** Records that all archived days up to `day` are done; null means all days that were due. */
async function noteSwept(sql: Sql, dues: readonly Due[], day: string | null): Promise<void> {
  await sql`
    INSERT INTO tenant_sweeps (tenant_id, kind, through)
    SELECT d.tenant_id, 'archived_' || d.kind, least(d.last, ${day}::text::date)
    FROM jsonb_to_recordset(${JSON.stringify(dues)}::text::jsonb) AS d (tenant_id uuid, kind text, last date)
    ON CONFLICT (tenant_id, kind) DO UPDATE SET through = greatest(tenant_sweeps.through, excluded.through)`
}
