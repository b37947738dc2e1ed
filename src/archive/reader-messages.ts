import { join } from 'node:path'
import type { StoredPart } from './object-cache.ts'
import type { ArchivePlace, DuckBounds } from './options.ts'

/** The first message to the process that reads the archive. */
export interface ReaderOptions {
  place: ArchivePlace
  /** Its own directory, for copies of objects, and for data that does not fit into DuckDB's memory. */
  cache: string
  cacheBytes: number
  duck: DuckBounds
}

/**
 * The directory for data that does not fit into DuckDB's memory. Each process deletes its own; the parent
 * deletes that of a killed one.
 */
export function scratchOf(cache: string, pid: number): string {
  return join(cache, `scratch-${pid}`)
}

/** A value of a query. Numbers are whole. */
export type Parameter = string | number | bigint | boolean | Date | readonly string[] | null

/** A query over files, which it knows as the table `archive`. Each parameter is a `?`. */
export interface ArchiveQuery {
  parts: readonly StoredPart[]
  /** Columns that the query uses, with their types in DuckDB. A file that lacks one has NULL there. */
  columns: readonly { name: string; type: string }[]
  select: string
  parameters: readonly Parameter[]
}

export type ToReader =
  | { kind: 'open'; options: ReaderOptions }
  | { kind: 'ask'; id: number; query: ArchiveQuery }
  | { kind: 'cancel'; id: number }

/** `missing`: a file is not there (any more). */
export type FromReader =
  | { id: number; rows: Record<string, unknown>[] }
  | { id: number; failed: string; missing: boolean }
