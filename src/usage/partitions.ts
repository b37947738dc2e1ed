import type { Sql } from 'postgres'
import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { type EntryPass, keepEntryMonths } from '../db/entry-months.ts'
import { changePartitions, makePartitions } from '../db/make-partitions.ts'
import { keepEntryIndexes } from '../money/entry-indexes.ts'
import type { Clock } from '../runtime/clock.ts'
import { forgetInstances } from '../shipping/forget-instances.ts'
import { deleteHeldAnswers } from '../shipping/held-answer-queries.ts'
import { deleteExpiredConversations } from '../state/kept/conversation-queries.ts'
import { deleteExpiredAnswers } from '../state/kept/kept-queries.ts'
import type { Log } from '../telemetry/log.ts'
import { keepLogIndexes } from './log/indexes.ts'
import { pruneSubKeys } from './prune-sub-keys.ts'

/**
 * The retention of the usage log, in days (UTC). Payloads have their own, because they make up most of the
 * bytes.
 */
export interface PartitionPlan {
  partitionsAheadDays: number
  requestRetentionDays: number
  payloadRetentionDays: number
  /** The retention of captured answers. */
  answerRetentionDays: number
}

/**
 * Creates and drops daily partitions of the usage log and monthly ones of the entries, once at the start and
 * then every hour. Charges are pruned `entryRetentionMonths` after their month (0: never). A pass that failed
 * or left something undone is logged and repeated within a minute. Any number of processes can run this; one
 * works at a time. The timer does not keep the process alive.
 */
export function keepPartitions(
  { upkeep }: Pick<Database, 'upkeep'>,
  plan: PartitionPlan & { entryRetentionMonths: number },
  clock: Clock,
  log: Log,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let saidWithout = false
  const pass = async () => {
    let nextMs = hourMs
    try {
      const { made, dropped, postponed } = await upkeep.ask(({ sql }) => rollPartitions(sql, plan))
      if (made + dropped > 0) log.info({}, `usage log: ${made} daily partitions created, ${dropped} dropped`)
      if (postponed > 0) {
        log.info({}, `usage log: ${postponed} daily partitions wait for a long transaction to end`)
        nextMs = soonMs()
      }
      const entries = await upkeep.ask(({ sql }) => rollEntries(sql, plan.entryRetentionMonths))
      // The process that makes that pass may have to leave something undone, and end before its next one.
      if (entries === undefined) nextMs = soonMs()
      else {
        const { made, closed, pruned, postponed } = entries
        if (made + closed + pruned > 0)
          log.info({}, `entries: ${made} months created, ${closed} closed, ${pruned} pruned`)
        if (postponed > 0) {
          log.info({}, 'entries: monthly partitions wait for a long transaction to end')
          nextMs = soonMs()
        }
      }
      // The record of who holds an answer is needed for as long as the body of the request.
      await upkeep.ask(({ db }) => deleteHeldAnswers(db, plan.payloadRetentionDays, sweepsApartMs))
      const expired = await upkeep.ask(({ sql }) => deleteExpiredAnswers(sql, sweepsApartMs))
      if (expired > 0) log.info({}, `kept answers: ${expired} expired ones deleted`)
      const ended = await upkeep.ask(({ sql }) => deleteExpiredConversations(sql, sweepsApartMs))
      if (ended > 0) log.info({}, `conversations: ${ended} expired ones deleted`)
      await upkeep.ask(
        ({ sql }) =>
          sql`SELECT forget_budget_periods() WHERE claim_sweep('budget_periods', ${sweepsApartMs}::integer)`,
      )
      await upkeep.ask(({ sql }) => forgetInstances(sql, plan.requestRetentionDays, sweepsApartMs))
      const byHand = await upkeep.ask(({ sql }) => keepEntryIndexes(sql, clock))
      if (byHand.built > 0) log.info({}, `entries: ${byHand.built} indexes of manual entries built`)
      const pruned = await upkeep.ask(({ sql }) =>
        pruneSubKeys(sql, plan.requestRetentionDays, sweepsApartMs),
      )
      if (pruned > 0) log.info({}, `keys: ${pruned} long-revoked sub-keys deleted`)
      const indexes = await upkeep.ask(({ sql }) => keepLogIndexes(sql, clock))
      if (indexes.built > 0) log.info({}, `usage log: ${indexes.built} indexes of closed days built`)
      if (indexes.without !== undefined && !saidWithout) {
        saidWithout = true
        log.info({}, `usage log: error texts have no index and are searched in slices: ${indexes.without}`)
      }
      if (byHand.left + indexes.left > 0) nextMs = soonMs()
    } catch (error) {
      if (stopped) return
      const cause = causeOf(error)
      log.info(
        {},
        `usage log: cannot roll partitions: ${cause instanceof Error ? cause.message : String(cause)}`,
      )
      nextMs = soonMs()
    }
    if (stopped) return
    timer = setTimeout(pass, nextMs)
    timer.unref()
  }
  void pass()
  return {
    stop() {
      stopped = true
      clearTimeout(timer)
    },
  }
}

/** The result of a pass. `postponed` counts partitions of tables that a long transaction has locked. */
export interface PartitionPass {
  made: number
  dropped: number
  postponed: number
}

/**
 * Makes one pass: creates the partitions of the days ahead and of rows without one, and drops the partitions
 * past their retention. Does nothing while another process makes a pass. Never waits long for a lock, because
 * all writers would wait behind it.
 */
export async function rollPartitions(sql: Sql, plan: PartitionPlan): Promise<PartitionPass> {
  const made = await makePartitions(sql, plan.partitionsAheadDays)
  const { requestRetentionDays, payloadRetentionDays, answerRetentionDays } = plan
  const expired = await sql<{ parent: string; child: string }[]>`
    SELECT t.parent, e.child
    FROM (VALUES ('requests', ${requestRetentionDays}::integer), ('request_tags', ${requestRetentionDays}),
      ('attempts', ${requestRetentionDays}), ('request_payloads', ${payloadRetentionDays}),
      ('request_answers', ${answerRetentionDays})) AS t (parent, keep_days)
    CROSS JOIN LATERAL expired_partitions(t.parent, t.keep_days) AS e (child)`
  const dropped = await changePartitions(
    expired.map(({ parent, child }) => ({
      parent,
      make: () => sql<{ done: boolean }[]>`SELECT drop_partition(${child}) AS done`,
    })),
  )
  return { made: made.done, dropped: dropped.done, postponed: made.postponed + dropped.postponed }
}

/** Undefined if another process is making a pass or has just made one. */
async function rollEntries(sql: Sql, retentionMonths: number): Promise<EntryPass | undefined> {
  const [claim] = await sql<{ mine: boolean }[]>`SELECT claim_sweep('entries', ${apartMs}::integer) AS mine`
  return claim?.mine === true ? await keepEntryMonths(sql, retentionMonths) : undefined
}

/** Random, so that processes do not all run at once or always coincide with another's transactions. */
function soonMs(): number {
  return minuteMs * (0.5 + Math.random() / 2)
}

/** The minimum pause before a pass that left something undone is repeated. */
const apartMs = 20_000
const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** Less than the time between two passes, so that a single process deletes in every pass. */
const sweepsApartMs = hourMs / 2
