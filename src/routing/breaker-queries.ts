import type { Database } from '../db/database.ts'
import { and, eq, sql } from '../db/drizzle.cjs'
import { breakerReports, channels, instances } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

/** The breaker of a channel that is open or half open in one process. */
export interface OpenBreaker {
  channelId: string
  /** The number of consecutive openings. */
  openings: number
  /** The last failure. */
  reason: string
  /** The time since the first of these openings. */
  openForMs: number
  /** The time until it is half open; 0 if it already is. */
  leftMs: number
}

const reasonCharactersMax = 200

/** Replaces the report of this process. Rejects while Postgres is down. */
export async function reportBreakers(
  { state }: Pick<Database, 'state'>,
  instanceId: string,
  open: readonly OpenBreaker[],
): Promise<void> {
  const rows = open.map(({ reason, ...breaker }) => ({
    ...breaker,
    reason: reason.slice(0, reasonCharactersMax).replaceAll('\0', '').toWellFormed(),
  }))
  await state.ask(
    ({ sql }) => sql`
      WITH report AS (
        SELECT * FROM jsonb_to_recordset(${JSON.stringify(rows)}::text::jsonb)
          AS r ("channelId" uuid, openings integer, reason text, "openForMs" float8, "leftMs" float8)
      ), closed AS (
        DELETE FROM breaker_reports
        WHERE instance_id = ${instanceId}::uuid AND channel_id NOT IN (SELECT "channelId" FROM report)
      )
      INSERT INTO breaker_reports (channel_id, instance_id, openings, reason, since, open_until)
      SELECT "channelId", ${instanceId}::uuid, openings, reason, now() - "openForMs" * interval '1 ms', now() + "leftMs" * interval '1 ms'
      FROM report
      ON CONFLICT (channel_id, instance_id) DO UPDATE SET openings = excluded.openings, reason = excluded.reason,
        since = excluded.since, open_until = excluded.open_until`,
  )
}

/**
 * Returns the channels whose breaker is open or half open in at least one live process. A process that has
 * been silent for a minute does not count.
 */
export function readBreakers(db: Queries) {
  const { channelId, instanceId, openings, reason, since, openUntil } = breakerReports
  const isLive = sql`${instances.state} = 'live' AND ${instances.heartbeatAt} > now() - interval '1 minute'`
  return db
    .select({
      channelId: channels.id,
      channel: channels.name,
      openIn: sql<number>`count(*)::int`,
      processes: sql<number>`(SELECT count(*)::int FROM ${instances} WHERE ${isLive})`,
      /** The highest number of consecutive openings in any process. */
      openings: sql<number>`max(${openings})`,
      /** The reason from the process that retries the channel last. */
      reason: sql<string>`(array_agg(${reason} ORDER BY ${openUntil} DESC))[1]`,
      /** When the first of these processes opened it. */
      since: sql<Date>`min(${since})`.mapWith(since),
      /** When the last of these processes retries it. */
      openUntil: sql<Date>`max(${openUntil})`.mapWith(openUntil),
    })
    .from(breakerReports)
    .innerJoin(channels, eq(channels.id, channelId))
    .innerJoin(instances, and(eq(instances.id, instanceId), isLive))
    .groupBy(channels.id)
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
