import { OlderDaysError } from './older-days.ts'
import { type AskLog, type Walk, walkCounts } from './walk.ts'

export interface LogCounts {
  /** Buckets with at least one request, ordered by time. */
  buckets: { startsAt: Date; outcomes: Record<string, number> }[]
  requests: number
  /** Whether all matching requests have been counted. */
  done: boolean
  /** The requests from this time on have been counted. */
  searchedTo: Date
}

/**
 * Counts the matching requests by time and outcome, newest first, for at most `withinMs`. If older days
 * cannot be read, the counts end before them.
 */
export async function countRequests(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax' | 'order' | 'endAt'>,
  { bucketMs, withinMs }: { bucketMs: number; withinMs: number },
): Promise<LogCounts> {
  const endAt = walk.clock.elapsed() + withinMs
  const buckets = new Map<number, Record<string, number>>()
  const counts = { requests: 0, done: true, searchedTo: walk.from }
  let isFirst = true
  try {
    for await (const { rows, searchedTo, done } of walkCounts(ask, { ...walk, endAt }, bucketMs)) {
      for (const { starts_at, outcome, requests } of rows) {
        const startsMs = starts_at.getTime()
        const outcomes = buckets.get(startsMs) ?? {}
        // A slice can end within a bucket.
        outcomes[outcome] = (outcomes[outcome] ?? 0) + Number(requests)
        buckets.set(startsMs, outcomes)
        counts.requests += Number(requests)
      }
      isFirst = false
      counts.done = done
      counts.searchedTo = searchedTo
      if (walk.clock.elapsed() > endAt) break
    }
  } catch (error) {
    if (!(error instanceof OlderDaysError) || isFirst) throw error
    counts.done = false
  }
  const sorted = [...buckets].sort(([a], [b]) => a - b)
  return { ...counts, buckets: sorted.map(([ms, outcomes]) => ({ startsAt: new Date(ms), outcomes })) }
}
