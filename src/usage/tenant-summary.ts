import type postgres from 'postgres'
import type { Cancellable } from '../db/pool.ts'
import { addSummaries } from './archive/summaries.ts'
import type { SummaryRow } from './queries.ts'
import { type SummaryGroup, SummaryRangeError, type SummaryTimes, summarise } from './rollup-queries.ts'
import { hourMs, type TimeRange } from './summary-range.ts'

/**
 * The totals of a tenant by day and model, newest day first, from the stored sums, with the period that they
 * are of: it is whole hours if its ends have too many rows. Undefined if the sums cannot answer, because they
 * are not kept for a part of an hour that long, or days are not counted yet. Models that do not exist count
 * as null.
 */
export async function tenantSummary(
  sql: postgres.Sql,
  tenantId: string,
  { from, to }: TimeRange,
  times: SummaryTimes,
  running?: Cancellable,
): Promise<(TimeRange & { rows: SummaryRow[] }) | undefined> {
  try {
    const found = await summarise(
      sql,
      {
        from,
        // There is nothing after now, and whole hours are cheaper.
        to: to < times.nowMs ? to : Math.ceil((to + 1) / hourMs) * hourMs,
        ...{ parts: ['model'], step: 'day', filter: { tenant: tenantId } },
        ...{ sort: 'at', descending: true, limit: groupsMax, skip: 0 },
      },
      times,
      running,
    )
    if (found.waitingDays > 0) return undefined
    return {
      from: found.from,
      to: Math.min(found.to, Math.max(to, times.nowMs)),
      rows: addSummaries(found.groups.map(rowOf)),
    }
  } catch (error) {
    if (error instanceof SummaryRangeError) return undefined
    throw error
  }
}

/** More than any period can have. */
const groupsMax = 10_000_000

function rowOf({ at, model, ...sums }: SummaryGroup): SummaryRow {
  return {
    day: (at ?? new Date(0)).toISOString().slice(0, 10),
    model,
    requests: sums.requests,
    succeeded: sums.succeeded,
    failed: String(BigInt(sums.requests) - BigInt(sums.succeeded)),
    input_tokens: sums.input_tokens,
    cache_read_tokens: sums.cache_read_tokens,
    cache_write_tokens: sums.cache_write_tokens,
    output_tokens: sums.output_tokens,
    reasoning_tokens: sums.reasoning_tokens,
    images: sums.images,
    cost_nano: sums.cost_nano,
    charged_nano: String(BigInt(sums.cost_nano) - BigInt(sums.uncharged_nano)),
    unpriced_requests: sums.unpriced,
  }
}
