import type { Sql } from 'postgres'
import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { isLocked } from '../db/failures.ts'
import { repeatedly } from '../runtime/repeatedly.ts'
import type { Log } from '../telemetry/log.ts'

export interface RollupPlan {
  rollupFoldMs: number
  /** Days for which sums by hour are kept. */
  rollupHoursDays: number
}

/** How many minutes sums by minute are kept. */
export const minutesKept = 48 * 60

/**
 * Fold the deltas of the sums every few seconds, count the days that were there before the sums, and delete
 * sums and notes for tails past their time. Any number of processes may run it: one works at a time. The
 * timer keeps no process alive.
 */
export function keepRollups(
  { upkeep }: Pick<Database, 'upkeep'>,
  plan: RollupPlan,
  log: Log,
): { stop(): void } {
  const pass = async () => {
    const counted = await upkeep.ask(({ sql }) => rollUp(sql, plan))
    if (counted > 0) log.info({}, `sums: ${counted} days of the usage log counted that were there before`)
  }
  return repeatedly(pass, {
    pauseMs: plan.rollupFoldMs,
    atOnce: true,
    unref: true,
    onFailure: (error) => {
      const cause = causeOf(error)
      log.info({}, `sums: cannot fold them: ${cause instanceof Error ? cause.message : String(cause)}`)
    },
  })
}

/**
 * One pass. Does nothing while another process makes one, or has made one a moment ago. Returns the number of
 * days counted.
 */
export async function rollUp(sql: Sql, plan: RollupPlan): Promise<number> {
  const apartMs = Math.floor(plan.rollupFoldMs / 2)
  const [claim] = await sql<{ mine: boolean }[]>`SELECT claim_sweep('rollups', ${apartMs}::integer) AS mine`
  if (claim?.mine !== true) return 0
  await foldRollups(sql, plan)
  const counted = await countBackfill(sql, plan)
  await sql`DELETE FROM noted_requests WHERE written_at < now() - make_interval(mins => ${notesKept})`
  await sql`DELETE FROM rollup_minutes WHERE minute < now() - make_interval(mins => ${minutesKept})`
  // The plan is made for any number of days. Without an order it expects to find old hours soon, and reads
  // the whole table where there are none.
  await sql`
    DELETE FROM rollup_hours WHERE ctid = ANY (ARRAY(
      SELECT h.ctid FROM rollup_hours h WHERE h.hour < now() - make_interval(days => ${plan.rollupHoursDays})
      ORDER BY h.hour LIMIT ${deletedMax}))`
  return counted
}

/** Fold all deltas, in bounded steps. Each step is a transaction, so that a process may die at any moment. */
export async function foldRollups(
  sql: Sql,
  { rollupHoursDays }: Pick<RollupPlan, 'rollupHoursDays'>,
): Promise<void> {
  for (;;) {
    const [step] = await sql<{ taken: number | null }[]>`
      SELECT fold_rollups(${foldedMax}::integer, ${rollupHoursDays * 24}::integer, ${minutesKept}::integer) AS taken`
    if ((step?.taken ?? 0) < foldedMax) return
  }
}

/**
 * Count the days that wait, the newest first. A day that another process holds up for long waits for the next
 * pass.
 */
export async function countBackfill(sql: Sql, plan: Pick<RollupPlan, 'rollupHoursDays'>): Promise<number> {
  let counted = 0
  for (const { day } of await sql<
    { day: string }[]
  >`SELECT day::text FROM rollup_backfill ORDER BY day DESC`) {
    try {
      const [done] = await sql<{ ok: boolean }[]>`SELECT count_backfill_day(${day}::text::date) AS ok`
      if (done?.ok === true) counted++
    } catch (error) {
      if (!isLocked(error)) throw error
    }
    await foldRollups(sql, plan)
  }
  return counted
}

/** Minutes for which tails find rows that were noted for them. */
const notesKept = 10
const foldedMax = 50_000
const deletedMax = 20_000
