import type { TypedQueries } from '../db/connections.ts'
import { and, asc, desc, eq, gt, gte, inArray, isNotNull, isNull, lt, lte, sql } from '../db/drizzle.cjs'
import { alertEpisodes, alertMessages, alertRules } from '../db/schema.ts'
import type { Queries } from '../db/transactions.ts'
import type { MessageKey } from './transition.ts'

export type EpisodeRow = typeof alertEpisodes.$inferSelect
export type MessageRow = typeof alertMessages.$inferSelect

export interface EpisodeFilter {
  id?: string | undefined
  tenantId?: string | undefined
  ruleId?: string | undefined
  kind?: string | undefined
  open?: boolean | undefined
  acknowledged?: boolean | undefined
  /** The earliest time of the opening, inclusive. */
  from?: Date | undefined
  /** The latest time of the opening, exclusive. */
  to?: Date | undefined
  /** The id of the last row on the previous page. */
  after: string | undefined
  descending: boolean
  limit: number
}

/** Ordered by id, which is the order in which the episodes were opened. */
export function listEpisodes(db: Queries, filter: EpisodeFilter): Promise<EpisodeRow[]> {
  const { id, tenantId, ruleId, kind, open, acknowledged, from, to, after, descending, limit } = filter
  const is = (wanted: boolean | undefined, yes: typeof isNull, no: typeof isNull) =>
    wanted === undefined ? undefined : wanted ? yes : no
  return db
    .select()
    .from(alertEpisodes)
    .where(
      and(
        id === undefined ? undefined : eq(alertEpisodes.id, id),
        tenantId === undefined ? undefined : eq(alertEpisodes.tenantId, tenantId),
        ruleId === undefined ? undefined : eq(alertEpisodes.ruleId, ruleId),
        kind === undefined ? undefined : eq(alertEpisodes.kind, kind),
        is(open, isNull, isNotNull)?.(alertEpisodes.closedAt),
        is(acknowledged, isNotNull, isNull)?.(alertEpisodes.acknowledgedAt),
        from === undefined ? undefined : gte(alertEpisodes.openedAt, from),
        to === undefined ? undefined : lt(alertEpisodes.openedAt, to),
        after === undefined ? undefined : (descending ? lt : gt)(alertEpisodes.id, after),
      ),
    )
    .orderBy((descending ? desc : asc)(alertEpisodes.id))
    .limit(limit)
}

export async function episodeMessages(db: Queries, episodeIds: readonly string[]): Promise<MessageRow[]> {
  if (episodeIds.length === 0) return []
  return await db
    .select()
    .from(alertMessages)
    .where(inArray(alertMessages.episodeId, [...episodeIds]))
}

/** The row is locked for a change. */
export async function findEpisode(tx: Queries, id: string): Promise<EpisodeRow | undefined> {
  const [row] = await tx.select().from(alertEpisodes).where(eq(alertEpisodes.id, id)).for('update')
  return row
}

export async function acknowledge(tx: Queries, id: string, by: string): Promise<Date> {
  const at = new Date()
  await tx
    .update(alertEpisodes)
    .set({ acknowledgedAt: at, acknowledgedBy: by })
    .where(eq(alertEpisodes.id, id))
  return at
}

const isPending = sql`${alertMessages.state} = 'pending'`
const isDue = lte(alertMessages.dueAt, sql`now()`)

/** Returns the messages that are due, oldest first; at most 1000. */
export async function listDueMessages(db: TypedQueries): Promise<MessageKey[]> {
  return await db
    .select({ episodeId: alertMessages.episodeId, event: alertMessages.event })
    .from(alertMessages)
    .where(and(isPending, isDue))
    .orderBy(asc(alertMessages.dueAt))
    .limit(1000)
}

export interface DueMessage {
  message: MessageRow
  episode: EpisodeRow
  /** Null if the rule no longer has a webhook. */
  webhookSealed: Buffer | null
  webhookFormat: string | null
}

/**
 * Returns the message if it is due. The message about the end of an episode waits while the one about its
 * opening is pending.
 */
export async function readDueMessage(
  db: TypedQueries,
  { episodeId, event }: MessageKey,
): Promise<DueMessage | undefined> {
  const [row] = await db
    .select({
      message: alertMessages,
      episode: alertEpisodes,
      webhookSealed: alertRules.webhookSealed,
      webhookFormat: alertRules.webhookFormat,
    })
    .from(alertMessages)
    .innerJoin(alertEpisodes, eq(alertEpisodes.id, alertMessages.episodeId))
    .leftJoin(alertRules, eq(alertRules.id, alertMessages.ruleId))
    .where(
      and(
        eq(alertMessages.episodeId, episodeId),
        eq(alertMessages.event, event),
        isPending,
        isDue,
        sql`(${alertMessages.event} = 'opened' OR NOT EXISTS (SELECT 1 FROM alert_messages o
          WHERE o.episode_id = ${alertMessages.episodeId} AND o.event = 'opened' AND o.state = 'pending'))`,
      ),
    )
  return row
}

/** Records one delivery. `againMs` is the time until the next one. */
export async function noteDelivery(
  db: TypedQueries,
  { episodeId, event }: MessageKey,
  { state, problem, againMs }: { state: MessageRow['state']; problem: string | null; againMs: number },
): Promise<void> {
  await db
    .update(alertMessages)
    .set({
      state,
      problem,
      tries: sql`${alertMessages.tries} + 1`,
      dueAt: sql`now() + ${againMs}::integer * interval '1 ms'`,
    })
    .where(and(eq(alertMessages.episodeId, episodeId), eq(alertMessages.event, event), isPending))
}

/** Deletes expired rows, a limited number at a time. */
export async function deleteOldAlerts(db: TypedQueries, episodeDays: number): Promise<void> {
  await db.execute(sql`
    DELETE FROM alert_episodes WHERE id = ANY (ARRAY(
      SELECT e.id FROM alert_episodes e WHERE e.closed_at < now() - make_interval(days => ${episodeDays}::integer) LIMIT 10000))`)
  await db.execute(
    sql`DELETE FROM alert_rules r WHERE r.deleted_at < now() - interval '7 days'
      AND NOT EXISTS (SELECT 1 FROM alert_messages m WHERE m.rule_id = r.id AND m.state = 'pending')`,
  )
  await db.execute(sql`
    DELETE FROM key_networks WHERE ctid = ANY (ARRAY(
      SELECT n.ctid FROM key_networks n WHERE n.last_request_at < now() - interval '90 days' LIMIT 10000))`)
  await db.execute(sql`DELETE FROM key_uses u WHERE NOT EXISTS (SELECT 1 FROM keys k WHERE k.id = u.key_id)`)
  await db.execute(sql`DELETE FROM ledger_reports WHERE reported_at < now() - interval '1 day'`)
}
