import type { Sql } from 'postgres'
import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import { deleteHeldAnswers } from './held-answer-queries.ts'

/** How long the usage log is kept, in days (UTC). Payloads have a retention of their own: they are most of the bytes. */
export interface PartitionPlan {
  partitionsAheadDays: number
  requestRetentionDays: number
  payloadRetentionDays: number
}

/**
 * Keep the daily partitions of the usage log: now, then hourly. A pass that fails is logged and repeated after a minute.
 * Every process may run it; one works at a time. The timer keeps no process alive.
 */
export function keepPartitions(
  { upkeep }: Pick<Database, 'upkeep'>,
  plan: PartitionPlan,
  log: Log,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const pass = async () => {
    let nextMs = hourMs
    try {
      const { made, dropped } = await upkeep.ask(({ sql }) => rollPartitions(sql, plan))
      if (made + dropped > 0) log.info({}, `usage log: ${made} daily partitions made, ${dropped} dropped`)
      // Where an answer is held is of no use for longer than its request's body is kept.
      await upkeep.ask(({ db }) => deleteHeldAnswers(db, plan.payloadRetentionDays))
      await upkeep.ask(({ sql }) => sql`SELECT forget_budget_periods()`)
    } catch (error) {
      if (stopped) return
      const cause = causeOf(error)
      log.info(
        {},
        `usage log: cannot roll partitions: ${cause instanceof Error ? cause.message : String(cause)}`,
      )
      nextMs = minuteMs
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

/**
 * One pass: make the partitions of the days ahead and of rows that have none, and drop those past retention. Both
 * counts are 0 while another process is at it. Throws rather than wait long for a lock: all writers would queue up
 * behind it.
 */
export async function rollPartitions(
  sql: Sql,
  plan: PartitionPlan,
): Promise<{ made: number; dropped: number }> {
  const [counts] = await sql<{ made: number; dropped: number }[]>`
    SELECT made, dropped
    FROM roll_partitions(${plan.partitionsAheadDays}, ${plan.requestRetentionDays}, ${plan.payloadRetentionDays})`
  return counts ?? { made: 0, dropped: 0 }
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
