import { attemptColumns } from './attempt-row.ts'
import { type Column, jsonOf } from './column.ts'
import type { AttemptRecord, CloseRecord, OpenRecord } from './record.ts'
import { closeColumns, openColumns } from './row.ts'

/**
 * A row of `requests` as JSON by column, for `jsonb_populate_record`: the transaction that ends an image job writes its
 * row, which does not go by way of the journal.
 */
export function requestRowJson(open: OpenRecord, close: CloseRecord): string {
  return jsonText({ ...rowOf(openColumns, open), ...rowOf(closeColumns, close) })
}

/** The rows of `attempts` of one request, as requestRowJson writes its own. */
export function attemptRowsJson(id: string, attempts: readonly AttemptRecord[]): string {
  return jsonText(attempts.map((attempt, i) => rowOf(attemptColumns, { id, ordinal: i + 1, attempt })))
}

function rowOf<Source>(columns: readonly Column<Source>[], source: Source): Record<string, unknown> {
  return Object.fromEntries(columns.map((column) => [column.name, jsonOf(column, source)]))
}

/** JSON that Postgres takes as jsonb, which refuses NUL and halves of surrogate pairs: they are left out and replaced. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) =>
    typeof member === 'string' ? member.toWellFormed().replaceAll('\0', '') : member,
  )
}
