import { type JsonRow, type JsonValue, kindOf } from './read-tuples.ts'
import type { MendedRow } from './replay.ts'
import type { SetAsideBody, SetAsideFolder, SetAsideRow } from './set-aside-folders.ts'

/**
 * The frame as `ledger:inspect --show` prints it, and as `ledger:replay --row` reads it. Throws for what is
 * no frame.
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
        `${id} has damaged bytes, which are not a frame: they cannot be put back. Its requests are orphaned, or have the endpoint (lost), or no row`,
      )
    case 'unreadable':
      throw new Error(`${id} cannot be read: ${content.error}`)
  }
}

/** Reads the file of `--row`. */
export function mendedFrom(json: unknown): MendedRow {
  if (!isObject(json))
    throw new Error('the file of --row must be a JSON object, as ledger:inspect --show prints it')
  const { row, attempts = [], payload } = json
  if (!Array.isArray(attempts)) throw new Error('attempts must be a list')
  return {
    row: rowFrom(row, 'row'),
    attempts: attempts.map((attempt, i) => rowFrom(attempt, `attempts[${i}]`)),
    payload: payload == null ? undefined : rowFrom(payload, 'payload'),
  }
}

/**
 * Apply one `--set`, such as `served_model=gpt-main`, `end_user=null` or `attempts.reason=x` for all
 * attempts.
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

/** `null`, or what the column's kind takes. */
function valueFrom(column: string, text: string, change: string): JsonValue {
  if (text === 'null') return null
  switch (kindOf(column)) {
    case 'bool':
      if (text !== 'true' && text !== 'false') throw new Error(`--set ${change}: expected true or false`)
      return text === 'true'
    case 'int2':
    case 'int4':
      if (!/^\d+$/.test(text)) throw new Error(`--set ${change}: expected a whole number`)
      return Number(text)
    case 'texts':
      return text === '' ? [] : text.split(',')
    default:
      return text
  }
}

function rowFrom(value: unknown, name: string): JsonRow {
  if (!isObject(value)) throw new Error(`${name} must be an object by column`)
  const row: Record<string, JsonValue> = {}
  for (const [column, one] of Object.entries(value)) {
    if (!isJsonValue(one))
      throw new Error(`${name}.${column} must be a text, a number, true, false, null or a list of texts`)
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
