import type postgres from 'postgres'
import { firstIdAt } from '../../db/first-id.ts'
import { momentOf } from '../../journal/tuple.ts'
import type { Clock } from '../../runtime/clock.ts'
import { idAfter } from './next-id.ts'
import {
  mayBeOlder,
  mergedRows,
  type OlderDays,
  OlderDaysError,
  type OlderTerms,
  OlderTooLong,
  SliceTooLong,
} from './older-days.ts'
import type { LogFilter, LogRow } from './row-tests.ts'
import {
  type CountRow,
  countsOf,
  type GroupSelect,
  greatestOf,
  groupsOf,
  type Measure,
  type Order,
  rowsOf,
  type Slice,
  sliceOf,
} from './slice.ts'

/**
 * Runs one statement in Postgres. The signal cancels it on the server. Rejects with SliceTooLong if it takes
 * longer than `withinMs`.
 */
export type AskLog = <T>(
  query: (sql: postgres.Sql) => Promise<T>,
  terms: { withinMs: number; signal: AbortSignal | undefined },
) => Promise<T>

export interface Walk {
  readonly clock: Clock
  readonly filter: LogFilter
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  /** Default: `newest`. */
  readonly order?: Order
  /** Where the previous batch ended. */
  readonly cursor?: string | undefined
  /** The maximum number of rows in a batch. */
  readonly rowsMax: number
  readonly signal?: AbortSignal | undefined
  /** Absent if Postgres contains the whole log. */
  readonly older?: OlderDays | undefined
  /**
   * A time of `Clock.elapsed`. After the first batch, reading older days must end by then, or the walk
   * rejects with OlderDaysError. The caller keeps what has been found.
   */
  readonly endAt?: number | undefined
}

export interface LogBatch<Row> {
  readonly rows: readonly Row[]
  /** Where the rest begins. */
  readonly cursor: string
  /** All matching rows between the start of the walk and this time have been found. */
  readonly searchedTo: Date
  /** Whether the walk has reached its end. */
  readonly done: boolean
}

/**
 * Walks through the log in time slices, which grow while Postgres answers quickly and shrink while it does
 * not. A filter without an index therefore never becomes a statement that runs for minutes, and one with an
 * index takes only a few statements. Each batch contains the rows of one slice and can be empty. The caller
 * stops when it has enough.
 */
export function walkRequests(ask: AskLog, walk: Walk): AsyncGenerator<LogBatch<LogRow>> {
  const { clock, filter, order = 'newest', rowsMax: most, older, signal } = walk
  const read = async (slice: Slice, olderMs: number | undefined) => {
    const recent = await ask((sql) => rowsOf(sql, filter, slice, order, most), {
      withinMs: sliceMsMax,
      signal,
    })
    if (older === undefined) return recent
    // If the batch is full, only the part of the slice up to its last row still matters.
    const last = recent.length < most ? undefined : recent.at(-1)?.id
    const rest =
      last === undefined
        ? slice
        : order === 'newest'
          ? sliceOf(last, slice.toId, momentOf)
          : sliceOf(slice.fromId, last, momentOf)
    if (!mayBeOlder(rest, clock.now())) return recent
    const found = await fromOlder(rest, olderMs, (withinMs) =>
      older.rows({ filter, slice: rest, order, most }, { withinMs, signal }),
    )
    return mergedRows(recent, found, order, most)
  }
  return slices(walk, read, most)
}

/**
 * The same walk, but each batch contains the greatest rows of its slice, `most` at most, in no particular
 * order. `bound` narrows the filter by what has been found so far.
 */
export function walkGreatest(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax' | 'order' | 'cursor'>,
  { measure, most, bound }: { measure: Measure; most: number; bound(filter: LogFilter): LogFilter },
): AsyncGenerator<LogBatch<LogRow>> {
  const { clock, older, signal } = walk
  return slices(
    walk,
    async (slice, olderMs) => {
      const filter = bound(walk.filter)
      const recent = await ask((sql) => greatestOf(sql, filter, slice, measure, most), {
        withinMs: sliceMsMax,
        signal,
      })
      if (older === undefined || !mayBeOlder(slice, clock.now())) return recent
      const found = await fromOlder(slice, olderMs, (withinMs) =>
        older.rows({ filter, slice, order: measure, most }, { withinMs, signal }),
      )
      return [...recent, ...found]
    },
    undefined,
  )
}

/** The same walk, but Postgres only counts. */
export function walkCounts(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax'>,
  bucketMs: number,
): AsyncGenerator<LogBatch<CountRow>> {
  const { filter } = walk
  return walkSums(
    ask,
    walk,
    (sql, slice) => countsOf(sql, filter, slice, bucketMs),
    (older, slice, recent, terms) => older.counts({ filter, slice, bucketMs, recent }, terms),
  )
}

/** The same walk, but the databases group the rows of a slice. */
export function walkGroups<Row extends object>(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax'>,
  select: GroupSelect,
): AsyncGenerator<LogBatch<Row>> {
  const { filter } = walk
  return walkSums(
    ask,
    walk,
    (sql, slice) => groupsOf<Row>(sql, filter, slice, select),
    (older, slice, recent, terms) => older.groups({ filter, slice, select, recent }, terms),
  )
}

function walkSums<Row extends object>(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax'>,
  recentOf: (sql: postgres.Sql, slice: Slice) => Promise<Row[]>,
  /** Returns the groups of `recent` together with those of the older days. */
  allOf: (older: OlderDays, slice: Slice, recent: () => Promise<Row[]>, terms: OlderTerms) => Promise<Row[]>,
): AsyncGenerator<LogBatch<Row>> {
  const { clock, older, signal } = walk
  return slices(
    walk,
    (slice, olderMs) => {
      const recent = () => ask((sql) => recentOf(sql, slice), { withinMs: sliceMsMax, signal })
      if (older === undefined || !mayBeOlder(slice, clock.now())) return recent()
      return fromOlder(slice, olderMs, (withinMs) => allOf(older, slice, recent, { withinMs, signal }))
    },
    undefined,
  )
}

/**
 * An archive file contains a whole day, so a slice of less than a day is hardly faster and is not retried.
 */
async function fromOlder<Row>(
  { from, to }: Slice,
  olderMs: number | undefined,
  ask: (withinMs: number | undefined) => Promise<Row[]>,
): Promise<Row[]> {
  const isLong = to.getTime() - from.getTime() > dayMs
  try {
    return await ask(isLong ? sliceMsMax : olderMs)
  } catch (error) {
    if (!(error instanceof OlderTooLong) || isLong) throw error
    throw new OlderDaysError(error, 'Older days did not answer in time. Ask for the next page.')
  }
}

async function* slices<Row extends object>(
  walk: Omit<Walk, 'rowsMax'>,
  read: (slice: Slice, olderMs: number | undefined) => Promise<Row[]>,
  rowsMax: number | undefined,
): AsyncGenerator<LogBatch<Row>> {
  const isNewest = (walk.order ?? 'newest') === 'newest'
  let low = firstIdAt(walk.from.getTime())
  let high = firstIdAt(walk.to.getTime())
  if (walk.cursor !== undefined && isNewest && walk.cursor < high) high = walk.cursor
  if (walk.cursor !== undefined && !isNewest && walk.cursor > low) low = walk.cursor
  let spanMs = firstSpanMs
  let isFirst = true
  while (low < high) {
    const [from, to] = isNewest ? [startOf(low, high, spanMs), high] : [low, endOf(low, high, spanMs)]
    const slice = sliceOf(from, to, momentOf)
    const began = walk.clock.elapsed()
    const olderMs =
      isFirst || walk.endAt === undefined ? undefined : Math.max(leastOlderMs, walk.endAt - began)
    let rows: Row[]
    try {
      rows = await read(slice, olderMs)
    } catch (error) {
      if (!(error instanceof SliceTooLong) || spanMs <= leastSpanMs) throw error
      spanMs = Math.max(leastSpanMs, spanMs / shrink)
      continue
    }
    const last = rows.length === rowsMax ? idOf(rows.at(-1)) : undefined
    if (isNewest) high = last ?? from
    else low = last === undefined ? to : idAfter(last)
    const done = low >= high
    const reached = isNewest ? high : low
    const tookMs = walk.clock.elapsed() - began
    isFirst = false
    yield { rows, cursor: reached, searchedTo: new Date(momentOf(reached)), done }
    spanMs = Math.max(leastSpanMs, Math.min(spanMs * grow, (spanMs * sliceMs) / Math.max(tookMs, 1)))
  }
}

function idOf(row: object | undefined): string | undefined {
  return row !== undefined && 'id' in row && typeof row.id === 'string' ? row.id : undefined
}

function startOf(low: string, high: string, spanMs: number): string {
  const start = firstIdAt(momentOf(high) - spanMs)
  return start > low ? start : low
}

function endOf(low: string, high: string, spanMs: number): string {
  const end = firstIdAt(momentOf(low) + spanMs)
  return end < high ? end : high
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const firstSpanMs = hourMs
const leastSpanMs = 1_000
/** The target time for a slice: short enough to stop in time, long enough to need few slices. */
const sliceMs = 150
const sliceMsMax = 1_500
const leastOlderMs = 1
const grow = 4
const shrink = 8
