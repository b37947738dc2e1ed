import type { ColumnKind } from '../../journal/column.ts'
import type { ExportColumn, RowEncoder } from './row-encoder.ts'

export const exportFormats = ['csv', 'ndjson', 'parquet'] as const
export type ExportFormat = (typeof exportFormats)[number]

export const mediaOf: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
}

export async function encoderOf(format: ExportFormat, columns: readonly ExportColumn[]): Promise<RowEncoder> {
  switch (format) {
    case 'csv':
      return csvEncoder(columns)
    case 'ndjson':
      return ndjsonEncoder(columns)
    case 'parquet': {
      // Loaded on demand, because a process that writes no Parquet does not need it.
      const { parquetEncoder } = await import('./parquet.ts')
      return parquetEncoder(columns)
    }
  }
}

const nothing = Buffer.alloc(0)

function csvEncoder(columns: readonly ExportColumn[]): RowEncoder {
  return {
    begin: () => Buffer.from(csvLine(columns.map(({ name }) => name))),
    rows: (rows) =>
      Buffer.from(
        rows.map((row) => csvLine(columns.map(({ kind }, at) => csvValue(kind, row[at])))).join(''),
      ),
    end: () => nothing,
  }
}

/** Numbers stay numbers, times are written in ISO 8601, and lists as JSON. */
function csvValue(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString()
  if (kind === 'money') return BigInt(String(value))
  return Array.isArray(value) ? JSON.stringify(value) : value
}

function ndjsonEncoder(columns: readonly ExportColumn[]): RowEncoder {
  const line = (row: readonly unknown[]) =>
    `${JSON.stringify(Object.fromEntries(columns.map(({ name, kind }, at) => [name, jsonValue(kind, row[at])])))}\n`
  return {
    begin: () => nothing,
    rows: (rows) => Buffer.from(rows.map(line).join('')),
    end: () => nothing,
  }
}

/** Money stays decimal digits, because a double is not precise enough. */
function jsonValue(kind: ColumnKind, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (kind !== 'array') return value
  try {
    return JSON.parse(String(value))
  } catch {
    return value
  }
}

// CSV by RFC 4180: https://www.rfc-editor.org/rfc/rfc4180

/** Returns a line of CSV. Null and undefined become empty cells. */
function csvLine(cells: readonly unknown[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/**
 * Spreadsheets run text that begins with `=`, `+`, `-` or `@` as a formula, even after a tab or a line break.
 * An apostrophe is added in front of such text. Numbers are not text and stay unchanged.
 */
function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const safe = /^[=+\-@\t\r\n]/.test(value) ? `'${value}` : value
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
