import { randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { onTestFinished } from 'vitest'
import type { ListRow } from '../../src/journal/row.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { pageAcross } from '../../src/usage/archive/across.ts'
import { Archive } from '../../src/usage/archive/archive.ts'
import { type ArchivedTable, type ArchiverOptions, archivedTables } from '../../src/usage/archive/options.ts'
import { listedRows } from '../../src/usage/archive/own-log.ts'
import { ArchiveReader } from '../../src/usage/archive/reader.ts'
import { listRequests, type Position, type TimedFilter } from '../../src/usage/queries.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { seeded } from '../support/random.ts'
import { patienceMs } from '../support/until.ts'
import { dayMs, type Seed } from './seeded-log.ts'

const tenants = [randomUUID(), randomUUID()]
const keys = [randomUUID(), randomUUID(), randomUUID()]

/** A database with an archive beside it. Postgres keeps five days. */
export async function aBed(
  change: Partial<ArchiverOptions> = {},
  { cacheBytes = 1 << 30, program }: { cacheBytes?: number; program?: URL } = {},
) {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url)
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-archive-'))
  const options: ArchiverOptions = {
    databaseUrl: url,
    place: { kind: 'files', directory: join(directory, 'archive') },
    staging: join(directory, 'staging'),
    duck: { memoryBytes: 256 * 1024 * 1024, threads: 1 },
    hotDays: 5,
    rowDays: 90,
    payloadDays: 90,
    answerDays: 90,
    ...change,
  }
  const reader = new ArchiveReader(
    { place: options.place, cache: join(directory, 'cache'), cacheBytes, duck: options.duck },
    makeLog('silent'),
    program,
  )
  onTestFinished(async () => {
    reader.close()
    await database.close()
    await drop()
    rmSync(directory, { recursive: true, force: true })
  })
  // A page ends early when half of it has passed, which on a busy machine 20 seconds do.
  const archive = new Archive({ database, reader, readMs: 4 * patienceMs, turnBytes: cacheBytes })
  const seed: Seed = { tenants, keys, random: seeded(7) }
  const scope = { tenantId: tenants[0] ?? '', keyId: null }
  const page = (query: Partial<TimedFilter>, after: Position | undefined, limit: number) => {
    const filter = { conditions: [], ...query }
    return pageAcross({
      hot: (most) => listRequests(database.sql, scope, filter, after, most),
      archive,
      where: listedRows(scope, filter),
      from: filter.from,
      to: filter.to,
      after,
      limit,
      nowMs: Date.now(),
    })
  }
  return {
    options,
    database,
    archive,
    reader,
    page,
    directory,
    seed,
    scope,
    sql: database.sql,
    /** Rows of a day that Postgres has. */
    async countOf(table: ArchivedTable, startMs: number): Promise<number> {
      const [row] = await database.sql<{ rows: number }[]>`
        SELECT count(*)::integer AS rows FROM ${database.sql(table)}
        WHERE created_at >= ${new Date(startMs)} AND created_at < ${new Date(startMs + dayMs)}`
      return row?.rows ?? 0
    },
    /** All rows of each table, those of Postgres and those that only the archive has. */
    async counts(): Promise<Record<string, number>> {
      const counts: Record<string, number> = {}
      for (const table of archivedTables) {
        const [hot] = await database.sql<
          { rows: number }[]
        >`SELECT count(*)::integer AS rows FROM ${database.sql(table)}`
        counts[table] = hot?.rows ?? 0
        const name = table === 'requests' ? 'id' : 'request_id'
        for (const part of await archive.parts(table, {})) {
          const [cold] = await reader.ask(
            {
              parts: [part],
              columns: [{ name, type: 'VARCHAR' }],
              select: `SELECT count(${name})::INTEGER AS rows FROM archive`,
              parameters: [],
            },
            { withinMs: 10_000 },
          )
          counts[table] += Number(cold?.rows)
        }
      }
      return counts
    },
    async bodiesOf(ids: readonly string[]): Promise<Map<string, string>> {
      const bodies = new Map<string, string>()
      for (const id of ids) bodies.set(id, (await archive.payload(id))?.body ?? '')
      return bodies
    },
    body: async (id: string) => (await archive.payload(id))?.body ?? '',
    /** The files in the archive's directory. */
    files: () =>
      readdirSync(join(directory, 'archive'), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(join(directory, 'archive'), join(entry.parentPath, entry.name)))
        .sort(),
    /** The files in the cache. */
    copies: () => readdirSync(join(directory, 'cache/files')),
    forgetCopies: () => rmSync(join(directory, 'cache/files'), { recursive: true }),
    /** The files that are in force. */
    async locations(): Promise<string[]> {
      const rows = await database.sql<{ location: string }[]>`
        SELECT location FROM archived_days WHERE state = 'dropped' AND location IS NOT NULL`
      return rows.map(({ location }) => location).sort()
    },
    /** All rows of the tenant with the filter, page by page. */
    async all(filter: Partial<TimedFilter>, limit = 37): Promise<ListRow[]> {
      const rows: ListRow[] = []
      let after: Position | undefined
      do {
        const found = await page(filter, after, limit)
        rows.push(...found.rows)
        after = found.next ?? undefined
      } while (after !== undefined)
      return rows
    },
  }
}
