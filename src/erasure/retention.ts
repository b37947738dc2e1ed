import type { Sql } from 'postgres'
import { eraseBatch, nextBatch, partitionsOf, type RowPosition } from './row-batch.ts'

/** Days that hold for tenants without days of their own; no tenant keeps anything for longer. */
export interface RetentionPlan {
  requestRetentionDays: number
  payloadRetentionDays: number
  answerRetentionDays: number
}

interface Due {
  tenant_id: string
  kind: 'rows' | 'bodies' | 'answers'
  /** The first day that is not swept; null: none is. */
  since: string | null
  /** The last day to be deleted. */
  last: string
}

type Ask = <T>(query: (sql: Sql) => PromiseLike<T>) => Promise<T>

/**
 * Delete what tenants keep for fewer days than all: day by day, the oldest first, in bounded statements that
 * use an index of the tenant. Partitions are dropped for all tenants as before. Each day is swept once, and
 * the newest three of these days again, for late rows. Kept answers and files go first. Returns the number of
 * deleted rows, bodies and answers.
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
      // Rows without a partition get theirs from the upkeep; sums of a day are made from its rows.
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
  // Their rows' day has lost its partition.
  await ask(
    (sql) => sql`
      DELETE FROM deleted_sums WHERE minute < now() - make_interval(days => ${plan.requestRetentionDays + 2})`,
  )
  return gone
}

/** Days that are swept again, because rows may come late. */
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
 * Delete kept answers that are older than the days of their tenant, also those that others continue, and have
 * its files expire in these days. A turn has the request and the answer, a file is a part of requests. New
 * ones know the days; these were set later.
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
