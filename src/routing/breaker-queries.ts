import type { Database } from '../db/database.ts'
import { and, eq, sql } from '../db/drizzle.cjs'
import { breakerReports, channels, instances } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'

/** A breaker of one process that is open or half open. */
export interface OpenBreaker {
  channelId: string
  /** In a row. */
  openings: number
  /** The last failure. */
  reason: string
  /** Time since the first of these openings. */
  openForMs: number
  /** Time until it is half open; 0: it is. */
  leftMs: number
}

const reasonCharactersMax = 200

/** Replace what this process has reported. Rejects while Postgres is down. */
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
 * The channels whose breaker is open or half open in at least one live process. A process that has been
 * silent for a minute does not count.
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
      /** The most in a row that a process has counted. */
      openings: sql<number>`max(${openings})`,
      /** Of the process that tries the channel last. */
      reason: sql<string>`(array_agg(${reason} ORDER BY ${openUntil} DESC))[1]`,
      /** When the first of these processes opened it. */
      since: sql<Date>`min(${since})`.mapWith(since),
      /** When the last of these processes tries it again. */
      openUntil: sql<Date>`max(${openUntil})`.mapWith(openUntil),
    })
    .from(breakerReports)
    .innerJoin(channels, eq(channels.id, channelId))
    .innerJoin(instances, and(eq(instances.id, instanceId), isLive))
    .groupBy(channels.id)
    .orderBy(channels.id)
}

/** Where it is open, to follow `Its breaker is open`. One process alone needs no count. */
export function inProcesses(openIn: number, processes: number): string {
  return processes === 1 ? '' : ` in ${openIn} of ${processes} processes`
}

/** Close the breaker of a channel in all processes: each does so when it reads the new catalog. */
export async function resetBreaker(db: Queries, id: string): Promise<void> {
  await db
    .update(channels)
    .set({ breakerResets: sql`${channels.breakerResets} + 1` })
    .where(eq(channels.id, id))
  await db.delete(breakerReports).where(eq(breakerReports.channelId, id))
}
