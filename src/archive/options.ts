import type { S3StorageOptions } from '../images/storage/s3-bucket.ts'

/**
 * The tables of the usage log that go into the archive, with the rows first. `request_tags` follows from
 * `requests.tags`.
 */
export const archivedTables = ['requests', 'attempts', 'request_payloads', 'request_answers'] as const
export type ArchivedTable = (typeof archivedTables)[number]

/** In these tables, the whole row is content, and long. */
export const contentTables: readonly string[] = [
  'request_payloads',
  'request_answers',
] satisfies ArchivedTable[]

/** Where the files are. */
export type ArchivePlace = { kind: 'files'; directory: string } | { kind: 's3'; bucket: S3StorageOptions }

/** Bounds of DuckDB in one process. */
export interface DuckBounds {
  memoryBytes: number
  threads: number
}

/** The options of an archiver, as a message to its process. */
export interface ArchiverOptions {
  databaseUrl: string
  place: ArchivePlace
  /** A directory of its own, which it empties. */
  staging: string
  duck: DuckBounds
  /** Days (UTC) that Postgres keeps, besides today. 0: nothing is archived. */
  hotDays: number
  /** Days after which rows are deleted from the archive. */
  rowDays: number
  /** Days after which bodies are. */
  payloadDays: number
  /** Days after which captured answers are. */
  answerDays: number
}
