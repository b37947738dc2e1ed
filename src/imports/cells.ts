import { ImportError } from './problems.ts'

/**
 * A row of a foreign table from JSON, a dump or SQLite. A number may therefore be text, and a boolean may be
 * 0, `t` or `true`.
 */
export type Row = Readonly<Record<string, unknown>>

/** Returns an empty string if the cell has no value. */
export function cellText(row: Row, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  // JSON columns are text in a database, but values in a JSON file.
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return ''
}

/** Returns undefined if the cell has no value. Throws an ImportError if it is not a whole number. */
export function wholeOf(row: Row, column: string, where: string): bigint | undefined {
  const text = cellText(row, column).trim()
  if (text === '') return undefined
  if (/^[+-]?\d{1,30}$/.test(text)) return BigInt(text)
  const [, whole] = /^([+-]?\d{1,30})\.0+$/.exec(text) ?? []
  if (whole !== undefined) return BigInt(whole)
  throw new ImportError(
    `${where}: ${column}: expected a whole number, got ${JSON.stringify(text.slice(0, 40))}`,
  )
}

export function isTrue(row: Row, column: string): boolean {
  return /^(1|t|true)$/i.test(cellText(row, column).trim())
}

/** Splits a list such as `a,b`. */
export function listOf(row: Row, column: string): string[] {
  return splitCell(cellText(row, column), /,/)
}

export function splitCell(text: string, separator: RegExp): string[] {
  return [
    ...new Set(
      text
        .split(separator)
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    ),
  ]
}

/** Reads a JSON map from a cell. Returns an empty map for an empty cell, and undefined if it is not a map. */
export function mapOf(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (value === null) return {}
  return isMap(value) ? value : undefined
}

export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
