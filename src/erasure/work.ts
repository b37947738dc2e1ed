import type { Sql } from 'postgres'
import type { Removal } from '../archive/remove-archived.ts'
import type { Database } from '../db/database.ts'
import type { ImageStorage } from '../images/storage/storage.ts'
import type { Erasure } from './erasure-queries.ts'

/**
 * Removes from the archive of the usage log, as removeArchived(). Null: the archive is busy, so call it again
 * later.
 */
export type RemoveArchived = (
  days: { from: string; to: string },
  removals: readonly Removal[],
  signal?: AbortSignal,
) => Promise<Readonly<Record<string, number>> | null>

export interface ErasureNeeds {
  database: Pick<Database, 'jobs'>
  storage: Pick<ImageStorage, 'remove' | 'isShared'>
  /** The bytes of files that clients have uploaded. */
  files?: Pick<ImageStorage, 'remove'>
  /** Have all processes ship their journals; false: one of them did not in time. */
  shipAll(): Promise<boolean>
  /** Undefined: there is no archive. */
  archive?: RemoveArchived
  /** How long after a request's arrival all that it leaves is in Postgres. */
  settleMs: number
  /** A process whose heartbeat is older counts as silent. */
  silentMs: number
  /** Rows that one transaction erases. */
  batchRows: number
  /** No one takes a job from a process that has worked on it within this time. */
  leaseMs: number
  /** Time between two looks at what a job waits for. */
  waitMs: number
}

/** A job under way in this process. */
export interface Work extends ErasureNeeds {
  job: Erasure
  ask<T>(query: (sql: Sql) => PromiseLike<T>): Promise<T>
  signal: AbortSignal | undefined
}
