import { expect, test } from 'vitest'
import { filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { readConfig } from '../../src/config/config.ts'
import { requestColumns } from '../../src/journal/row.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import { missingDuck } from '../../src/usage/archive/duck.ts'
import { findAnywhere } from '../../src/usage/archive/find-anywhere.ts'
import { requireDuck } from '../../src/usage/archive/open-archive.ts'
import { findOwn, summariseOwn } from '../../src/usage/archive/own-log.ts'
import type { LogRow } from '../../src/usage/log/row-tests.ts'
import { findBeside, type RequestDetail } from '../../src/usage/queries.ts'
import { aBed } from './archive-bed.ts'
import { midnight, seedDay } from './seeded-log.ts'

const terms = { owner: 'test', signal: new AbortController().signal }

test('a request of an archived day has its row, attempts, body and answer as before', async () => {
  const bed = await aBed()
  const ids = [
    ...(await seedDay(bed.sql, midnight(9), 40, bed.seed)),
    ...(await seedDay(bed.sql, midnight(2), 5, bed.seed)),
  ]
  const log = { database: bed.database, archive: bed.archive, clock: systemClock }
  const before = []
  for (const id of ids) before.push(await findOwn(log, bed.scope, id, terms))
  expect(await archivePass(bed.options)).toMatchObject({ archived: 4 })
  expect(await bed.countOf('requests', midnight(9))).toBe(0)
  const after = []
  for (const id of ids) after.push(await findOwn(log, bed.scope, id, terms))
  expect(after.filter((row) => row !== undefined).length).toBeGreaterThan(10)
  expect(
    after.some((row) => (row?.payload?.body.length ?? 0) > 20 && (row?.attempt_rows.length ?? 0) > 1),
  ).toBe(true)
  expect(after.some((row) => (row?.answer?.answer.length ?? 0) > 5 && row?.answer?.truncated === false)).toBe(
    true,
  )
  expect(after).toEqual(before)
})

test('an admin finds a request of any tenant as before, and a member that of its own', async () => {
  const bed = await aBed()
  const ids = [
    ...(await seedDay(bed.sql, midnight(9), 20, bed.seed)),
    ...(await seedDay(bed.sql, midnight(2), 3, bed.seed)),
  ]
  const asked = async (tenantId: string | undefined) => {
    const found = []
    for (const id of ids)
      found.push(await findAnywhere({ archive: bed.archive, ...needsOf(bed, id, tenantId) }, id, tenantId))
    return found
  }
  const before = [await asked(undefined), await asked(bed.scope.tenantId)]
  expect(await archivePass(bed.options)).toMatchObject({ archived: 4 })
  expect([await asked(undefined), await asked(bed.scope.tenantId)]).toEqual(before)
  expect(before[0]?.every((found) => found !== undefined)).toBe(true)
  expect(before[1]?.some((found) => found === undefined)).toBe(true)
  expect(before[0]?.some((found) => (found?.detail.answer?.answer.length ?? 0) > 0)).toBe(true)
  expect(before[0]?.some((found) => found?.credentials.length === 2)).toBe(true)
})

/** What an admin's endpoint asks Postgres. */
function needsOf({ sql }: Awaited<ReturnType<typeof aBed>>, id: string, tenantId: string | undefined) {
  return {
    async recent() {
      const [row] = await sql<LogRow[]>`
        SELECT ${sql.unsafe(requestColumns.map(({ name }) => name).join(', '))} FROM requests
        WHERE id = ${id} ${tenantId === undefined ? sql`` : sql`AND tenant_id = ${tenantId}`}`
      if (row === undefined) return undefined
      const { price, payload, answer, attempt_rows } = await findBeside(sql, id, row.price_id)
      const shown = requestColumns
        .filter(({ shown }) => shown !== 'nowhere')
        .map(({ name }) => [name, row[name]])
      const detail: RequestDetail = { ...Object.fromEntries(shown), price, payload, answer, attempt_rows }
      return { row, detail, credentials: attempt_rows.map(() => null) }
    },
    beside: (priceId: string | null) => findBeside(sql, id, priceId),
  }
}

test('totals over the border are those from before, beyond 2^53', async () => {
  const bed = await aBed()
  for (let day = 3; day <= 12; day++) await seedDay(bed.sql, midnight(day), 40, bed.seed)
  const log = { database: bed.database, archive: bed.archive, clock: systemClock }
  const sums = (model?: string) =>
    summariseOwn(
      log,
      bed.scope,
      {
        from: new Date(midnight(11) + 5_000_000),
        to: new Date(midnight(3)),
        ...filterFrom(filterQuery.parse(model === undefined ? {} : { model })),
      },
      terms,
    )
  const sorted = (rows: Awaited<ReturnType<typeof sums>>) => rows.map((row) => JSON.stringify(row)).sort()
  const before = [sorted(await sums()), sorted(await sums('模型'))]
  expect(await archivePass(bed.options)).toMatchObject({ failed: [], postponed: 0 })
  expect([sorted(await sums()), sorted(await sums('模型'))]).toEqual(before)
  expect(before[0]?.some((row) => /"cost_nano":"\d{17,}"/.test(row))).toBe(true)
})

test('a page whose days no reader can open ends before them, and the next one says why', async () => {
  const bed = await aBed({}, { program: new URL('../support/no-duck-process.ts', import.meta.url) })
  await seedDay(bed.sql, midnight(9), 20, bed.seed)
  await seedDay(bed.sql, midnight(2), 20, bed.seed)
  const hot = await bed.all({ from: new Date(midnight(2)) })
  expect(await archivePass(bed.options)).toMatchObject({ archived: 4 })
  const first = await bed.page({}, undefined, 50)
  expect(first.rows).toEqual(hot)
  await expect(bed.page({}, first.next ?? undefined, 50)).rejects.toMatchObject({
    reason: 'archive_without_duckdb',
  })
})

test('a process that shall archive without DuckDB does not start', () => {
  const missing = () => {
    throw new Error('not found')
  }
  expect(() => requireDuck(readConfig({ HOT_DAYS: '7' }), missing)).toThrow(missingDuck)
  expect(() => requireDuck(readConfig({}), missing)).not.toThrow()
  expect(() => requireDuck(readConfig({ HOT_DAYS: '7', ROLE: 'api' }), missing)).not.toThrow()
  expect(() => requireDuck(readConfig({ HOT_DAYS: '7' }))).not.toThrow()
})

test('HOT_DAYS must be less than the days after which rows are deleted', () => {
  expect(() => readConfig({ HOT_DAYS: '90' })).toThrow(
    'HOT_DAYS: must be less than REQUEST_RETENTION_DAYS (90)',
  )
  expect(() => readConfig({ HOT_DAYS: '400', ARCHIVE_DAYS: '365' })).toThrow('ARCHIVE_DAYS (365)')
  expect(readConfig({ HOT_DAYS: '90', ARCHIVE_DAYS: '365' }).bounds.hotDays).toBe(90)
})

test('a query that its caller leaves ends, and the next one is answered', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(9), 20, bed.seed)
  await archivePass(bed.options)
  const [part] = await bed.archive.parts('requests', {})
  const parts = part === undefined ? [] : [part]
  const columns = [{ name: 'id', type: 'VARCHAR' }]
  const leaving = new AbortController()
  const endless = bed.reader.ask(
    {
      parts,
      columns,
      select: 'SELECT count(*) AS n FROM range(1000000000) a, range(1000000) b',
      parameters: [],
    },
    { withinMs: 60_000, signal: leaving.signal },
  )
  leaving.abort(new Error('the client left'))
  await expect(endless).rejects.toThrow('the client left')
  const late = bed.reader.ask(
    {
      parts,
      columns,
      select: 'SELECT count(*) AS n FROM range(1000000000) a, range(1000000) b',
      parameters: [],
    },
    { withinMs: 200 },
  )
  await expect(late).rejects.toMatchObject({ reason: 'archive_late' })
  expect((await bed.all({})).length).toBeGreaterThan(0)
})
