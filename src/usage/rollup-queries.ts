import type postgres from 'postgres'
import type { Cancellable } from '../db/pool.ts'
import { edgeRowsMax, rowsNear } from './edge-rows-queries.ts'
import { type LatencyJson, latencyOf } from './latency-histogram.ts'
import { minutesKept } from './rollups.ts'
import { type PartFilter, partColumns, summedPieces, sumNames } from './summary-pieces.ts'
import {
  dayMs,
  type Granularity,
  hourMs,
  minuteMs,
  type Part,
  planRange,
  type RangePlan,
  type TimeRange,
} from './summary-range.ts'

/** `at` needs a step. */
export type SummarySort = 'requests' | 'errors' | 'cost' | 'uncharged' | 'tokens' | 'latency' | 'at'

export interface SummaryQuestion extends TimeRange {
  parts: readonly Part[]
  step?: Granularity | undefined
  filter: PartFilter
  sort: SummarySort
  /** Whether the highest group is first. */
  descending: boolean
  /** The number of groups in the answer. */
  limit: number
  /** The number of groups to skip. */
  skip: number
}

/**
 * Counts and sums. `requests` counts the requests that each row represents. Costs and all other sums are
 * strings of decimal digits.
 */
export interface Sums {
  requests: string
  succeeded: string
  refused: string
  failed: string
  cancelled: string
  orphaned: string
  input_tokens: string
  cache_read_tokens: string
  cache_write_tokens: string
  output_tokens: string
  reasoning_tokens: string
  images: string
  cost_nano: string
  unpriced: string
  uncharged_nano: string
  total: LatencyJson | null
  firstToken: LatencyJson | null
}

export interface SummaryGroup extends Sums {
  at: Date | null
  tenant_id: string | null
  key_id: string | null
  group_id: string | null
  model: string | null
  channel: string | null
  outcome: string | null
}

export interface Summary extends TimeRange {
  /**
   * False if the range was widened to whole hours, because its ends contain too many rows or rows that no
   * longer exist.
   */
  exact: boolean
  groups: SummaryGroup[]
  /** The combined groups after the last one; undefined if there are none. */
  other: (Sums & { groups: number }) | undefined
  total: Sums
  /** Days of the range that existed before the sums and have not been counted yet. */
  waitingDays: number
}

/** The query cannot be answered from the sums. The message states what the field must be. */
export class SummaryRangeError extends Error {
  override readonly name = 'SummaryRangeError'
  readonly field = 'from'
}

export interface SummaryTimes {
  nowMs: number
  /** The number of days for which sums by hour are kept. */
  hoursDays: number
}

/**
 * The groups of a range, highest first. Unfolded deltas are included, so the result is never out of date.
 * Throws SummaryRangeError.
 */
export async function summarise(
  sql: postgres.Sql,
  query: SummaryQuestion,
  times: SummaryTimes,
  running: Cancellable = uncancelled,
): Promise<Summary> {
  const { plan, waitingDays, ...span } = await planFor(sql, query, times, running)
  const { parts, step, filter, sort, descending, limit, skip } = query
  const keys = [...(step === undefined ? [] : ['at']), ...parts.map((part) => partColumns[part])]
  const grouped = keys.length === 0 ? sql`` : sql`group by ${sql.unsafe(keys.join(', '))}`
  const order = sql.unsafe([`${sortKeys[sort]} ${direction(descending)}`, ...keys].join(', '))
  const keyList = sql.unsafe(keys.map((key) => `${key}, `).join(''))
  const nulls = sql.unsafe(keys.map((key) => `null::${typeOf(key)} as ${key}, `).join(''))
  const sums = sql.unsafe(mergedSums)
  const rows = await running(sql<GroupRow[]>`
    with pieces as (${summedPieces(sql, plan, parts, step, filter)}),
    grouped as materialized (select ${keyList} ${sql.unsafe(outerSums)} from pieces ${grouped}),
    ranked as materialized (select *, row_number() over (order by ${order}) as place from grouped)
    select 'group' as kind, ${keyList} place, 1::bigint as groups, ${sql.unsafe(resultNames.join(', '))} from ranked
      where place > ${skip}::bigint and place <= ${skip + limit}::bigint and requests <> 0
    union all
    select 'other', ${nulls} null, count(*), ${sums} from ranked where place > ${skip + limit}::bigint and requests <> 0
    union all
    select 'total', ${nulls} null, count(*), ${sums} from ranked
    order by kind, place`)
  const total = rows.find(({ kind }) => kind === 'total')
  const other = rows.find(({ kind }) => kind === 'other')
  if (total === undefined) throw new Error('the summary query returned no total')
  return {
    ...span,
    groups: rows.filter(({ kind }) => kind === 'group').map((row) => ({ ...noKeys, ...row, ...sumsOf(row) })),
    other:
      other === undefined || other.groups === '0'
        ? undefined
        : { ...sumsOf(other), groups: Number(other.groups) },
    total: sumsOf(total),
    waitingDays,
  }
}

export interface Series {
  group: SummaryGroup
  isOther: boolean
  /** Ordered by time. */
  points: SummaryGroup[]
}

export interface Timeline extends TimeRange {
  exact: boolean
  /** Highest first. `isOther` marks the combined groups after them. */
  series: Series[]
  waitingDays: number
}

/** The same in time steps, for the highest `limit` groups of the whole range. Throws SummaryRangeError. */
export async function timeline(
  sql: postgres.Sql,
  query: Omit<SummaryQuestion, 'skip'> & { step: Granularity },
  times: SummaryTimes,
  running: Cancellable = uncancelled,
): Promise<Timeline> {
  const { plan, waitingDays, ...span } = await planFor(sql, query, times, running)
  const { parts, step, filter, sort, descending, limit } = query
  const keys = parts.map((part) => partColumns[part])
  const list = sql.unsafe(keys.map((key) => `${key}, `).join(''))
  const order = sql.unsafe([`${sortKeys[sort]} ${direction(descending)}`, ...keys].join(', '))
  const same = sql.unsafe(
    ['true', ...keys.map((key) => `t.${key} IS NOT DISTINCT FROM p.${key}`)].join(' and '),
  )
  const shown = sql.unsafe(keys.map((key) => `t.${key}, `).join(''))
  const grouping = sql.unsafe(['at', ...keys.map((key) => `t.${key}`), 't.place'].join(', '))
  const rows = await running(sql<(GroupRow & { place: number | null })[]>`
    with pieces as (${summedPieces(sql, plan, parts, step, filter)}),
    points as materialized (select at, ${list} ${sql.unsafe(outerSums)} from pieces group by ${sql.unsafe(['at', ...keys].join(', '))}),
    totals as (select ${list} ${sql.unsafe(mergedSums)} from points ${keys.length === 0 ? sql`` : sql`group by ${sql.unsafe(keys.join(', '))}`}),
    tops as (select ${list} row_number() over (order by ${order}) as place from totals order by place limit ${limit}::bigint)
    select at, ${shown} t.place::integer as place, 'group' as kind, 1::bigint as groups, ${sql.unsafe(mergedSums)}
    from points p left join tops t on ${same} group by ${grouping} having sum(requests) <> 0 order by t.place nulls last, at`)
  return { ...span, series: seriesOf(rows), waitingDays }
}

/** Combines the rows into one series per group. */
function seriesOf(rows: readonly (GroupRow & { place: number | null })[]): Series[] {
  const series = new Map<number | null, Series>()
  for (const row of rows) {
    const point = { ...noKeys, ...row, ...sumsOf(row) }
    const found = series.get(row.place)
    if (found === undefined)
      series.set(row.place, { group: point, isOther: row.place === null, points: [point] })
    else found.points.push(point)
  }
  return [...series.values()]
}

const uncancelled: Cancellable = (statement) => statement

/** The plan and the span that it covers. */
async function planFor(
  sql: postgres.Sql,
  { from, to, parts, step, filter }: Omit<SummaryQuestion, 'skip'>,
  { nowMs, hoursDays }: SummaryTimes,
  running: Cancellable,
): Promise<TimeRange & { plan: RangePlan; exact: boolean; waitingDays: number }> {
  const named = [
    ...parts,
    ...Object.entries(filter).flatMap(([part, value]) => (value === undefined ? [] : [part])),
  ]
  const { waitingDays, hourCutsFrom } = await sumsThere(sql, { from, to }, running)
  const base = {
    parts: new Set(named.filter(isPart)),
    step,
    // One hour less than the time for which they are kept, to allow for clock differences and the duration of
    // a statement.
    minutesFrom: nowMs - (minutesKept - 60) * minuteMs,
    hoursFrom: Math.ceil((nowMs - hoursDays * dayMs) / hourMs) * hourMs,
    hourCutsFrom,
  }
  const plan = planRange({ ...base, from, to })
  if (typeof plan === 'string') throw new SummaryRangeError(plan)
  const edges = plan.pieces.filter(({ table }) => table === 'requests')
  if ((await rowsNear(sql, edges, base.hoursFrom, running)) <= edgeRowsMax)
    return { plan, from, to, exact: true, waitingDays }
  const unitMs = step === 'minute' ? minuteMs : hourMs
  const span = { from: Math.floor(from / unitMs) * unitMs, to: Math.ceil(to / unitMs) * unitMs }
  const wider = planRange({ ...base, ...span })
  if (typeof wider === 'string') throw new SummaryRangeError(wider)
  return { plan: wider, ...span, exact: false, waitingDays }
}

/** The days of a range that are not counted yet, and the time from which cuts by hour are complete. */
async function sumsThere(sql: postgres.Sql, { from, to }: TimeRange, running: Cancellable) {
  const [found] = await running(sql<{ days: string; since: Date | null }[]>`
    select count(*) as days, (select hour from rollup_hour_cuts_since) as since from rollup_backfill
    where day > (${new Date(from)}::timestamptz at time zone 'UTC')::date - 1
      and day < ${new Date(to)}::timestamptz at time zone 'UTC'`)
  return {
    waitingDays: Number(found?.days),
    hourCutsFrom: found?.since?.getTime() ?? Number.POSITIVE_INFINITY,
  }
}

const outcomes = ['succeeded', 'refused', 'failed', 'cancelled', 'orphaned'] as const
const outerSums = [
  ...sumNames.slice(1).map((name) => `coalesce(sum(${name}), 0) as ${name}`),
  ...outcomes.map(
    (outcome) => `coalesce(sum(requests) filter (where outcome = '${outcome}'), 0) as ${outcome}`,
  ),
].join(', ')
const resultNames = [...sumNames.slice(1), ...outcomes]
const mergedSums = resultNames.map((name) => `coalesce(sum(${name}), 0) as ${name}`).join(', ')

/** Latency is sorted by the 95th percentile of the whole time. */
const sortKeys: Readonly<Record<SummarySort, string>> = {
  requests: 'requests',
  errors: 'refused + failed + orphaned',
  cost: 'cost_nano',
  uncharged: 'uncharged_nano',
  tokens: 'input_tokens + cache_read_tokens + cache_write_tokens + output_tokens + reasoning_tokens',
  latency: 'latency_bucket_at(total_latency, 0.95)',
  at: 'at',
}

interface GroupRow extends Omit<Sums, 'total' | 'firstToken'> {
  kind: 'group' | 'other' | 'total'
  groups: string
  total_latency: string
  first_token_latency: string
}

function sumsOf(row: GroupRow): Sums {
  return { ...row, total: latencyOf(row.total_latency), firstToken: latencyOf(row.first_token_latency) }
}

const noKeys = {
  at: null,
  tenant_id: null,
  key_id: null,
  group_id: null,
  model: null,
  channel: null,
  outcome: null,
}

function typeOf(key: string): string {
  return key === 'at' ? 'timestamptz' : key.endsWith('_id') ? 'uuid' : 'text'
}

function direction(descending: boolean): 'asc' | 'desc' {
  return descending ? 'desc' : 'asc'
}

function isPart(name: string): name is Part {
  return name in partColumns
}
