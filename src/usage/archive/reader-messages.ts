import { join } from 'node:path'
import type { StoredPart } from './object-cache.ts'
import type { ArchivePlace, DuckBounds } from './options.ts'

/** The first message to the reader process. */
export interface ReaderOptions {
  place: ArchivePlace
  /** A directory for the reader's use: copies of objects and data that does not fit into DuckDB's memory. */
  cache: string
  cacheBytes: number
  duck: DuckBounds
}

/**
 * The directory for data that does not fit into DuckDB's memory. Each process deletes its own; if it was
 * killed, its parent deletes it.
 */
export function scratchOf(cache: string, pid: number): string {
  return join(cache, `scratch-${pid}`)
}

/** A parameter of a query. Numbers must be integers. */
export type Parameter = string | number | bigint | boolean | Date | readonly string[] | null

/** A query over files, which appear in it as the table `archive`. Each parameter is a `?`. */
export interface ArchiveQuery {
  parts: readonly StoredPart[]
  /** The columns that the query uses, with their DuckDB types. If a file lacks one, its value is NULL. */
  columns: readonly { name: string; type: string }[]
  select: string
  parameters: readonly Parameter[]
}

export type ToReader =
  | { kind: 'open'; options: ReaderOptions }
  | { kind: 'ask'; id: number; query: ArchiveQuery }
  | { kind: 'cancel'; id: number }

/** `missing`: a file does not exist (any more). */
export type FromReader =
  | { id: number; rows: Record<string, unknown>[] }
  | { id: number; failed: string; missing: boolean }
