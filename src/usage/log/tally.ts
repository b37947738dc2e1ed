import { OlderDaysError } from './older-days.ts'
import type { LogBatch, Walk } from './walk.ts'

export interface Tallied {
  /** Whether all matching requests have been counted. */
  done: boolean
  /** The requests from this time on have been counted. */
  searchedTo: Date
}

/**
 * Adds up a walk, newest first, for at most `withinMs`. If older days cannot be read, it ends before them.
 */
export async function tally<Row>(
  walk: Pick<Walk, 'clock' | 'from'>,
  withinMs: number,
  batchesUntil: (endAt: number) => AsyncIterable<LogBatch<Row>>,
  add: (row: Row) => void,
): Promise<Tallied> {
  const endAt = walk.clock.elapsed() + withinMs
  const reached: Tallied = { done: true, searchedTo: walk.from }
  let isFirst = true
  try {
    for await (const { rows, searchedTo, done } of batchesUntil(endAt)) {
      for (const row of rows) add(row)
      isFirst = false
      reached.done = done
      reached.searchedTo = searchedTo
      if (walk.clock.elapsed() > endAt) break
    }
  } catch (error) {
    if (!(error instanceof OlderDaysError) || isFirst) throw error
    reached.done = false
  }
  return reached
}
