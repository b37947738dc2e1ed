/**
 * The files of the archive, in a directory or in a bucket. Names look like
 * `requests/day=2026-08-01/part-0.parquet`.
 */
export interface ArchiveStore {
  /**
   * Stores a local file. Resolves when it is complete and durable; until then, no file of this name exists.
   */
  put(name: string, path: string): Promise<void>
  /**
   * Copies a file to a local path, until the signal aborts. Rejects with a MissingFileError if it does not
   * exist.
   */
  fetch(name: string, path: string, signal?: AbortSignal): Promise<void>
  /** The path where the file can be read directly; undefined if it must be fetched. */
  pathOf(name: string): string | undefined
  /**
   * Deletes a file and what an unfinished `put` of it has left. In a bucket, a lifecycle rule must delete the
   * parts of an unfinished upload. Does nothing if the file does not exist.
   */
  remove(name: string): Promise<void>
  close(): void
}

export class MissingFileError extends Error {
  override readonly name = 'MissingFileError'
}

/** The name of a file, in Hive layout, by which other engines find the days. */
export function partName(table: string, day: string, part: number): string {
  return `${folders[table] ?? table}/day=${day}/part-${part}.parquet`
}

const folders: Readonly<Record<string, string>> = { request_payloads: 'payloads', request_answers: 'answers' }
