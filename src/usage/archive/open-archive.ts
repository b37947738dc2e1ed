import { join, resolve } from 'node:path'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../db/database.ts'
import type { Log } from '../../telemetry/log.ts'
import { Archive } from './archive.ts'
import { missingDuck } from './duck.ts'
import type { ArchivePlace, ArchiverOptions } from './options.ts'
import { ArchiveReader } from './reader.ts'

/** Opens the archive for reading. The reader process is started by the first query that needs it. */
export function openArchive(
  config: Config,
  { dataDir, database, log }: { dataDir: string; database: Pick<Database, 'reads'>; log: Log },
): { archive: Archive; close(): void } {
  const { archiveCacheBytes, archiveReadMs } = config.bounds
  const reader = new ArchiveReader(
    {
      place: placeOf(config, dataDir),
      cache: join(dataDir, 'archive-cache'),
      cacheBytes: archiveCacheBytes,
      duck: duckOf(config),
    },
    log,
  )
  // A query can use half of the cache, so that two queries do not evict each other's files.
  const turnBytes = Math.ceil(archiveCacheBytes / 2)
  return {
    archive: new Archive({ database, reader, readMs: archiveReadMs, turnBytes }),
    close: () => reader.close(),
  }
}

/** The options of the archiver. If `hotDays` is 0, it only deletes files past their retention. */
export function archiverOf(config: Config, databaseUrl: string): ArchiverOptions {
  const { hotDays, archiveDays, requestRetentionDays, payloadRetentionDays, answerRetentionDays } =
    config.bounds
  const dataDir = resolve(config.dataDir)
  return {
    databaseUrl,
    place: placeOf(config, dataDir),
    staging: join(dataDir, 'archive-staging'),
    duck: duckOf(config),
    hotDays,
    rowDays: archiveDays === 0 ? requestRetentionDays : archiveDays,
    payloadDays: payloadRetentionDays,
    answerDays: answerRetentionDays,
  }
}

/** The number of days after which a row is deleted from Postgres, archived or not. */
export function rowDaysOf({ hotDays, archiveDays, requestRetentionDays }: Config['bounds']): number {
  return hotDays === 0 || archiveDays === 0 ? requestRetentionDays : archiveDays
}

/** Throws an Error for the operator if the settings enable the archive but DuckDB is not installed. */
export function requireDuck(config: Config, find: (name: string) => unknown = import.meta.resolve): void {
  if (config.bounds.hotDays === 0 || config.role === 'api') return
  try {
    find('@duckdb/node-api')
  } catch (cause) {
    throw new Error(`HOT_DAYS is set. ${missingDuck}`, { cause })
  }
}

function placeOf(config: Config, dataDir: string): ArchivePlace {
  const { archiveDir, s3Bucket, archiveS3Bucket, archiveS3Prefix: prefix } = config
  if (archiveDir !== undefined) return { kind: 'files', directory: resolve(archiveDir) }
  const bucket = archiveS3Bucket ?? s3Bucket
  if (bucket === undefined) return { kind: 'files', directory: join(dataDir, 'archive') }
  const {
    s3Endpoint: endpoint,
    s3Region: region,
    s3AccessKeyId: accessKeyId,
    s3SecretAccessKey: secretAccessKey,
  } = config
  return { kind: 's3', bucket: { bucket, endpoint, region, prefix, accessKeyId, secretAccessKey } }
}

function duckOf({ bounds }: Config) {
  return { memoryBytes: bounds.archiveMemoryBytes, threads: bounds.archiveThreads }
}
