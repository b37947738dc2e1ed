import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { Sql } from 'postgres'
import {
  type ArchivedPart,
  abandonPart,
  beginPart,
  type KnownPart,
  partsOfDay,
  type VerifiedFile,
  verifyPart,
} from './archived-days.ts'
import type { ArchivedColumn } from './columns.ts'
import type { Duck } from './duck.ts'
import { columnsOf, extractPartition } from './extract.ts'
import { sha256Of } from './sha256.ts'
import { type ArchiveStore, partName } from './store.ts'
import { type ArchiveSums, sameSums, sumUp } from './sums.ts'

/** What an archiver needs for its work. */
export interface Archiver {
  sql: Sql
  duck: Duck
  connection: DuckDBConnection
  store: ArchiveStore
  staging: string
  /** Called after each step. Tests end the process there. */
  reached(step: ArchiveStep): Promise<void> | void
}

export type ArchiveStep = 'begun' | 'extracted' | 'stored' | 'fetched' | 'summed' | 'verified' | 'dropped'

/** `done`: Postgres no longer has a partition for this day. `later`: the next pass tries again. */
export type DayOutcome = 'done' | 'later'

/**
 * Moves one day of one table into the archive: writes a file, stores it, reads it back and compares it with
 * the partition; only then is the partition dropped. Each step is recorded in `archived_days` before the
 * next, so if an archiver dies at any point, the next one finishes or repeats the day. Rejects if the stored
 * file differs from what was written.
 */
export async function archiveDay(archiver: Archiver, table: string, day: string): Promise<DayOutcome> {
  const { sql } = archiver
  for (const part of await partsOfDay(sql, table, day)) {
    const outcome = await finishBegun(archiver, part)
    if (outcome !== undefined) return outcome
  }
  const partition = `${table}_${day.replaceAll('-', '')}`
  const columns = await columnsOf(sql, partition)
  if (columns.length === 0) return 'done'
  const begun = await beginPart(sql, table, day, (part) => partName(table, day, part))
  await archiver.reached('begun')
  try {
    const file = await writeAndVerify(archiver, begun, async (path) => {
      await extractPartition(archiver, partition, columns, path)
      return { columns, sums: await sumsOf(sql, partition) }
    })
    if (!(await verifyPart(sql, begun, file))) return 'later'
  } catch (error) {
    await abandonPart(sql, begun, error instanceof Error ? error.message : String(error))
    throw error
  }
  await archiver.reached('verified')
  return (await dropPartition(archiver, begun)) ?? 'later'
}

/** Finishes what an earlier archiver began. Undefined if it left nothing to finish. */
export async function finishBegun(archiver: Archiver, part: KnownPart): Promise<DayOutcome | undefined> {
  if (part.state === 'writing') {
    await abandonPart(archiver.sql, part, 'the archiver ended before the file was verified')
    return undefined
  }
  return part.state === 'verified' ? await dropPartition(archiver, part) : undefined
}

/** Undefined if the partition's rows have changed, in which case the file is abandoned. */
async function dropPartition(archiver: Archiver, part: ArchivedPart): Promise<DayOutcome | undefined> {
  const { table, day, part: number } = part
  try {
    const [answer] = await archiver.sql<{ outcome: string }[]>`
      SELECT drop_archived_partition(${table}, ${day}::date, ${number}::integer) AS outcome`
    if (answer?.outcome === 'dropped') {
      await archiver.reached('dropped')
      return 'done'
    }
    if (answer?.outcome !== 'changed') return 'later'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === lockNotAvailable) return 'later'
    throw error
  }
  await abandonPart(archiver.sql, part, 'rows of this day arrived after the file was written')
  return undefined
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const lockNotAvailable = '55P03'

/** The expected content of a file. */
export interface Expected {
  columns: readonly ArchivedColumn[]
  sums: ArchiveSums
}

/** Writes and stores a file, reads it back, and compares it with what is expected. Rejects if they differ. */
export async function writeAndVerify(
  { connection, store, staging, reached }: Archiver,
  { table, day, part, location }: ArchivedPart & { location: string },
  write: (path: string) => Promise<Expected>,
): Promise<VerifiedFile> {
  const written = join(staging, `${table}-${day}-${part}.parquet`)
  const read = `${written}.back`
  try {
    return await storeAndVerify()
  } finally {
    // Removed here so that a pass over many days does not need disk space for all of them at once.
    for (const path of [written, read]) await rm(path, { force: true })
  }

  async function storeAndVerify(): Promise<VerifiedFile> {
    const { columns, sums } = await write(written)
    await reached('extracted')
    if (sums.rows === '0')
      return { location: null, rows: 0, sums, bytes: 0, sha256: null, firstAt: null, lastAt: null }
    const sha256 = await sha256Of(written)
    await store.put(location, written)
    await reached('stored')
    await store.fetch(location, read)
    await reached('fetched')
    const { size } = await stat(read)
    if ((await sha256Of(read)) !== sha256)
      throw new Error(`${location} is damaged: its SHA-256 differs from that of the stored file`)
    const facts = await sumUp(connection, [read], columns)
    await reached('summed')
    if (!sameSums(facts.sums, sums))
      throw new Error(`${location} does not match the rows in Postgres: ${difference(facts.sums, sums)}`)
    return { ...facts, location, bytes: size, sha256 }
  }
}

function difference(found: ArchiveSums, expected: ArchiveSums): string {
  const names = Object.keys({ ...found, ...expected }).filter((name) => found[name] !== expected[name])
  return names.map((name) => `${name} is ${found[name]}, expected ${expected[name]}`).join('; ')
}

async function sumsOf(sql: Sql, partition: string): Promise<ArchiveSums> {
  const [answer] = await sql<{ sums: ArchiveSums }[]>`SELECT archive_sums(${partition}) AS sums`
  return answer?.sums ?? {}
}
