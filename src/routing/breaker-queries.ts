import type { Database } from '../db/database.ts'
import { and, eq, sql } from '../db/drizzle.cjs'
import { breakerReports, channels, instances } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

/** What is wrong with a channel in one process: the worst, which is the first of these kinds. */
export interface ChannelReport {
  channelId: string
  kind: 'breaker' | 'refused' | 'silent'
  /** The number of consecutive openings of the breaker; 0 if it is closed. */
  openings: number
  /** The last failure; empty for a silent channel. */
  reason: string
  /** How long this has lasted. For a breaker: since the first of its consecutive openings. */
  lastsMs: number
  /** The time until the breaker is half open; 0 if it already is, or is closed. */
  leftMs: number
  /** Of a silent channel: the calls that wait for an answer, and how long the first of them has waited. */
  waiting?: number
  oldestMs?: number | undefined
}

const reasonCharactersMax = 200

/** Replaces the report of this process. Rejects while Postgres is down. */
export async function reportBreakers(
  { state }: Pick<Database, 'state'>,
  instanceId: string,
  reports: readonly ChannelReport[],
): Promise<void> {
  const rows = reports.map(({ reason, ...report }) => ({
    ...report,
    reason: reason.slice(0, reasonCharactersMax).replaceAll('\0', '').toWellFormed(),
  }))
  await state.ask(
    ({ sql }) => sql`
      WITH report AS (
        SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
          AS r ("channelId" uuid, kind text, openings integer, reason text, "lastsMs" float8, "leftMs" float8,
            waiting integer, "oldestMs" float8)
      ), closed AS (
        DELETE FROM breaker_reports
        WHERE instance_id = ${instanceId}::uuid AND channel_id NOT IN (SELECT "channelId" FROM report)
      )
      INSERT INTO breaker_reports
        (channel_id, instance_id, kind, openings, reason, since, open_until, waiting, oldest_at)
      SELECT "channelId", ${instanceId}::uuid, kind, openings, reason, now() - "lastsMs" * interval '1 ms',
        now() + "leftMs" * interval '1 ms', coalesce(waiting, 0), now() - "oldestMs" * interval '1 ms'
      FROM report
      ON CONFLICT (channel_id, instance_id) DO UPDATE SET kind = excluded.kind, openings = excluded.openings,
        reason = excluded.reason, since = excluded.since, open_until = excluded.open_until,
        waiting = excluded.waiting, oldest_at = excluded.oldest_at`,
  )
}

/**
 * Returns what is wrong with channels in at least one live process, by channel and kind. A process that has
 * been silent for a minute does not count.
 */
export function readChannelReports(db: Queries) {
  const { channelId, instanceId, kind, openings, reason, since, openUntil, waiting, oldestAt } =
    breakerReports
  const isLive = sql`${instances.state} = 'live' AND ${instances.heartbeatAt} > now() - interval '1 minute'`
  return db
    .select({
      channelId: channels.id,
      channel: channels.name,
      kind,
      /** The number of processes that say so. */
      openIn: sql<number>`count(*)::int`,
      processes: sql<number>`(SELECT count(*)::int FROM ${instances} WHERE ${isLive})`,
      /** The highest number of consecutive openings in any process. */
      openings: sql<number>`max(${openings})`,
      /** The reason from the process that retries the channel last. */
      reason: sql<string>`(array_agg(${reason} ORDER BY ${openUntil} DESC))[1]`,
      /** Since when the first of these processes says so. */
      since: sql<Date>`min(${since})`.mapWith(since),
      /** When the last of these processes retries it. */
      openUntil: sql<Date>`max(${openUntil})`.mapWith(openUntil),
      waiting: sql<number>`sum(${waiting})::int`,
      oldestAt: sql<Date | null>`min(${oldestAt})`.mapWith(oldestAt),
    })
    .from(breakerReports)
    .innerJoin(channels, eq(channels.id, channelId))
    .innerJoin(instances, and(eq(instances.id, instanceId), isLive))
    .groupBy(channels.id, kind)
    .orderBy(channels.id)
}

/** The text to append to `Its breaker is open`. With a single process no count is needed. */
export function inProcesses(openIn: number, processes: number): string {
  return processes === 1 ? '' : ` in ${openIn} of ${processes} processes`
}

/** Closes the breaker of a channel in all processes. Each closes it when it reads the new catalog. */
export async function resetBreaker(db: Queries, id: string): Promise<void> {
  await db
    .update(channels)
    .set({ breakerResets: sql`${channels.breakerResets} + 1` })
    .where(eq(channels.id, id))
  await db.delete(breakerReports).where(eq(breakerReports.channelId, id))
}
