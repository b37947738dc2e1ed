import type { Clock } from '../../runtime/clock.ts'
import { idAfter } from './next-id.ts'
import { OlderDaysError } from './older-days.ts'
import type { LogRow } from './row-tests.ts'
import type { Order } from './slice.ts'
import type { LogBatch } from './walk.ts'

export interface FirstRows {
  rows: LogRow[]
  /** Where the rest begins; null if there is no more. */
  cursor: string | null
  /** All matching rows up to here are among `rows`. Undefined if there was nothing to search. */
  searchedTo: Date | undefined
}

/**
 * The first rows of a walk: at most `most`, and only those found within `withinMs`. At least one slice is
 * searched. If older days cannot be read, the result ends before them, and the next page reports the reason.
 */
export async function firstRows(
  batches: AsyncIterable<LogBatch<LogRow>>,
  { clock, most, withinMs, order }: { clock: Clock; most: number; withinMs: number; order: Order },
): Promise<FirstRows> {
  const endAt = clock.elapsed() + withinMs
  const found: FirstRows = { rows: [], cursor: null, searchedTo: undefined }
  try {
    for await (const { rows, cursor, searchedTo, done } of batches) {
      const kept = rows.slice(0, most - found.rows.length)
      found.rows.push(...kept)
      const last = kept.length < rows.length ? kept.at(-1) : undefined
      if (last !== undefined)
        return {
          ...found,
          cursor: order === 'newest' ? last.id : idAfter(last.id),
          searchedTo: last.created_at,
        }
      found.searchedTo = searchedTo
      found.cursor = done ? null : cursor
      if (found.rows.length === most || clock.elapsed() > endAt) break
    }
  } catch (error) {
    if (!(error instanceof OlderDaysError) || found.searchedTo === undefined) throw error
  }
  return found
}
