/** A time range; its end is exclusive. */
export interface TimeRange {
  from: number
  to: number
}

export type Part = 'tenant' | 'key' | 'group' | 'model' | 'channel' | 'outcome'
export type Granularity = 'minute' | 'hour' | 'day'
export type SummaryCut = 'tenant' | 'tenant_model' | 'key' | 'group' | 'model' | 'channel'

/** A part of a range and the table that covers it. `requests` is the usage log itself. */
export interface RangePiece extends TimeRange {
  table: 'rollup_months' | 'rollup_days' | 'rollup_hour_cuts' | 'rollup_hours' | 'rollup_minutes' | 'requests'
}

export interface RangePlan {
  pieces: readonly RangePiece[]
  /** The time covered by sums. Its deltas count too. */
  summed: TimeRange
  /** The cut to use of the tables that have cuts. */
  cut: SummaryCut | undefined
}

export interface RangeQuestion extends TimeRange {
  /** The dimensions requested or used as filters. */
  parts: ReadonlySet<Part>
  /** The requested time step. */
  step: Granularity | undefined
  /** Sums by minute and by hour are kept from these times on; cuts by hour are complete from the third on. */
  minutesFrom: number
  hoursFrom: number
  hourCutsFrom: number
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/**
 * The coarsest tables that cover the whole range exactly. The rest, less than an hour at each end, is read
 * from the usage log. A string explains why there is no such plan.
 */
export function planRange(query: RangeQuestion): RangePlan | string {
  const { from, to, step, minutesFrom, hoursFrom, hourCutsFrom } = query
  const byMinute = hasOnly(query.parts, ['channel', 'outcome'])
  if (step === 'minute') {
    if (!byMinute)
      return 'expected no grouping or filter other than channel and outcome with steps of a minute'
    if (from < minutesFrom)
      return 'expected a time within the last 47 hours, because older sums by minute are not kept'
    return planOf(inner('rollup_minutes', { from, to }, minuteMs), { from, to }, undefined)
  }
  const hours = within({ from, to }, hourMs)
  // For less than an hour, use the sums by minute or the log.
  if (hours === undefined && !(byMinute && from >= minutesFrom)) return planOf([], { from, to }, undefined)
  if (hours === undefined)
    return planOf(inner('rollup_minutes', { from, to }, minuteMs), { from, to }, undefined)
  const cut = cutOf(query.parts)
  const days = cut === undefined || step === 'hour' ? undefined : within(hours, dayMs)
  const byHour = (span: TimeRange): RangePiece => ({
    table: isSingle(cut) && span.from >= hourCutsFrom ? 'rollup_hour_cuts' : 'rollup_hours',
    ...span,
  })
  const middle: RangePiece[] =
    days === undefined
      ? [byHour(hours)]
      : [
          byHour({ from: hours.from, to: days.from }),
          ...daysOf(days, step === undefined && isSingle(cut)),
          byHour({ from: days.to, to: hours.to }),
        ]
  const ends: TimeRange[] = [
    { from, to: hours.from },
    { from: hours.to, to },
  ]
  const edges = ends.flatMap((end) =>
    byMinute && end.from >= minutesFrom ? inner('rollup_minutes', end, minuteMs) : [],
  )
  const pieces = [...edges, ...middle].filter((piece) => piece.from < piece.to)
  const oldest = pieces.find(({ table, from }) => table.startsWith('rollup_hour') && from < hoursFrom)
  if (oldest !== undefined)
    return `expected whole days (UTC) and a single dimension before ${new Date(hoursFrom).toISOString()}, because finer sums are only kept from then on`
  return planOf(pieces, { from, to }, cut)
}

/** The `summed` pieces leave one gap at each end, which is read from the usage log. */
function planOf(
  summed: readonly RangePiece[],
  { from, to }: TimeRange,
  cut: SummaryCut | undefined,
): RangePlan {
  const starts = summed.map((piece) => piece.from)
  const ends = summed.map((piece) => piece.to)
  const span = summed.length === 0 ? { from: to, to } : { from: Math.min(...starts), to: Math.max(...ends) }
  const edges: RangePiece[] = [
    { table: 'requests', from, to: span.from },
    { table: 'requests', from: span.to, to },
  ]
  return { pieces: [...summed, ...edges.filter((edge) => edge.from < edge.to)], summed: span, cut }
}

/** Uses the sums by month for whole months (UTC), which exist for a single dimension only. */
function daysOf(days: TimeRange, hasMonths: boolean): RangePiece[] {
  const first = new Date(days.from)
  const from = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + (first.getUTCDate() === 1 ? 0 : 1), 1)
  const last = new Date(days.to)
  const to = Date.UTC(last.getUTCFullYear(), last.getUTCMonth(), 1)
  if (!hasMonths || from >= to) return [{ table: 'rollup_days', ...days }]
  return [
    { table: 'rollup_days', from: days.from, to: from },
    { table: 'rollup_months', from, to },
    { table: 'rollup_days', from: to, to: days.to },
  ]
}

/** Hours and months have only cuts by one part. */
function isSingle(cut: SummaryCut | undefined): boolean {
  return cut !== undefined && cut !== 'key' && cut !== 'tenant_model'
}

function inner(table: RangePiece['table'], span: TimeRange, unitMs: number): RangePiece[] {
  const whole = within(span, unitMs)
  return whole === undefined ? [] : [{ table, ...whole }]
}

/** The whole units within a span. */
function within({ from, to }: TimeRange, unitMs: number): TimeRange | undefined {
  const first = Math.ceil(from / unitMs) * unitMs
  const last = Math.floor(to / unitMs) * unitMs
  return first < last ? { from: first, to: last } : undefined
}

function hasOnly(parts: ReadonlySet<Part>, allowed: readonly Part[]): boolean {
  return [...parts].every((part) => allowed.includes(part))
}

function cutOf(parts: ReadonlySet<Part>): SummaryCut | undefined {
  return cuts.find(([, named]) => hasOnly(parts, [...named, 'outcome']))?.[0]
}

/** Smallest first. */
const cuts: readonly (readonly [SummaryCut, readonly Part[]])[] = [
  ['channel', ['channel']],
  ['group', ['group']],
  ['model', ['model']],
  ['tenant', ['tenant']],
  ['key', ['tenant', 'key']],
  ['tenant_model', ['tenant', 'model']],
]
