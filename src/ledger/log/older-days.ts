import { GatewayError } from '../../canonical/error.ts'
import { sentenceOf } from '../../canonical/reasons/catalogue.ts'
import type { ErrorRow, ErrorsBy } from './error-rows.ts'
import type { AdminFilter, LogRow } from './filter.ts'
import type { CountRow, Measure, Order, Slice } from './slice.ts'

/** The days of the usage log that Postgres has no longer. `archive/older-days.ts` has them. */
export interface OlderDays {
  /**
   * The matching rows of a slice, in order or the greatest first, `most` at most. Ask Postgres first: a day
   * that leaves Postgres meanwhile is then found twice, never nowhere.
   */
  rows(
    query: { filter: AdminFilter; slice: Slice; order: Order | Measure; most: number },
    terms: OlderTerms,
  ): Promise<LogRow[]>
  /**
   * The counts of `recent`, which asks Postgres, and those of the older days: no row counts twice. It may ask
   * again.
   */
  counts(
    query: { filter: AdminFilter; slice: Slice; bucketMs: number; recent(): Promise<CountRow[]> },
    terms: OlderTerms,
  ): Promise<CountRow[]>
  /** The groups of errors in the same way. */
  errors(
    query: { filter: AdminFilter; slice: Slice; by: ErrorsBy; recent(): Promise<ErrorRow[]> },
    terms: OlderTerms,
  ): Promise<ErrorRow[]>
}

/**
 * Beyond `withinMs`, a method rejects OlderTooLong. Undefined: the archive has its own bound, and rejects
 * OlderDaysError.
 */
export interface OlderTerms {
  withinMs: number | undefined
  signal: AbortSignal | undefined
}

/** The older days cannot be read at the moment, for the reason of `error`. Newer ones can. */
export class OlderDaysError extends GatewayError {
  constructor(error: GatewayError, message = error.message) {
    const { reason, retryAfterSeconds, cause = error } = error
    super(reason, message, { cause, retryAfterSeconds })
  }
}

/** A slice took too long. The walk goes on with shorter ones. */
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

/** Rows of both, each once, in order. */
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
