import type { Sql } from 'postgres'
import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import { deleteHeldAnswers } from './held-answer-queries.ts'

/** The retention of the usage log, in days (UTC). Payloads have their own, because they are most of the bytes. */
export interface PartitionPlan {
  partitionsAheadDays: number
  requestRetentionDays: number
  payloadRetentionDays: number
}

/**
 * Make and drop daily partitions of the usage log, now and then every hour. A failed pass is logged, and repeated after a
 * minute. Any number of processes may run it: one works at a time. The timer keeps no process alive.
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
      // The holder of an answer is needed for as long as the body of its request.
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
 * One pass: make the partitions of the days ahead and of rows without one, and drop the partitions past retention. Both
 * counts are 0 while another process makes a pass. Throws when it does not get a lock soon: all writers would wait behind
 * it.
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
