import type { Sql } from 'postgres'
import { eraseBatch, nextBatch, partitionsOf, type RowPosition } from './row-batch.ts'

/** The general retention in days. A tenant's own retention can only be shorter. */
export interface RetentionPlan {
  requestRetentionDays: number
  payloadRetentionDays: number
  answerRetentionDays: number
}

interface Due {
  tenant_id: string
  kind: 'rows' | 'bodies' | 'answers'
  /** The first day not swept yet; null if no day has been swept. */
  since: string | null
  /** The last day to delete. */
  last: string
}

type Ask = <T>(query: (sql: Sql) => PromiseLike<T>) => Promise<T>

/**
 * Deletes data whose retention for its tenant is shorter than the general one: day by day, oldest first, in
 * bounded statements that use an index of the tenant. Partitions are still dropped for all tenants together.
 * Each day is swept once, and the newest three days of a sweep once more, for late rows. Kept answers and
 * files are deleted first. Returns the number of deleted rows, bodies and answers.
 */
export async function sweepTenants(
  ask: Ask,
  plan: RetentionPlan,
  { batchRows, signal }: { batchRows: number; signal?: AbortSignal | undefined },
): Promise<number> {
  await endKept(ask)
  let gone = 0
  for (const due of await ask((sql) => dueSweeps(sql, plan))) {
    const to = new Date(Date.parse(`${due.last}T00:00:00Z`) + dayMs)
    const from =
      due.since === null ? null : new Date(Date.parse(`${due.since}T00:00:00Z`) - againDays * dayMs)
    const subject = { tenantId: due.tenant_id, endUser: null, from, to }
    let isWhole = true
    for (const table of await ask((sql) => partitionsOf(sql, subject))) {
      // The upkeep moves rows of the default partition to their own, and the sums of a day are computed from
      // its rows, so an uncounted day must keep them.
      if (table === 'requests_default') continue
      if (due.kind === 'rows' && (await ask((sql) => isUncounted(sql, table)))) {
        isWhole = false
        continue
      }
      let after: RowPosition | undefined
      for (;;) {
        if (signal?.aborted === true) return gone
        const batch = await ask((sql) => nextBatch(sql, table, subject, { after, most: batchRows }))
        if (batch === undefined) break
        const counts = await ask((sql) => eraseBatch(sql, batch, due.kind))
        gone += counts?.[due.kind] ?? 0
        after = { at: batch.last, id: batch.ids.at(-1) ?? '' }
      }
    }
    if (isWhole)
      await ask(
        (sql) => sql`
          INSERT INTO tenant_sweeps (tenant_id, kind, through) VALUES (${due.tenant_id}, ${due.kind}, ${due.last}::text::date)
          ON CONFLICT (tenant_id, kind) DO UPDATE SET through = excluded.through`,
      )
  }
  // The partition of these rows' day has already been dropped.
  await ask(
    (sql) => sql`
      DELETE FROM deleted_sums WHERE minute < now() - make_interval(days => ${plan.requestRetentionDays + 2})`,
  )
  return gone
}

/** The number of days that are swept again, because rows can arrive late. */
const againDays = 3
const dayMs = 86_400_000

function dueSweeps(sql: Sql, plan: RetentionPlan): Promise<Due[]> {
  return sql<Due[]>`
    SELECT t.id AS tenant_id, k.kind, (s.through + 1)::text AS since,
      ((now() AT TIME ZONE 'UTC')::date - k.days - 1)::text AS last
    FROM tenants t
    CROSS JOIN LATERAL (VALUES
      ('rows', t.rows_days, ${plan.requestRetentionDays}::integer),
      ('bodies', t.bodies_days, ${plan.payloadRetentionDays}),
      ('answers', t.answers_days, ${plan.answerRetentionDays})) AS k (kind, days, of_all)
    LEFT JOIN tenant_sweeps s ON s.tenant_id = t.id AND s.kind = k.kind
    WHERE k.days < k.of_all AND (s.through IS NULL OR s.through < (now() AT TIME ZONE 'UTC')::date - k.days - 1)
    ORDER BY t.id, k.kind DESC`
}

async function isUncounted(sql: Sql, table: string): Promise<boolean> {
  const rows =
    await sql`SELECT 1 FROM rollup_backfill WHERE day = to_date(right(${table}::text, 8), 'YYYYMMDD')`
  return rows.length > 0
}

/**
 * Deletes kept answers that are older than their tenant's retention, including those that later turns
 * continue, and shortens the lifetime of the tenant's files accordingly. A kept turn contains a request and
 * an answer, and a file is part of requests. New ones already use the tenant's retention; these were stored
 * before it was set.
 */
export async function endKept(ask: <T>(query: (sql: Sql) => PromiseLike<T>) => Promise<T>): Promise<void> {
  for (;;) {
    const { count } = await ask(
      (sql) => sql`
        DELETE FROM kept_answers WHERE (tenant_id, id) IN (
          SELECT k.tenant_id, k.id FROM tenants t JOIN kept_answers k ON k.tenant_id = t.id
          WHERE k.created_at <= now() - make_interval(days => least(t.rows_days, t.bodies_days, t.answers_days)) LIMIT ${atOnce})`,
    )
    if (count < atOnce) break
  }
  await ask(
    (sql) => sql`
      UPDATE files f SET expires_at = f.created_at + make_interval(days => least(t.rows_days, t.bodies_days)) FROM tenants t
      WHERE t.id = f.tenant_id AND f.state = 'ready'
        AND f.expires_at > f.created_at + make_interval(days => least(t.rows_days, t.bodies_days))`,
  )
}

const atOnce = 500
