import type { Sql } from 'postgres'
import type { Subject } from './row-batch.ts'

export type ErasureState = 'queued' | 'running' | 'waiting' | 'succeeded' | 'cancelled'

/** An erasure job, as stored in its table. */
export interface Erasure {
  id: string
  tenant_id: string
  end_user: string | null
  end_user_hash: Buffer | null
  what: 'content' | 'rows'
  from_at: Date | null
  to_at: Date
  dry_run: boolean
  state: ErasureState
  actor: string
  created_at: Date
  started_at: Date | null
  ended_at: Date | null
  fence: string
  passes: number
  place_table: string | null
  place_at: Date | null
  place_id: string | null
  counts: Record<string, number>
  counts_before: Record<string, number> | null
  waits_for: string | null
  error: string | null
  not_reached: string[]
}

export function subjectOf({ tenant_id, end_user, from_at, to_at }: Erasure): Subject {
  return { tenantId: tenant_id, endUser: end_user, from: from_at, to: to_at }
}

/**
 * Claims the oldest job that can continue. Undefined if there is none, or if another process is running a
 * job. A waiting job does not stop other jobs from running.
 */
export async function claimErasure(sql: Sql, leaseMs: number): Promise<Erasure | undefined> {
  const [row] = await sql<Erasure[]>`
    UPDATE erasures SET leased_until = now() + ${leaseMs}::integer * interval '1 ms', fence = fence + 1,
      started_at = coalesce(started_at, now()), error = NULL,
      state = CASE state WHEN 'queued' THEN 'running' ELSE state END
    WHERE id = (
      SELECT e.id FROM erasures e
      WHERE e.state IN ('queued', 'running', 'waiting') AND (e.leased_until IS NULL OR e.leased_until <= now())
        AND NOT EXISTS (SELECT FROM erasures o WHERE o.state = 'running' AND o.leased_until > now())
      ORDER BY e.created_at, e.id LIMIT 1 FOR UPDATE
    ) AND (leased_until IS NULL OR leased_until <= now())
    RETURNING *`
  return row
}

/** Records the next step of a job. False if the job now belongs to another process or has ended. */
export async function noteErasure(
  sql: Sql,
  { id, fence }: Pick<Erasure, 'id' | 'fence'>,
  change: {
    state: 'running' | 'waiting'
    /** No process claims the job before this time has passed. */
    leaseMs: number
    waitsFor?: string
    error?: string
    /** Starts a new pass, after `passes` passes of which the last ended with these counts. */
    pass?: { passes: number; countsBefore: Record<string, number> | null }
  },
): Promise<boolean> {
  const { pass } = change
  const rows = await sql`
    UPDATE erasures SET state = ${change.state}, waits_for = ${change.waitsFor ?? null}, error = ${change.error ?? null},
      leased_until = now() + ${change.leaseMs}::integer * interval '1 ms'
      ${
        pass === undefined
          ? sql``
          : sql`, passes = ${pass.passes}, place_table = NULL, place_at = NULL, place_id = NULL,
              counts_before = ${pass.countsBefore === null ? null : JSON.stringify(pass.countsBefore)}::text::jsonb`
      }
    WHERE id = ${id} AND fence = ${fence} AND state IN ('running', 'waiting') RETURNING 1`
  return rows.length === 1
}

/** Adds counts of what was removed outside of log rows, or of what a dry run has found. */
export async function addCounts(
  sql: Sql,
  { id, fence }: Pick<Erasure, 'id' | 'fence'>,
  counts: Record<string, number>,
): Promise<void> {
  await sql`
    UPDATE erasures e SET counts = e.counts || (
      SELECT coalesce(jsonb_object_agg(a.key, coalesce((e.counts->>a.key)::bigint, 0) + a.value::bigint), '{}')
      FROM jsonb_each_text(${JSON.stringify(counts)}::text::jsonb) AS a)
    WHERE id = ${id} AND fence = ${fence}`
}

/** Ends a completed job and deletes the name of its end user. */
export async function endErasure(
  sql: Sql,
  { id, fence }: Pick<Erasure, 'id' | 'fence'>,
  notReached: readonly string[],
): Promise<void> {
  // When a key changes, every process forgets the conversations that it has sent.
  await sql`
    WITH ended AS (
      UPDATE erasures SET state = 'succeeded', ended_at = now(), leased_until = NULL, end_user = NULL, waits_for = NULL,
        error = NULL, place_table = NULL, place_at = NULL, place_id = NULL,
        not_reached = ${JSON.stringify(notReached)}::text::jsonb
      WHERE id = ${id} AND fence = ${fence} AND state IN ('running', 'waiting') RETURNING tenant_id, dry_run
    )
    UPDATE keys k SET revision = k.revision FROM ended e
    WHERE k.tenant_id = e.tenant_id AND k.revoked_at IS NULL AND NOT e.dry_run`
}

export async function readErasure(sql: Sql, id: string): Promise<Erasure | undefined> {
  const [row] = await sql<Erasure[]>`SELECT * FROM erasures WHERE id = ${id}`
  return row
}

/** The newest jobs before an id, newest first. Ids are ordered by time. */
export function listErasures(
  sql: Sql,
  { before, tenantId, limit }: { before: string | undefined; tenantId: string | undefined; limit: number },
): Promise<Erasure[]> {
  return sql<Erasure[]>`
    SELECT * FROM erasures WHERE true ${before === undefined ? sql`` : sql`AND id < ${before}`}
      ${tenantId === undefined ? sql`` : sql`AND tenant_id = ${tenantId}`}
    ORDER BY id DESC LIMIT ${limit}`
}

/** What a job has to wait for. */
export interface Obstacles {
  /** The time according to Postgres. */
  now: Date
  /** When the last request of the job's time range must have ended. Null if that time has passed. */
  openUntil: Date | null
  jobs: number
  /** Days that have not been counted in the sums yet. */
  uncounted: number
  /** Silent processes whose journals have not been adopted. */
  silent: string[]
  /** Processes whose journals were not found. */
  lost: string[]
}

export async function obstaclesTo(
  sql: Sql,
  { tenant_id, to_at, from_at }: Erasure,
  { settleMs, silentMs }: { settleMs: number; silentMs: number },
): Promise<Obstacles> {
  const [row] = await sql<Obstacles[]>`
    SELECT now() AS now, CASE WHEN s.until > now() THEN s.until END AS "openUntil",
      (SELECT count(*)::integer FROM jobs j
        WHERE j.tenant_id = ${tenant_id} AND j.state IN ('queued', 'running') AND j.created_at < ${to_at}) AS "jobs",
      (SELECT count(*)::integer FROM rollup_backfill) AS uncounted,
      ARRAY(SELECT i.id::text FROM instances i WHERE i.state = 'live'
        AND i.heartbeat_at < now() - ${silentMs}::integer * interval '1 ms' ORDER BY 1 LIMIT 20) AS silent,
      ARRAY(SELECT i.id::text FROM instances i WHERE i.state = 'lost' AND i.started_at < ${to_at}
        AND i.heartbeat_at >= coalesce(${from_at}::timestamptz, '-infinity') ORDER BY 1 LIMIT 20) AS lost
    FROM (SELECT ${to_at}::timestamptz + ${settleMs}::integer * interval '1 ms' AS until) AS s`
  if (row === undefined) throw new Error('the query for erasure obstacles returned no row')
  return row
}
