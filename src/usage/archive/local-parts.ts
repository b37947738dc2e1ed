import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Archiver } from './archive-day.ts'
import { type KnownPart, partsOfDay } from './archived-days.ts'
import { literal } from './columns.ts'
import { sha256Of } from './sha256.ts'

/** The files of a day that are in force, with local copies. */
export interface LocalParts {
  parts: KnownPart[]
  paths: string[]
}

/** Rejects if a file is damaged. */
export async function localParts(
  { sql, store, staging }: Archiver,
  table: string,
  day: string,
): Promise<LocalParts> {
  const parts = (await partsOfDay(sql, table, day)).filter(({ state }) => state === 'dropped')
  const paths: string[] = []
  for (const { location, sha256, part } of parts) {
    if (location === null) continue
    const path = join(staging, `${table}-${day}-${part}.former.parquet`)
    await store.fetch(location, path)
    if ((await sha256Of(path)) !== sha256)
      throw new Error(`${location} is damaged: its SHA-256 differs from that of the stored file`)
    paths.push(path)
  }
  return { parts, paths }
}

/** Deletes the copies, so that the staging directory never holds all days at once. */
export async function removeCopies({ paths }: LocalParts): Promise<void> {
  for (const path of paths) await rm(path, { force: true })
}

/** The files as a DuckDB table. */
export function parquetTable(paths: readonly string[]): string {
  return `read_parquet([${paths.map(literal).join(', ')}], union_by_name = true)`
}
