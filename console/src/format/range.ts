import { clock, day, isSameDay } from './moments.ts'

/**
 * A time that a page shows, as its address has it: the last N minutes, a day, or from one moment to
 * another.
 */
export interface RangeSearch {
  last?: string
  from?: string
  to?: string
}

/** What a reader may choose without a calendar. */
export const lasts = [
  { last: '15m', title: 'Last 15 minutes', ms: 900_000 },
  { last: '1h', title: 'Last hour', ms: 3_600_000 },
  { last: '6h', title: 'Last 6 hours', ms: 6 * 3_600_000 },
  { last: '24h', title: 'Last 24 hours', ms: 86_400_000 },
  { last: '7d', title: 'Last 7 days', ms: 7 * 86_400_000 },
  { last: '30d', title: 'Last 30 days', ms: 30 * 86_400_000 },
  { last: '90d', title: 'Last 90 days', ms: 90 * 86_400_000 },
] as const

/** Days of the reader's calendar: from one midnight of the reader's zone to the next. */
export const days = [
  { last: 'today', title: 'Today', ago: 0 },
  { last: 'yesterday', title: 'Yesterday', ago: 1 },
] as const

/**
 * The moments of a range, as the API takes them. `now`: the end of a range that is "the last so many
 * minutes".
 */
export function momentsOf(
  { last, from, to }: RangeSearch,
  now: Date,
): { from: string; to: string } | undefined {
  if (from !== undefined || to !== undefined) {
    const end = to === undefined ? now : new Date(to)
    const start = from === undefined ? new Date(end.getTime() - 86_400_000) : new Date(from)
    if (Number.isNaN(start.getTime()) || Number.isNaN(end.getTime())) return undefined
    return { from: start.toISOString(), to: end.toISOString() }
  }
  const ago = days.find((known) => known.last === last)?.ago
  if (ago !== undefined) {
    const [start, end] = [midnight(now, ago), ago === 0 ? now : midnight(now, ago - 1)]
    return { from: start.toISOString(), to: end.toISOString() }
  }
  const ms = lasts.find((known) => known.last === last)?.ms
  return ms === undefined
    ? undefined
    : { from: new Date(now.getTime() - ms).toISOString(), to: now.toISOString() }
}

/** A day on which the clocks change has 23 or 25 hours, so the calendar decides. */
function midnight(now: Date, daysAgo: number): Date {
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() - daysAgo)
}

/** Reads what an address has; drops what is none. */
export function rangeOf(search: Readonly<Record<string, unknown>>): RangeSearch {
  const { last, from, to } = search
  const isMoment = (value: unknown): value is string =>
    typeof value === 'string' && !Number.isNaN(new Date(value).getTime())
  if (isMoment(from) || isMoment(to))
    return { ...(isMoment(from) ? { from } : {}), ...(isMoment(to) ? { to } : {}) }
  return [...lasts, ...days].some((known) => known.last === last) ? { last: last as string } : {}
}

/** `Last hour`, or `Nov 24, 14:02:11 – 15:00:00`. */
export function rangeTitle(range: RangeSearch, fallback: string): string {
  const { last, from, to } = range
  if (from === undefined && to === undefined)
    return [...lasts, ...days].find((known) => known.last === last)?.title ?? fallback
  const moments = momentsOf(range, new Date())
  if (moments === undefined) return fallback
  const [start, end] = [new Date(moments.from), new Date(moments.to)]
  const endDay = isSameDay(start, end) ? '' : `${day(end)}, `
  return `${day(start)}, ${clock(start, false)} – ${to === undefined ? 'now' : `${endDay}${clock(end, false)}`}`
}
