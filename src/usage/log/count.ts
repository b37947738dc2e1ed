import { type Tallied, tally } from './tally.ts'
import { type AskLog, type Walk, walkCounts } from './walk.ts'

export interface LogCounts extends Tallied {
  /** Buckets with at least one request, ordered by time. */
  buckets: { startsAt: Date; outcomes: Record<string, number> }[]
  requests: number
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
  const buckets = new Map<number, Record<string, number>>()
  let requests = 0
  const reached = await tally(
    walk,
    withinMs,
    (endAt) => walkCounts(ask, { ...walk, endAt }, bucketMs),
    (row) => {
      const startsMs = row.starts_at.getTime()
      const outcomes = buckets.get(startsMs) ?? {}
      // A slice can end within a bucket.
      outcomes[row.outcome] = (outcomes[row.outcome] ?? 0) + Number(row.requests)
      buckets.set(startsMs, outcomes)
      requests += Number(row.requests)
    },
  )
  const sorted = [...buckets].sort(([a], [b]) => a - b)
  return {
    ...reached,
    requests,
    buckets: sorted.map(([ms, outcomes]) => ({ startsAt: new Date(ms), outcomes })),
  }
}
