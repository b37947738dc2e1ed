import type { Sql } from 'postgres'
import { causeOf } from '../canonical/error.ts'
import type { Database } from '../db/database.ts'
import { isLocked } from '../db/failures.ts'
import { repeatedly } from '../runtime/repeatedly.ts'
import type { Log } from '../telemetry/log.ts'

export interface RollupPlan {
  rollupFoldMs: number
  /** The number of days for which sums by hour are kept. */
  rollupHoursDays: number
}

/** The number of minutes for which sums by minute are kept. */
export const minutesKept = 48 * 60

/**
 * Folds the deltas into the sums every few seconds, counts the days from before the sums, and deletes expired
 * sums and expired records for tails. Any number of processes can run this; one works at a time. The timer
 * does not keep the process alive.
 */
export function keepRollups(
  { upkeep }: Pick<Database, 'upkeep'>,
  plan: RollupPlan,
  log: Log,
): { stop(): void } {
  const pass = async () => {
    const counted = await upkeep.ask(({ sql }) => rollUp(sql, plan))
    if (counted > 0) log.info({}, `sums: ${counted} earlier days of the usage log counted`)
  }
  return repeatedly(pass, {
    pauseMs: plan.rollupFoldMs,
    atOnce: true,
    unref: true,
    onFailure: (error) => {
      const cause = causeOf(error)
      log.info({}, `sums: cannot fold deltas: ${cause instanceof Error ? cause.message : String(cause)}`)
    },
  })
}

/**
 * Makes one pass. Does nothing while another process makes one or has just made one. Returns the number of
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
  for (const table of ['rollup_hours', 'rollup_hour_cuts']) {
    // The plan is made for any number of days. Without an ORDER BY, it assumes that old hours are found soon,
    // and reads the whole table if there are none.
    await sql`
      DELETE FROM ${sql(table)} WHERE ctid = ANY (ARRAY(
        SELECT h.ctid FROM ${sql(table)} h WHERE h.hour < now() - make_interval(days => ${plan.rollupHoursDays})
        ORDER BY h.hour LIMIT ${deletedMax}))`
  }
  return counted
}

/** Folds all deltas, in bounded steps. Each step is one transaction, so the process can die at any moment. */
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

/** Counts the waiting days, newest first. A day held up by another process is left for the next pass. */
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

/** The number of minutes for which rows recorded for tails can be found. */
const notesKept = 10
const foldedMax = 50_000
const deletedMax = 20_000
