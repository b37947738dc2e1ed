import { attemptColumns } from './attempt-row.ts'
import { type Column, jsonOf } from './column.ts'
import type { AttemptRecord, CloseRecord, OpenRecord } from './record.ts'
import { closeColumns, openColumns } from './row.ts'

/**
 * A row of `requests` as a JSON object with one member per column, for `jsonb_populate_record`. The
 * transaction that ends an image job writes its row this way, without the journal.
 */
export function requestRowJson(open: OpenRecord, close: CloseRecord): string {
  return jsonText({ ...rowOf(openColumns, open), ...rowOf(closeColumns, close) })
}

/** The rows of `attempts` for one request, as a JSON array of such objects. */
export function attemptRowsJson(id: string, attempts: readonly AttemptRecord[]): string {
  return jsonText(attempts.map((attempt, i) => rowOf(attemptColumns, { id, ordinal: i + 1, attempt })))
}

function rowOf<Source>(columns: readonly Column<Source>[], source: Source): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column.name, jsonOf(column, source)]))
}

/**
 * JSON text for jsonb, which rejects NUL and lone surrogates: each NUL is omitted and each lone surrogate
 * replaced.
 */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'string' ? member.toWellFormed().replaceAll('\0', '') : member,
  )
}
