import { attemptColumns } from './attempt-row.ts'
import type { ColumnKind } from './column.ts'
import type { CopyBuffer } from './copy-buffer.ts'
import { requestColumns } from './row.ts'
import { copyHeader, momentFrom, uuidText, viewOf } from './tuple.ts'

/** A value in the form that `jsonb_populate_record` accepts: bigints as decimal digits, times in ISO 8601. */
export type JsonValue = string | number | boolean | null | readonly (string | null)[]
/** A row as an object with one member per column. */
export type JsonRow = Readonly<Record<string, JsonValue>>

/** Parses the tuples of a COPY into rows. Throws RangeError if the bytes are not tuples. */
export function rowsIn({ columns, out }: CopyBuffer): JsonRow[] {
  const bytes = out.written
  const rows: JsonRow[] = []
  let at = copyHeader.length
  while (at + 2 <= bytes.length && bytes.readInt16BE(at) === columns.length) {
    const { row, end } = rowAt(bytes, at + 2, columns)
    rows.push(row)
    at = end
  }
  return rows
}

/** Parses the columns that begin at `at` into a row. Throws RangeError if the bytes are not such columns. */
export function rowAt(bytes: Buffer, at: number, columns: readonly string[]): { row: JsonRow; end: number } {
  const row: Record<string, JsonValue> = {}
  let next = at
  for (const name of columns) {
    const length = bytes.readInt32BE(next)
    const start = next + 4
    next = start + Math.max(0, length)
    if (next > bytes.length) throw new RangeError(`column ${name} is longer than its row`)
    row[name] = length < 0 ? null : decoded(kindOf(name), bytes.subarray(start, next))
  }
  return { row, end: next }
}

/** Undefined if this release does not know the column. */
export function kindOf(column: string): ColumnKind | undefined {
  return kinds.get(column)
}

const kinds: ReadonlyMap<string, ColumnKind> = new Map([
  ...[...requestColumns, ...attemptColumns].map(({ name, kind }) => [name, kind] as const),
  // Columns of `request_payloads` and `entries`, which have no list of their own.
  ['capture', 'text'],
  ['body', 'text'],
  ['account_id', 'uuid'],
  ['kind', 'text'],
  ['amount_nano', 'money'],
])

function decoded(kind: ColumnKind | undefined, bytes: Buffer): JsonValue {
  switch (kind) {
    case 'uuid':
      return uuidText(bytes)
    case 'moment':
      return new Date(momentFrom(bytes)).toISOString()
    case 'bool':
      return bytes.readUInt8() === 1
    case 'int2':
      return bytes.readInt16BE()
    case 'int4':
      return bytes.readInt32BE()
    case 'money':
      return String(bytes.readBigInt64BE())
    case 'text':
    case 'array':
      return bytes.toString('utf8')
    case 'texts':
      return textsIn(bytes)
    case undefined:
      return `\\x${bytes.toString('hex')}`
  }
}

/** https://github.com/postgres/postgres/blob/master/src/backend/utils/adt/arrayfuncs.c, array_send */
function textsIn(bytes: Buffer): string[] {
  const view = viewOf(bytes)
  const count = view.getInt32(0) === 0 ? 0 : view.getInt32(12)
  const texts: string[] = []
  let at = 20
  for (let i = 0; i < count; i++) {
    const end = at + 4 + view.getInt32(at)
    texts.push(bytes.toString('utf8', at + 4, end))
    at = end
  }
  return texts
}
