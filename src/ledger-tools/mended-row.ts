import { type JsonRow, type JsonValue, kindOf } from '../journal/read-tuples.ts'
import type { SetAsideBody, SetAsideFolder, SetAsideRow } from '../journal/set-aside-folders.ts'
import type { MendedRow } from './replay.ts'

/**
 * The frame in the form that `ledger inspect --show` prints and `ledger replay --row` reads. Throws if the
 * content is not a frame.
 */
export function mendableOf({ id, content }: SetAsideFolder): {
  content: SetAsideRow | SetAsideBody
  mended: MendedRow
} {
  switch (content.kind) {
    case 'row':
      return { content, mended: { row: content.row, attempts: content.attempts, payload: content.payload } }
    case 'body':
      return { content, mended: { row: content.row, attempts: [], payload: content.payload } }
    case 'damaged':
      throw new Error(
        `${id} contains damaged bytes, which are not a frame: they cannot be put back. The rows of its requests are orphaned, have the endpoint (lost), or do not exist`,
      )
    case 'unreadable':
      throw new Error(`${id} cannot be read: ${content.error}`)
  }
}

/** Parses the file given with `--row`. */
export function mendedFrom(json: unknown): MendedRow {
  if (!isObject(json))
    throw new Error('--row: expected a file with a JSON object, as printed by ledger inspect --show')
  const { row, attempts = [], payload } = json
  if (!Array.isArray(attempts)) throw new Error('--row: attempts: expected a list')
  return {
    row: rowFrom(row, 'row'),
    attempts: attempts.map((attempt, i) => rowFrom(attempt, `attempts[${i}]`)),
    payload: payload == null ? undefined : rowFrom(payload, 'payload'),
  }
}

/**
 * Applies one `--set`, such as `served_model=gpt-main`, `end_user=null`, or `attempts.reason=x`, which
 * applies to all attempts.
 */
export function withChange(mended: MendedRow, change: string): MendedRow {
  const at = change.indexOf('=')
  const name = change.slice(0, at)
  if (at < 1) throw new Error(`--set ${change}: expected column=value`)
  const text = change.slice(at + 1)
  const set = (row: JsonRow, column: string): JsonRow => {
    if (!(column in row)) throw new Error(`--set ${change}: the frame has no column ${column}`)
    return { ...row, [column]: valueFrom(column, text, change) }
  }
  const [table = '', column = ''] = name.split('.')
  if (table === 'attempts') return { ...mended, attempts: mended.attempts.map((row) => set(row, column)) }
  if (table === 'payload' && mended.payload !== undefined)
    return { ...mended, payload: set(mended.payload, column) }
  return { ...mended, row: set(mended.row, name) }
}

/** `null`, or a value of the column's kind. */
function valueFrom(column: string, text: string, change: string): JsonValue {
  if (text === 'null') return null
  switch (kindOf(column)) {
    case 'bool':
      if (text !== 'true' && text !== 'false')
        throw new Error(`--set ${change}: expected true or false, got ${JSON.stringify(text)}`)
      return text === 'true'
    case 'int2':
    case 'int4':
      if (!/^\d+$/.test(text))
        throw new Error(`--set ${change}: expected a whole number, got ${JSON.stringify(text)}`)
      return Number(text)
    case 'texts':
      return text === '' ? [] : text.split(',')
    default:
      return text
  }
}

function rowFrom(value: unknown, name: string): JsonRow {
  if (!isObject(value)) throw new Error(`--row: ${name}: expected an object with one member per column`)
  const row: Record<string, JsonValue> = {}
  for (const [column, one] of Object.entries(value)) {
    if (!isJsonValue(one))
      throw new Error(
        `--row: ${name}.${column}: expected a string, a number, true, false, null or a list of strings`,
      )
    row[column] = one
  }
  return row
}

function isJsonValue(value: unknown): value is JsonValue {
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return true
  return Array.isArray(value) && value.every((item) => item === null || typeof item === 'string')
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
