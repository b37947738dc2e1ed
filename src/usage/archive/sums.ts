import type { DuckDBConnection } from '@duckdb/node-api'
import { type ArchivedColumn, literal, quotedName } from './columns.ts'

/**
 * The number of rows, and the count and sum of the values of each column, as computed by the SQL function
 * archive_sums().
 */
export type ArchiveSums = Record<string, string>

export interface FileFacts {
  rows: number
  sums: ArchiveSums
  firstAt: Date | null
  lastAt: Date | null
}

/** Reads Parquet files and sums up the rows that match `which`. Rejects if a file is incomplete. */
export async function sumUp(
  connection: DuckDBConnection,
  paths: readonly string[],
  columns: readonly ArchivedColumn[],
  which = 'true',
): Promise<FileFacts> {
  const sums = columns.map(
    (column) => `concat(count(${quotedName(column.name)}), ' ', coalesce(sum(${summed(column)}), 0))`,
  )
  const read = await connection.runAndReadAll(
    `SELECT count(*)::VARCHAR, epoch_ms(min(created_at)), epoch_ms(max(created_at)), ${sums.join(', ')}
     FROM read_parquet([${paths.map(literal).join(', ')}], union_by_name = true) WHERE ${which}`,
  )
  const [row = []] = read.getRowsJS()
  const [rows, first, last, ...values] = row
  const named = columns.map(({ name }, index) => [name, String(values[index])])
  return {
    rows: Number(rows),
    sums: { rows: String(rows), ...Object.fromEntries(named) },
    firstAt: momentOf(first),
    lastAt: momentOf(last),
  }
}

function momentOf(value: unknown): Date | null {
  return typeof value === 'bigint' ? new Date(Number(value)) : null
}

function summed({ name, type }: ArchivedColumn): string {
  const column = quotedName(name)
  switch (type) {
    case 'boolean':
      return `${column}::INTEGER`
    case 'smallint':
    case 'integer':
    case 'bigint':
      return column
    case 'uuid':
      return `('0x' || right(replace(${column}, '-', ''), 15))::BIGINT`
    case 'timestamp with time zone':
      return `epoch_us(${column})`
    case 'text[]':
      return `len(${column}) + coalesce(strlen(array_to_string(${column}, '')), 0)`
    default:
      return `strlen(${column})`
  }
}

export function sameSums(one: ArchiveSums, other: ArchiveSums): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
