import { attemptColumns } from './attempt-row.ts'
import { writeColumns } from './column.ts'
import type { AttemptRecord, CloseRecord, OpenRecord } from './record.ts'
import { closeColumns, openColumns } from './row.ts'
import { headBytes, type TupleWriter } from './tuple.ts'

/**
 * A row of `requests` is written in two halves, as its columns become known. The number of columns, the open half and the
 * close half together are one tuple.
 */

/** Append the open half, which begins with the row's head. */
export function writeOpenHalf(out: TupleWriter, open: OpenRecord): void {
  out.begin(openColumns.length, false)
  out.head(open.id)
  writeColumns(out, openRest, open)
}

export function writeCloseHalf(out: TupleWriter, close: CloseRecord): void {
  out.begin(closeColumns.length, false)
  writeColumns(out, closeColumns, close)
}

/** Append a tuple of `attempts`. `headAt`: start of its request's head in `out`. */
export function writeAttemptTuple(
  out: TupleWriter,
  headAt: number,
  id: string,
  ordinal: number,
  attempt: AttemptRecord,
): void {
  out.begin(attemptColumns.length)
  out.repeat(headAt, headBytes)
  writeColumns(out, attemptRest, { id, ordinal, attempt })
}

const openRest = openColumns.slice(2)
const attemptRest = attemptColumns.slice(2)
