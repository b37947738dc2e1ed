/**
 * The files of the archive, in a directory or in a bucket. A name is such as
 * `requests/day=2026-08-01/part-0.parquet`.
 */
export interface ArchiveStore {
  /** Store a local file. Resolves when it is whole and durable. Until then, there is no file of its name. */
  put(name: string, path: string): Promise<void>
  /** Copy it to a local path, until the signal aborts. Rejects a MissingFileError when it is not there. */
  fetch(name: string, path: string, signal?: AbortSignal): Promise<void>
  /** The path where it can be read in place; undefined: it must be fetched. */
  pathOf(name: string): string | undefined
  /**
   * Delete it, and the file that an unfinished `put` of it has left; in a bucket, its lifecycle rule deletes
   * the parts of an unfinished upload. Nothing happens when it is not there.
   */
  remove(name: string): Promise<void>
  close(): void
}

export class MissingFileError extends Error {
  override readonly name = 'MissingFileError'
}

/** The name of a file, in the layout of Hive: other engines find the days by it. */
export function partName(table: string, day: string, part: number): string {
  return `${folders[table] ?? table}/day=${day}/part-${part}.parquet`
}

const folders: Readonly<Record<string, string>> = { request_payloads: 'payloads', request_answers: 'answers' }
