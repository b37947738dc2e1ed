import { expect, test } from 'vitest'
import { filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import { olderDays } from '../../src/usage/archive/older-days.ts'
import { askLogFor } from '../../src/usage/log/ask.ts'
import { countRequests } from '../../src/usage/log/count.ts'
import { groupErrors } from '../../src/usage/log/error-groups.ts'
import type { ErrorsBy } from '../../src/usage/log/error-rows.ts'
import { countFacets, facetColumns } from '../../src/usage/log/facets.ts'
import { firstRows } from '../../src/usage/log/first-rows.ts'
import { greatestRows } from '../../src/usage/log/greatest.ts'
import { logSumParts, sumLog } from '../../src/usage/log/log-sums.ts'
import { withIds } from '../../src/usage/log/names-queries.ts'
import { OlderDaysError, OlderTooLong } from '../../src/usage/log/older-days.ts'
import type { Measure, Order } from '../../src/usage/log/slice.ts'
import { logSpan } from '../../src/usage/log/span-queries.ts'
import { type AskLog, type Walk, walkRequests } from '../../src/usage/log/walk.ts'
import { manualClock } from '../support/manual-clock.ts'
import { aBed } from './archive-bed.ts'
import { dayMs, midnight, seedDay } from './seeded-log.ts'

/** The log of the admins over the border: before a day is archived and after, it has the same rows and counts. */

type Bed = Awaited<ReturnType<typeof aBed>>

/** It stands still, so that a page ends where the test says, however slow the machine is. */
const clock = manualClock(Date.now())

function logOf(bed: Bed, older = olderDays(bed.archive)) {
  const ask = askLogFor(bed.database, 'test')
  const read = (query: Record<string, string | string[]>) =>
    withIds(bed.sql, filterFrom(filterQuery.parse(query)))
  const span = async () => {
    const { from, to } = await logSpan(bed.sql, { conditions: [] }, clock.now())
    return { clock, from, to, older }
  }
  return {
    ask,
    read,
    span,
    /** All rows, page by page. */
    async pages(query: Record<string, string | string[]>, order: Order, limit: number) {
      const walk: Omit<Walk, 'rowsMax'> = { filter: await read(query), order, ...(await span()) }
      const rows = []
      let cursor: string | undefined
      for (;;) {
        const batches = walkRequests(ask, { ...walk, cursor, rowsMax: limit })
        const page = await firstRows(batches, { clock, most: limit, withinMs: 60_000, order })
        rows.push(...page.rows)
        if (page.cursor === null) return rows
        expect(page.rows).toHaveLength(limit)
        cursor = page.cursor
      }
    },
    async greatest(query: Record<string, string | string[]>, measure: Measure, most: number) {
      const walk = { filter: await read(query), ...(await span()) }
      return await greatestRows(ask, walk, { measure, most, withinMs: 60_000 })
    },
    async counts(query: Record<string, string | string[]>, bucketMs: number) {
      const walk = { filter: await read(query), ...(await span()) }
      const { requests, done, buckets } = await countRequests(ask, walk, { bucketMs, withinMs: 60_000 })
      return { requests, done, buckets }
    },
    async facets(query: Record<string, string | string[]>) {
      const walk = { filter: await read(query), ...(await span()) }
      const { requests, done, values } = await countFacets(ask, walk, {
        columns: facetColumns,
        withinMs: 60_000,
      })
      return { requests, done, values }
    },
    async sums(query: Record<string, string | string[]>) {
      const walk = { filter: await read(query), ...(await span()) }
      return await sumLog(ask, walk, { parts: logSumParts, groupsMax: 100_000 })
    },
    async errors(query: Record<string, string | string[]>, by: ErrorsBy) {
      const walk = { filter: await read(query), ...(await span()) }
      return await groupErrors(ask, walk, { by, withinMs: 60_000 })
    },
  }
}

const queries: Record<string, string | string[]>[] = [
  {},
  { model: '模型' },
  { requested_model: ['gpt-main', 'claude'] },
  { served_model: '' },
  { channel: ['频道', ''] },
  { not_channel: 'main' },
  { endpoint: '/v1/messages', stream: 'true' },
  { status: ['4xx', '500'] },
  { outcome: ['failed', 'refused'] },
  { error: 'エラー "QUOTED"' },
  { not_error: 'エラー' },
  { user_agent: ['', '漢字'] },
  { client_address: ['10.1.2.0/26', '2001:db8::/45'] },
  { not_client_address: '10.1.0.0/16' },
  { note: 'reason' },
  { session: 's1', end_user: 'ボブ' },
  { tag: ['a', '標籤'] },
  { tag: '' },
  { not_tag: ['a', 'b c'] },
  { cost_usd: ['9007199.254740993..9007199.254741', ''] },
  { input_tokens: '..1000000000', output_tokens: '100..' },
  { not_input_tokens: '1000..' },
  { folded: '2..3' },
]

const addresses = ['10.1.2.3', '10.1.2.77', '10.2.0.1', '2001:db8::1', '2001:db8:8::1', '']

test('30 archived days: the list, every filter, deep pages and the histogram are those of before', async () => {
  const bed = await aBed()
  // Without a tenant, a key or a filter for names: these are in Postgres, wherever the rows are.
  for (let day = 1; day <= 36; day++) await seedDay(bed.sql, midnight(day), 24, bed.seed)
  await bed.sql`
    UPDATE requests SET client_address = (${addresses}::text[])[1 + abs(hashtext(id::text)) % ${addresses.length}]`
  // No model serves a request that names none.
  await bed.sql`UPDATE requests SET served_model = NULL WHERE requested_model IS NULL`
  const [some] = await bed.sql<{ id: string }[]>`SELECT id FROM requests ORDER BY id OFFSET 100 LIMIT 1`
  const all = [...queries, { tenant_id: bed.scope.tenantId }, { request_id: some?.id ?? '' }]
  const log = logOf(bed)
  const asked = async () => {
    const found = []
    for (const [index, query] of all.entries())
      found.push({
        query,
        newest: await log.pages(query, 'newest', 1_000),
        oldest: index % 6 === 0 ? await log.pages(query, 'oldest', 100) : [],
        hours: await log.counts(query, 3_600_000),
        facets: await log.facets(query),
      })
    const { rows: costliest, done } = await log.greatest({}, 'cost_nano', 40)
    expect(done).toBe(true)
    const byAll = [await log.sums({}), await log.sums({ tag: 'a' })].map((groups) =>
      groups.map((group) => JSON.stringify(group)).sort(),
    )
    const sums = { costliest, days: await log.counts({}, dayMs), byAll }
    return { found, deep: await log.pages({}, 'newest', 19), ...sums }
  }
  const before = await asked()
  expect(await archivePass(bed.options)).toMatchObject({ failed: [], postponed: 0 })
  expect(await bed.countOf('requests', midnight(6))).toBe(0)
  expect((await bed.archive.parts('requests', {})).length).toBe(31)
  const after = await asked()
  expect(after.days).toEqual(before.days)
  expect(after.costliest).toEqual(before.costliest)
  expect(after.byAll).toEqual(before.byAll)
  expect(after.byAll[0]?.length).toBeGreaterThan(after.byAll[1]?.length ?? 0)
  expect(after.costliest.length).toBe(40)
  expect(after.deep).toEqual(before.deep)
  expect(after.deep.length).toBe(36 * 24)
  for (const [index, found] of after.found.entries()) {
    const ids = (rows: { id: string }[] | undefined) => rows?.map(({ id }) => id)
    expect(ids(found.newest), JSON.stringify(found.query)).toEqual(ids(before.found[index]?.newest))
    expect(found, JSON.stringify(found.query)).toEqual(before.found[index])
    expect(found.newest.length, JSON.stringify(found.query)).toBeGreaterThan(0)
    expect(found.hours.done).toBe(true)
  }
}, 240_000)

test('errors in groups are the same before and after their days are archived', async () => {
  const bed = await aBed()
  for (const day of [2, 8, 9]) await seedDay(bed.sql, midnight(day), 40, bed.seed)
  await bed.sql`
    UPDATE requests SET error_kind = (ARRAY['rate_limited', 'upstream_error'])[1 + abs(hashtext(id::text)) % 2],
      error_reason = (ARRAY['request_rate_reached', 'upstream_failed', NULL])[1 + abs(hashtext(id::text || 'r')) % 3],
      error_upstream_status = CASE WHEN abs(hashtext(id::text)) % 3 = 0 THEN 529 END
    WHERE outcome <> 'succeeded'`
  const log = logOf(bed)
  const asked = async () => [
    await log.errors({}, 'routes'),
    await log.errors({ not_endpoint: '/v1/messages' }, 'endpoints'),
  ]
  const before = await asked()
  expect(before[0]?.groups.length).toBeGreaterThan(2)
  expect(before[1]?.requests).toBeGreaterThan(2)
  expect(await archivePass(bed.options)).toMatchObject({ failed: [] })
  expect(await bed.countOf('requests', midnight(9))).toBe(0)
  const after = await asked()
  // Groups of one size have no order.
  const sorted = (found: typeof before) =>
    found.map(({ groups, requests, done }) => ({
      ...{ requests, done },
      groups: groups.map((group) => JSON.stringify(group)).toSorted(),
    }))
  expect(sorted(after)).toEqual(sorted(before))
})

test('a day that is archived between the two questions counts once', async () => {
  const bed = await aBed()
  for (const day of [2, 8, 9]) await seedDay(bed.sql, midnight(day), 30, bed.seed)
  const log = logOf(bed)
  const [rows, counts] = [await log.pages({}, 'newest', 500), await log.counts({}, dayMs)]
  let passes = 0
  const archiving: AskLog = async (question, terms) => {
    const answer = await log.ask(question, terms)
    if (passes++ === 0) await archivePass(bed.options)
    return answer
  }
  const walk = { filter: await log.read({}), ...(await log.span()), from: new Date(midnight(9)) }
  // The first slice reaches over the archived days: it has them from Postgres, before they leave it.
  const cursor = undefined
  const to = new Date(midnight(8) + 1_000)
  const within = { ...walk, to, rowsMax: 500, cursor }
  const batches = walkRequests(archiving, within)
  const page = await firstRows(batches, { clock, most: 500, withinMs: 60_000, order: 'newest' })
  expect(page.rows).toEqual(rows.filter((row) => row.created_at < to))
  expect(passes).toBeGreaterThan(0)
  expect(await log.counts({}, dayMs)).toEqual(counts)
})

test('counts begin anew where a day was archived after Postgres was asked', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(9), 30, bed.seed)
  const log = logOf(bed)
  const counts = await log.counts({}, dayMs)
  expect(counts.requests).toBeGreaterThan(30)
  let asked = 0
  const archiving: AskLog = async (question, terms) => {
    const answer = await log.ask(question, terms)
    asked++
    if (Array.isArray(answer) && answer.length > 0) await archivePass(bed.options)
    return answer
  }
  const walk = { filter: await log.read({}), ...(await log.span()) }
  const found = await countRequests(archiving, walk, { bucketMs: dayMs, withinMs: 60_000 })
  expect(found.requests).toBe(counts.requests)
  expect(asked).toBeGreaterThan(1)
})

test('older days that take too long end the page before them, and the page after it waits for them', async () => {
  const bed = await aBed()
  for (const day of [2, 9, 10]) await seedDay(bed.sql, midnight(day), 20, bed.seed)
  const log = logOf(bed)
  const all = await log.pages({}, 'newest', 500)
  await archivePass(bed.options)
  const real = olderDays(bed.archive)
  const terms: (number | undefined)[] = []
  const slow = logOf(bed, {
    ...real,
    rows(question, given) {
      terms.push(given.withinMs)
      // As a reader that needs longer than any page has.
      const isArchived = question.slice.from.getTime() < midnight(8)
      return isArchived && given.withinMs !== undefined
        ? Promise.reject(new OlderTooLong(1))
        : real.rows(question, given)
    },
  })
  const walk = { filter: await slow.read({}), ...(await slow.span()), rowsMax: 500 }
  const first = await firstRows(walkRequests(slow.ask, { ...walk, endAt: clock.elapsed() + 60_000 }), {
    clock,
    most: 500,
    withinMs: 60_000,
    order: 'newest',
  })
  expect(first.rows).toEqual(all.slice(0, 20))
  expect(terms.some((ms) => ms !== undefined)).toBe(true)
  // The next page goes on where this one ended, and so on, until nothing is left.
  const rows = [...first.rows]
  for (let { cursor } = first; cursor !== null; ) {
    const batches = walkRequests(slow.ask, { ...walk, cursor, endAt: clock.elapsed() + 60_000 })
    const page = await firstRows(batches, { clock, most: 500, withinMs: 60_000, order: 'newest' })
    rows.push(...page.rows)
    cursor = page.cursor
  }
  expect(rows).toEqual(all)
})

test('where no reader can open the archive, newer days are shown and the page after them says why', async () => {
  const bed = await aBed({}, { program: new URL('../support/no-duck-process.ts', import.meta.url) })
  for (const day of [2, 9]) await seedDay(bed.sql, midnight(day), 20, bed.seed)
  await archivePass(bed.options)
  const log = logOf(bed)
  const walk = { filter: await log.read({}), ...(await log.span()), rowsMax: 50 }
  const terms = { clock, most: 50, withinMs: 60_000, order: 'newest' as const }
  const rows: unknown[] = []
  // A page ends right before the days that cannot be read, at the latest. How many pages that takes depends on the hour.
  const readOn = async (cursor: string | undefined): Promise<never> => {
    const page = await firstRows(walkRequests(log.ask, { ...walk, cursor }), terms)
    rows.push(...page.rows)
    if (page.cursor === null) throw new Error('there is more to search')
    return await readOn(page.cursor)
  }
  const why = await readOn(undefined).catch((error: unknown) => error)
  expect(rows).toHaveLength(20)
  expect(why).toBeInstanceOf(OlderDaysError)
  expect(why).toMatchObject({ reason: 'archive_without_duckdb' })
  expect(await log.counts({}, dayMs)).toMatchObject({ done: false })
})

test('a client that leaves ends the query of older days', async () => {
  const bed = await aBed()
  await seedDay(bed.sql, midnight(9), 20, bed.seed)
  await archivePass(bed.options)
  const leaving = new AbortController()
  const log = logOf(bed)
  const from = new Date(midnight(9))
  const slice = { fromId: '', toId: 'g', from, to: new Date(midnight(8)) }
  const older = olderDays({
    slice: (_question, signal) =>
      bed.reader
        .ask(
          {
            parts: [],
            columns: [],
            select: 'SELECT count(*) AS n FROM range(1000000000) a, range(1000000) b',
            parameters: [],
          },
          { withinMs: 60_000, signal },
        )
        .then(() => []),
    parts: bed.archive.parts.bind(bed.archive),
    counts: bed.archive.counts.bind(bed.archive),
    groups: bed.archive.groups.bind(bed.archive),
  })
  const asked = older.rows(
    { filter: await log.read({}), slice, order: 'newest', most: 5 },
    { withinMs: undefined, signal: leaving.signal },
  )
  leaving.abort(new Error('the client left'))
  await expect(asked).rejects.toThrow('the client left')
  const [first] = await log.pages({}, 'oldest', 5)
  expect(first).toBeDefined()
})
