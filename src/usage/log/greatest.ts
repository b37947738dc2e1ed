import { OlderDaysError } from './older-days.ts'
import type { LogFilter, LogRow } from './row-tests.ts'
import type { Measure } from './slice.ts'
import { type AskLog, type Walk, walkGreatest } from './walk.ts'

export interface GreatestRows {
  /** Greatest first; of equal rows, the newer one first. */
  rows: LogRow[]
  /** True if no matching row of the whole time range is greater. */
  done: boolean
  /** These are the greatest rows since this time. */
  searchedTo: Date
}

/**
 * The matching rows with the highest values of a measure, found within `withinMs`. The search starts with the
 * newest rows and covers at least one slice. Rows without a value are left out. If older days cannot be read,
 * the search ends before them.
 */
export async function greatestRows(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax' | 'order' | 'cursor' | 'endAt'>,
  { measure, most, withinMs }: { measure: Measure; most: number; withinMs: number },
): Promise<GreatestRows> {
  const endAt = walk.clock.elapsed() + withinMs
  const found: GreatestRows = { rows: [], done: true, searchedTo: walk.from }
  const bound = (filter: LogFilter): LogFilter => {
    const least = found.rows.length < most ? undefined : found.rows.at(-1)
    if (least === undefined) return filter
    const ranges = [{ least: BigInt(least[measure] ?? 0), most: undefined }]
    return { conditions: [...filter.conditions, { not: false, test: 'between', column: measure, ranges }] }
  }
  let isFirst = true
  try {
    for await (const batch of walkGreatest(ask, { ...walk, endAt }, { measure, most, bound })) {
      // A day that is archived in the meantime is found twice.
      const each = new Map([...found.rows, ...batch.rows].map((row) => [row.id, row])).values()
      found.rows = [...each].sort((one, other) => compare(one, other, measure)).slice(0, most)
      found.done = batch.done
      found.searchedTo = batch.searchedTo
      isFirst = false
      if (walk.clock.elapsed() > endAt) break
    }
  } catch (error) {
    if (!(error instanceof OlderDaysError) || isFirst) throw error
    found.done = false
  }
  return found
}

function compare(one: LogRow, other: LogRow, measure: Measure): number {
  const [first, second] = [BigInt(one[measure] ?? 0), BigInt(other[measure] ?? 0)]
  if (first !== second) return first > second ? -1 : 1
  return one.id > other.id ? -1 : 1
}
