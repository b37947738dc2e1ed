import type postgres from 'postgres'
import type { Granularity, Part, RangePiece, RangePlan } from './summary-range.ts'

/** The value of each dimension used as a filter. */
export type PartFilter = Partial<Record<Part, string>>

/** The summed columns, in the order of the tables. */
export const sumNames = [
  'rows',
  'requests',
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
  'images',
  'cost_nano',
  'unpriced',
  'total_latency',
  'first_token_latency',
  'uncharged_nano',
] as const

export const partColumns: Readonly<Record<Part, string>> = {
  tenant: 'tenant_id',
  key: 'key_id',
  group: 'group_id',
  model: 'model',
  channel: 'channel',
  outcome: 'outcome',
}

export const allParts: readonly Part[] = ['tenant', 'key', 'group', 'model', 'channel', 'outcome']

/**
 * How a row of the usage log is counted. note_request_sums and count_backfill_day count it in the same way.
 */
const rowSums = `1::bigint AS rows, folded::bigint AS requests, coalesce(input_tokens, 0)::bigint AS input_tokens,
  coalesce(cache_read_tokens, 0)::bigint AS cache_read_tokens, coalesce(cache_write_tokens, 0)::bigint AS cache_write_tokens,
  coalesce(output_tokens, 0)::bigint AS output_tokens, coalesce(reasoning_tokens, 0)::bigint AS reasoning_tokens,
  coalesce(images, 0)::bigint AS images, coalesce(cost_nano, 0)::numeric AS cost_nano,
  CASE WHEN cost_nano IS NULL THEN folded ELSE 0 END::bigint AS unpriced,
  CASE WHEN outcome <> 'orphaned' AND total_ms IS NOT NULL
    THEN latency_count(total_ms) ELSE 0 END AS total_latency,
  CASE WHEN outcome <> 'orphaned' AND first_token_ms IS NOT NULL
    THEN latency_count(first_token_ms) ELSE 0 END AS first_token_latency,
  coalesce(cost_nano - charged_nano, 0)::numeric AS uncharged_nano`

/** The model under which a row of the usage log is counted. */
const rowModel = `CASE WHEN error_kind = 'model_not_found' THEN NULL ELSE requested_model END`

/**
 * Rows of the usage log in the form of `rollup_deltas`. `table` is `requests`, or a subquery with its
 * columns.
 */
export function countedRowsOf(table: string): string {
  return `SELECT date_bin('1 minute', created_at, 'epoch') AS minute, tenant_id, key_id, group_id,
    ${rowModel} AS model, channel, outcome, ${rowSums} FROM ${table}`
}

/** All rows of the usage log. */
export const countedRows = countedRowsOf('requests')

/** The deltas that count, which excludes those of a day that is still waiting to be counted. */
export const countedDeltas = `SELECT * FROM rollup_deltas d
  WHERE NOT EXISTS (SELECT 1 FROM rollup_backfill b WHERE b.day = (d.minute AT TIME ZONE 'UTC')::date)`

/**
 * The sums of a range, in as many rows as the tables contain. One statement, so that each delta is either
 * unfolded or in its sum. Columns: `at` if there is a step, `parts`, `outcome`, and the sums.
 */
export function summedPieces(
  sql: postgres.Sql,
  { pieces, summed, cut }: RangePlan,
  parts: readonly Part[],
  step: Granularity | undefined,
  filter: PartFilter,
) {
  const named = parts.filter((part) => part !== 'outcome').map((part) => `${partColumns[part]}, `)
  const columns = (at: string) =>
    sql.unsafe(
      `${step === undefined ? '' : `date_bin('1 ${step}', ${at}, 'epoch') AS at, `}${named.join('')}outcome, ${sumNames.join(', ')}`,
    )
  // postgres.js would treat an empty list as a value.
  const filters = [
    sql``,
    ...allParts.flatMap((part) => {
      const value = filter[part]
      return value === undefined ? [] : [sql`and ${sql.unsafe(partColumns[part])} = ${value}`]
    }),
  ]
  const arms = pieces.map((piece) => {
    const from = new Date(piece.from)
    const to = new Date(piece.to)
    if (piece.table === 'requests')
      return sql`select ${columns('minute')} from (${sql.unsafe(countedRows)}
        where id >= ${firstId(piece)}::uuid and id < ${firstId({ from: piece.to })}::uuid and created_at >= ${from} and created_at < ${to}) as r
        where true ${filters}`
    const unit = unitOf[piece.table]
    const ofCut = cutTables.has(piece.table) ? sql`and cut = ${cut ?? ''}` : sql``
    return sql`select ${columns(unit)} from ${sql.unsafe(piece.table)}
      where ${sql.unsafe(unit)} >= ${from} and ${sql.unsafe(unit)} < ${to} ${ofCut} ${filters}`
  })
  const deltas = sql`select ${columns('minute')} from (${sql.unsafe(countedDeltas)}) as d
    where minute >= ${new Date(summed.from)} and minute < ${new Date(summed.to)} ${filters}`
  return [deltas, ...arms].flatMap((arm, index) => (index === 0 ? [arm] : [sql`union all`, arm]))
}

const unitOf = {
  rollup_months: 'month',
  rollup_days: 'day',
  rollup_hour_cuts: 'hour',
  rollup_hours: 'hour',
  rollup_minutes: 'minute',
} as const

const cutTables: ReadonlySet<string> = new Set(['rollup_months', 'rollup_days', 'rollup_hour_cuts'])

/** The lowest id of a moment. The ids of the usage log are ordered by time, so their index finds it. */
function firstId({ from }: Pick<RangePiece, 'from'>): string {
  const hex = Math.min(Math.max(Math.trunc(from), 0), 2 ** 48 - 1)
    .toString(16)
    .padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
