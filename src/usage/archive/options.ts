import type { S3StorageOptions } from '../../storage/s3-bucket.ts'

/**
 * The tables of the usage log that are archived, starting with the rows. `request_tags` can be derived from
 * `requests.tags`.
 */
export const archivedTables = ['requests', 'attempts', 'request_payloads', 'request_answers'] as const
export type ArchivedTable = (typeof archivedTables)[number]

/** In these tables, the whole row is content and can be long. */
export const contentTables: readonly string[] = [
  'request_payloads',
  'request_answers',
] satisfies ArchivedTable[]

/** Where the files are. */
export type ArchivePlace = { kind: 'files'; directory: string } | { kind: 's3'; bucket: S3StorageOptions }

/** The resource limits of DuckDB in one process. */
export interface DuckBounds {
  memoryBytes: number
  threads: number
}

/** The options of an archiver, sent as a message to its process. */
export interface ArchiverOptions {
  databaseUrl: string
  place: ArchivePlace
  /** A directory for the archiver alone, which empties it. */
  staging: string
  duck: DuckBounds
  /** The number of UTC days, besides today, that stay in Postgres; 0 means that nothing is archived. */
  hotDays: number
  /** The number of days after which rows are deleted from the archive. */
  rowDays: number
  /** The number of days after which bodies are deleted. */
  payloadDays: number
  /** The number of days after which captured answers are deleted. */
  answerDays: number
}
