import type { Sql } from 'postgres'
import type { Database } from '../../db/database.ts'
import type { ImageStorage } from '../../storage/storage.ts'
import type { Removal } from '../archive/remove-archived.ts'
import type { Erasure } from './erasure-queries.ts'

/**
 * Removes data from the archive of the usage log, like removeArchived(). Null if the archive is busy, in
 * which case the call must be repeated later.
 */
export type RemoveArchived = (
  days: { from: string; to: string },
  removals: readonly Removal[],
  signal?: AbortSignal,
) => Promise<Readonly<Record<string, number>> | null>

export interface ErasureNeeds {
  database: Pick<Database, 'jobs'>
  storage: Pick<ImageStorage, 'remove' | 'isShared'>
  /** The storage of files uploaded by clients. */
  files?: Pick<ImageStorage, 'remove'>
  /** Makes all processes ship their journals. False if one of them did not finish in time. */
  shipAll(): Promise<boolean>
  /** Undefined if there is no archive. */
  archive?: RemoveArchived
  /** How long after a request's arrival all of its data is in Postgres. */
  settleMs: number
  /** A process whose last heartbeat is older than this counts as silent. */
  silentMs: number
  /** The maximum number of rows erased in one transaction. */
  batchRows: number
  /** How long a job that a process is working on is protected from other processes. */
  leaseMs: number
  /** How often a waiting job checks whether it can continue. */
  waitMs: number
}

/** A job in progress in this process. */
export interface Work extends ErasureNeeds {
  job: Erasure
  ask<T>(query: (sql: Sql) => PromiseLike<T>): Promise<T>
  signal: AbortSignal | undefined
}
