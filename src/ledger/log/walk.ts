import type postgres from 'postgres'
import { GatewayError } from '../../canonical/error.ts'
import { momentOf } from '../tuple.ts'
import type { AdminFilter, LogRow } from './filter.ts'
import { firstIdAt, idAfter } from './positions.ts'
import { type CountRow, countsOf, type Order, rowsOf, type Slice, sliceOf } from './slice.ts'

/** Asks Postgres one statement. The signal ends it on the server. Rejects TooLong when it took longer than `withinMs`. */
export type AskLog = <T>(
  question: (sql: postgres.Sql) => Promise<T>,
  terms: { withinMs: number; signal: AbortSignal | undefined },
) => Promise<T>

/** A slice took too long. The walk goes on with shorter ones; where it cannot, this is the answer to the client. */
export class SliceTooLong extends GatewayError {
  constructor(message: string) {
    super('unavailable', message, { retryAfterSeconds: 2 })
  }
}

export interface Walk {
  readonly filter: AdminFilter
  /** Inclusive. */
  readonly from: Date
  /** Exclusive. */
  readonly to: Date
  /** Default: `newest` first. */
  readonly order?: Order
  /** Where the batch before ended. */
  readonly cursor?: string | undefined
  /** The most rows of a batch. */
  readonly rowsMax: number
  readonly signal?: AbortSignal | undefined
}

export interface Batch<Row> {
  readonly rows: readonly Row[]
  /** Where the rest begins. */
  readonly cursor: string
  /** All matching rows between the start of the walk and this moment have been found. */
  readonly searchedTo: Date
  /** The walk has come to its end. */
  readonly done: boolean
}

/**
 * Walk through the log in slices of time, which grow while Postgres answers them fast and shrink while it does not. So a filter
 * without an index never becomes a statement that runs for minutes, and one with an index takes few statements. Each batch has
 * the rows of one slice, also none. The caller stops when it has enough.
 */
export function walkRequests(ask: AskLog, walk: Walk): AsyncGenerator<Batch<LogRow>> {
  const { order = 'newest' } = walk
  return slices(ask, walk, (sql, slice) => rowsOf(sql, walk.filter, slice, order, walk.rowsMax), walk.rowsMax)
}

/** The same walk, but Postgres only counts. */
export function walkCounts(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax'>,
  bucketMs: number,
): AsyncGenerator<Batch<CountRow>> {
  return slices(ask, walk, (sql, slice) => countsOf(sql, walk.filter, slice, bucketMs), undefined)
}

async function* slices<Row extends object>(
  ask: AskLog,
  walk: Omit<Walk, 'rowsMax'>,
  read: (sql: postgres.Sql, slice: Slice) => Promise<Row[]>,
  rowsMax: number | undefined,
): AsyncGenerator<Batch<Row>> {
  const isNewest = (walk.order ?? 'newest') === 'newest'
  let low = firstIdAt(walk.from.getTime())
  let high = firstIdAt(walk.to.getTime())
  if (walk.cursor !== undefined && isNewest && walk.cursor < high) high = walk.cursor
  if (walk.cursor !== undefined && !isNewest && walk.cursor > low) low = walk.cursor
  let spanMs = firstSpanMs
  while (low < high) {
    const [from, to] = isNewest ? [startOf(low, high, spanMs), high] : [low, endOf(low, high, spanMs)]
    const slice = sliceOf(from, to, momentOf)
    const began = performance.now()
    let rows: Row[]
    try {
      rows = await ask((sql) => read(sql, slice), { withinMs: sliceMsMax, signal: walk.signal })
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
    const tookMs = performance.now() - began
    yield { rows, cursor: reached, searchedTo: new Date(momentOf(reached)), done }
    spanMs = Math.max(leastSpanMs, Math.min(spanMs * grow, (spanMs * sliceMs) / Math.max(tookMs, 1)))
  }
}

function idOf(row: object | undefined): string | undefined {
  return row !== undefined && 'id' in row && typeof row.id === 'string' ? row.id : undefined
}

function startOf(low: string, high: string, spanMs: number): string {
  const start = firstIdAt(Math.max(0, momentOf(high) - spanMs))
  return start > low ? start : low
}

function endOf(low: string, high: string, spanMs: number): string {
  const end = firstIdAt(momentOf(low) + spanMs)
  return end < high ? end : high
}

const hourMs = 3_600_000
const firstSpanMs = hourMs
const leastSpanMs = 1_000
/** The walk aims at slices that Postgres answers in this time: short enough to stop in time, long enough to be few. */
const sliceMs = 150
const sliceMsMax = 1_500
const grow = 4
const shrink = 8
