import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Archive } from '../../src/archive/archive.ts'
import { archivePass } from '../../src/archive/archive-pass.ts'
import type { ArchiverOptions } from '../../src/archive/options.ts'
import { ownRows } from '../../src/archive/own-filter.ts'
import { pageAcross } from '../../src/archive/across.ts'
import { ArchiveReader } from '../../src/archive/reader.ts'
import { listRequests, type Position, type RequestFilter } from '../../src/ledger/queries.ts'
import type { ListRow } from '../../src/ledger/row.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { seeded } from '../support/random.ts'
import { midnight, type Seed, seedDay } from './seeded-log.ts'

const tenants = [randomUUID(), randomUUID()]
const keys = [randomUUID(), randomUUID(), randomUUID()]

test('30 days are archived and dropped: a list over the border has the same rows in the same order', async () => {
  const bed = await aBed()
  for (let day = 0; day <= 35; day++) await seedDay(bed.sql, midnight(day), 40, bed.seed)
  const filters: RequestFilter[] = [
    {},
    { model: '模型' },
    { statusRange: { least: 400, most: 599 } },
    { tags: ['a', '標籤'] },
    { endUser: 'ボブ', outcome: 'failed' },
    { session: 's1', endpoint: '/v1/messages' },
    { from: new Date(midnight(20) + 3_600_000), to: new Date(midnight(10)) },
  ]
  const before = await Promise.all(filters.map((filter) => bed.all(filter)))
  const pass = await archivePass(bed.options)
  expect(pass).toMatchObject({ failed: [], postponed: 0 })
  expect(pass?.archived).toBe(3 * 30)
  const [left] = await bed.sql`SELECT min(created_at) AS at FROM requests`
  expect(left?.at.getTime()).toBeGreaterThanOrEqual(midnight(5))
  for (const [index, filter] of filters.entries()) {
    const after = await bed.all(filter)
    expect(after.length).toBeGreaterThan(0)
    expect(after, JSON.stringify(filter)).toEqual(before[index])
  }
}, 120_000)

async function aBed(change: Partial<ArchiverOptions> = {}) {
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
    ...change,
  }
  const reader = new ArchiveReader(
    { place: options.place, cache: join(directory, 'cache'), cacheBytes: 1 << 30, duck: options.duck },
    makeLog('silent'),
  )
  onTestFinished(async () => {
    reader.close()
    await database.close()
    await drop()
    rmSync(directory, { recursive: true, force: true })
  })
  const archive = new Archive({ database, reader, readMs: 20_000, turnBytes: 1 << 30 })
  const seed: Seed = { tenants, keys, random: seeded(7) }
  const scope = { tenantId: tenants[0] ?? '', keyId: null }
  const page = (filter: RequestFilter, after: Position | undefined, limit: number) =>
    pageAcross({
      hot: (most) => listRequests(database.sql, scope, filter, after, most),
      archive,
      where: ownRows(scope, filter),
      from: filter.from,
      to: filter.to,
      after,
      limit,
      nowMs: Date.now(),
    })
  return {
    options,
    database,
    archive,
    directory,
    seed,
    sql: database.sql,
    async all(filter: RequestFilter, limit = 37): Promise<ListRow[]> {
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
