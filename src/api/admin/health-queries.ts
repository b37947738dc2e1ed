import { causePattern } from '../../canonical/unreachable.ts'
import { asc, eq, sql } from '../../db/drizzle.cjs'
import { firstIdAt } from '../../db/first-id.ts'
import { instances, jobs, revision } from '../../db/schema.ts'
import type { Queries } from '../../db/transactions.ts'
import type { JobKind } from '../../jobs/job.ts'

/** The period of recent calls in minutes, and the maximum number of calls that are read. */
export const recentMinutes = 10
const recentMax = 20_000

/** Returns live processes, and processes that should be alive. */
export function readInstances(db: Queries) {
  return db
    .select()
    .from(instances)
    .where(eq(instances.state, 'live'))
    .orderBy(asc(instances.startedAt))
    .limit(1000)
}

export async function readRevisions(db: Queries) {
  const [row] = await db.select().from(revision)
  return row
}

export async function countWaiting(db: Queries) {
  const isQueued = (kind: JobKind) =>
    sql`${jobs.state} = 'queued' AND is_answer_job(${jobs.id}) = ${kind === 'answer'}`
  const isUndelivered = sql`${jobs.webhookState} = 'pending'`
  const [images, answers, webhooks] = await Promise.all(
    [isQueued('image'), isQueued('answer'), isUndelivered].map((where) =>
      db.select({ count: sql<number>`count(*)::int` }).from(jobs).where(where),
    ),
  )
  const of = (rows: readonly { count: number }[] | undefined) => rows?.[0]?.count ?? 0
  return { images: of(images), answers: of(answers), webhooks: of(webhooks) }
}

export interface RecentCalls {
  channel: string
  calls: number
  failed: number
  /** The calls whose client left before an answer began. */
  unanswered: number
  lastError: string | null
  /** The calls answered since the last failed one, and when the first of them began. */
  answeredSince: number
  firstAnsweredAt: Date | null
}

/**
 * Returns the calls of the last minutes by channel. The ids of requests are in chronological order, so only
 * the newest are read.
 */
export async function readRecentCalls(db: Queries): Promise<RecentCalls[]> {
  const from = firstIdAt(Date.now() - recentMinutes * 60_000)
  const rows: Iterable<Record<string, unknown>> = toRows(
    await db.execute(sql`
      SELECT channel, count(*)::int AS calls, count(error_kind)::int AS failed,
        count(*) FILTER (WHERE error_kind IS NULL AND status IS NULL)::int AS unanswered,
        count(*) FILTER (WHERE is_answered AND created_at > failed_at)::int AS answered_since,
        min(created_at) FILTER (WHERE is_answered AND created_at > failed_at)::text AS first_answered_at,
        (array_agg(error_kind || coalesce(' ' || status, '') || coalesce(': ' || cause, '') ORDER BY request_id DESC)
          FILTER (WHERE error_kind IS NOT NULL))[1] AS last_error
      FROM (
        SELECT *, error_kind IS NULL AND status IS NOT NULL AS is_answered,
          max(created_at) FILTER (WHERE error_kind IS NOT NULL) OVER (PARTITION BY channel) AS failed_at
        FROM (
          SELECT created_at, channel, error_kind, status, request_id, substring(error_message from ${causePattern}::text) AS cause FROM attempts
          WHERE request_id >= ${from}::uuid AND created_at >= now() - make_interval(mins => ${recentMinutes})
            AND NOT passed_over
          ORDER BY request_id DESC LIMIT ${recentMax}
        ) AS newest
      ) AS with_failures
      GROUP BY channel`),
  )
  return [...rows].map((row) => ({
    channel: String(row.channel),
    calls: Number(row.calls),
    failed: Number(row.failed),
    unanswered: Number(row.unanswered),
    lastError: typeof row.last_error === 'string' ? row.last_error : null,
    answeredSince: Number(row.answered_since),
    firstAnsweredAt: typeof row.first_answered_at === 'string' ? new Date(row.first_answered_at) : null,
  }))
}

/** postgres.js returns the rows, `pg` an object that contains them. */
function toRows(result: unknown): Record<string, unknown>[] {
  if (Array.isArray(result)) return result
  const rows: unknown = typeof result === 'object' && result !== null && 'rows' in result ? result.rows : []
  return Array.isArray(rows) ? rows : []
}
