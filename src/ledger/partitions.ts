import type { Database } from '../db/database.ts'
import type { Log } from '../telemetry/log.ts'
import { forgetBudgetPeriods } from './budgets.ts'

/** How far the usage log reaches, in days (UTC). Payloads have a retention of their own: they are most of the bytes. */
export interface PartitionPlan {
  partitionsAheadDays: number
  requestRetentionDays: number
  payloadRetentionDays: number
}

/**
 * Keep the daily partitions of the usage log: now, then hourly, or a minute after a pass that failed, which is logged.
 * Every process may run it; one works at a time. The timer keeps no process alive.
 */
export function keepPartitions(
  database: Pick<Database, 'sql'>,
  plan: PartitionPlan,
  log: Log,
): { stop(): void } {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const pass = async () => {
    let nextMs = hourMs
    try {
      const { made, dropped } = await rollPartitions(database.sql, plan)
      if (made + dropped > 0) log.info({}, `usage log: ${made} daily partitions made, ${dropped} dropped`)
      await forgetHeldAnswers(database.sql, plan.payloadRetentionDays)
      await forgetBudgetPeriods(database.sql)
    } catch (error) {
      if (stopped) return
      log.info(
        {},
        `usage log: cannot roll partitions: ${error instanceof Error ? error.message : String(error)}`,
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
 * One pass: make partitions ahead and those of rows that had none, drop those past retention. Both counts are 0 when
 * another process is at it. Throws rather than wait long for a lock: everything that writes would queue up behind it.
 */
export async function rollPartitions(
  sql: Database['sql'],
  plan: PartitionPlan,
): Promise<{ made: number; dropped: number }> {
  const [counts] = await sql<{ made: number; dropped: number }[]>`
    SELECT made, dropped
    FROM roll_partitions(${plan.partitionsAheadDays}, ${plan.requestRetentionDays}, ${plan.payloadRetentionDays})`
  return counts ?? { made: 0, dropped: 0 }
}

/** Where an answer is held is of no use for longer than its request's body is kept. */
async function forgetHeldAnswers(sql: Database['sql'], days: number): Promise<void> {
  await sql`DELETE FROM held_answers WHERE created_at < now() - make_interval(days => ${days})`
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
