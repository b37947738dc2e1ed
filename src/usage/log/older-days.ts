import { GatewayError } from '../../canonical/error.ts'
import { sentenceOf } from '../../canonical/reasons/catalogue.ts'
import type { LogFilter, LogRow } from './row-tests.ts'
import type { CountRow, GroupSelect, Measure, Order, Slice } from './slice.ts'

/** The days of the usage log that are no longer in Postgres. Implemented by `usage/archive/older-days.ts`. */
export interface OlderDays {
  /**
   * The matching rows of a slice, in order or greatest first, `most` at most. Postgres must be queried first,
   * so that a day that leaves Postgres in the meantime is found twice rather than not at all.
   */
  rows(
    query: { filter: LogFilter; slice: Slice; order: Order | Measure; most: number },
    terms: OlderTerms,
  ): Promise<LogRow[]>
  /**
   * The counts of `recent`, which queries Postgres, combined with those of the older days. No row is counted
   * twice. `recent` may be called again.
   */
  counts(
    query: { filter: LogFilter; slice: Slice; bucketMs: number; recent(): Promise<CountRow[]> },
    terms: OlderTerms,
  ): Promise<CountRow[]>
  /** The groups of a statement, combined in the same way. */
  groups<Row extends object>(
    query: { filter: LogFilter; slice: Slice; select: GroupSelect; recent(): Promise<Row[]> },
    terms: OlderTerms,
  ): Promise<Row[]>
}

/**
 * After `withinMs`, a method rejects with OlderTooLong. If it is undefined, the archive's own limit applies,
 * and the method rejects with OlderDaysError.
 */
export interface OlderTerms {
  withinMs: number | undefined
  signal: AbortSignal | undefined
}

/** The older days cannot be read at the moment, for the reason in `error`. Newer days can be read. */
export class OlderDaysError extends GatewayError {
  constructor(error: GatewayError, message = error.message) {
    const { reason, retryAfterSeconds, cause = error } = error
    super(reason, message, { cause, retryAfterSeconds })
  }
}

/** A slice took too long. The walk continues with shorter ones. */
export class SliceTooLong extends GatewayError {
  constructor(...[reason, facts]: SliceProblem) {
    super(reason, sentenceOf(reason, facts), { retryAfterSeconds: 2 })
  }
}

type SliceProblem =
  | ['usage_log_late', { withinMs: number }]
  | ['archive_late', { withinMs: number }]
  | ['archive_query_large', { bytes: number }]

/** The older days of a slice took too long. */
export class OlderTooLong extends SliceTooLong {
  constructor(withinMs: number) {
    super('archive_late', { withinMs })
  }
}

/** Yesterday and today (UTC) are always in Postgres. */
export function mayBeOlder({ from }: Slice, nowMs: number): boolean {
  return from.getTime() < nowMs - dayMs
}

/** Merges both lists in order, with each row once. */
export function mergedRows(
  recent: readonly LogRow[],
  older: readonly LogRow[],
  order: Order,
  most: number,
): LogRow[] {
  const all = [...new Map([...older, ...recent].map((row) => [row.id, row])).values()]
  const sign = order === 'newest' ? 1 : -1
  return all.sort((one, other) => (one.id < other.id ? sign : -sign)).slice(0, most)
}

const dayMs = 86_400_000
