import { arrayText } from '../db/array-types.ts'
import { type SQL, sql } from '../db/drizzle.cjs'
import type { Queries } from '../db/transactions.ts'
import { countedDeltas } from './summary-pieces.ts'
import { dayMs } from './summary-range.ts'

/** What a tenant or key has asked and spent. Costs are in nano-USD as decimal digits. */
export interface Spend {
  requests: number
  /** Requests whose cost is not known. */
  unpriced: number
  costNano: string
}

/** The first of the last `days` days (UTC), today included. */
export function firstOfDays(days: number, nowMs: number): Date {
  return new Date((Math.floor(nowMs / dayMs) - days + 1) * dayMs)
}

/**
 * A subquery `spend` with the columns `id`, `requests`, `unpriced` and `cost_nano`: the sums of each tenant
 * or key since `from`, the beginning of a day (UTC). What is not folded yet counts too. `of` restricts it:
 * the days are then listed, so that the index finds each tenant and key on each of them.
 */
export function spendBy(
  part: 'tenant' | 'key',
  from: Date,
  of?: { tenantIds: readonly string[]; keyIds?: readonly string[] },
): SQL {
  const column = sql.raw(`${part}_id`)
  const within = (name: string, ids: readonly string[] | undefined) =>
    ids === undefined ? sql`` : sql` AND ${sql.raw(name)} = ANY (${arrayText(ids)}::uuid[])`
  const restricted = sql`${within('tenant_id', of?.tenantIds)}${within('key_id', of?.keyIds)}`
  const since = sql`${from.toISOString()}::timestamptz`
  const days =
    of === undefined
      ? sql`day >= ${since}`
      : sql`day = ANY (ARRAY(SELECT generate_series(${since}, now(), interval '24 hours')))`
  return sql`(
    SELECT ${column} AS id, sum(requests) AS requests, sum(unpriced) AS unpriced, sum(cost_nano) AS cost_nano
    FROM (
      SELECT ${column}, requests, unpriced, cost_nano FROM rollup_days
        WHERE cut = ${part} AND ${days}${restricted}
      UNION ALL
      SELECT ${column}, requests, unpriced, cost_nano FROM (${sql.raw(countedDeltas)}) AS deltas
        WHERE minute >= ${since}${restricted}
    ) AS pieces GROUP BY ${column}
  ) AS spend`
}

/** The columns of `spendBy`, where it is joined. */
export const spendColumns = {
  requests: sql<number>`coalesce(spend.requests, 0)`.mapWith(Number),
  unpriced: sql<number>`coalesce(spend.unpriced, 0)`.mapWith(Number),
  costNano: sql<string>`coalesce(spend.cost_nano, 0)`.mapWith(String),
}

/** The sums of the tenants or keys of a page, in one statement. Those without requests are absent. */
export async function readSpend(
  db: Queries,
  ...asked: Parameters<typeof spendBy>
): Promise<Map<string, Spend>> {
  const rows = await db.select({ id: sql<string>`spend.id`, ...spendColumns }).from(spendBy(...asked))
  return new Map(rows.map(({ id, ...spend }) => [id, spend]))
}
