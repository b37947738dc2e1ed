import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fillLog } from '../../bench/fill-log.ts'
import { filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { requestColumns } from '../../src/journal/row.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { askLogFor } from '../../src/usage/log/ask.ts'
import { countRequests } from '../../src/usage/log/count.ts'
import { groupErrors } from '../../src/usage/log/error-groups.ts'
import { firstRows } from '../../src/usage/log/first-rows.ts'
import { keepLogIndexes } from '../../src/usage/log/indexes.ts'
import { matches } from '../../src/usage/log/matches.ts'
import { withIds } from '../../src/usage/log/names-queries.ts'
import { SliceTooLong } from '../../src/usage/log/older-days.ts'
import type { LogFilter, LogRow } from '../../src/usage/log/row-tests.ts'
import { type AskLog, walkRequests } from '../../src/usage/log/walk.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** Every filter of the admin's log against the same test in JavaScript, over rows such as the bench seeds. */

const days = 4
const rows = 3_000
const dayMs = 86_400_000
const end = new Date()
const from = new Date(end.getTime() - days * dayMs)
const clock = systemClock

let drop: () => Promise<void>
let database: Database
let ask: AskLog
/** All rows, the newest first. */
let log: LogRow[]
beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url, { max: 2 })
  await fillLog(database.sql, { rows, days, end }, () => {})
  // A few rows of other kinds: IPv6, no address, no tenant.
  await database.sql`update requests set client_address = '2001:db8::' || to_hex(status::integer) where status = 429`
  await database.sql`update requests set client_address = null, tenant_id = null where status = 401`
  // Rows without a charge of their own are those of former releases.
  await database.sql`update requests set charged_nano = cost_nano / 2 where output_tokens % 20 = 0`
  await database.sql`update requests set error_message = '100% of_it \\ "x"' where error_kind = 'client_gone'`
  await database.sql`
    update requests set error_reason = (array['request_rate_reached', 'concurrency_reached'])[1 + abs(hashtext(id::text)) % 2]
    where error_kind = 'rate_limited'`
  ask = askLogFor(database, 'test')
  log = await database.sql<LogRow[]>`select * from requests order by id desc`
})
afterAll(async () => {
  await database.close()
  await drop()
})

type Query = Record<string, string | string[]>
const read = (query: Query) => withIds(database.sql, filterFrom(filterQuery.parse(query)))

async function walked(
  filter: LogFilter,
  order: 'newest' | 'oldest' = 'newest',
  rowsMax = 200,
): Promise<LogRow[]> {
  const found: LogRow[] = []
  for await (const batch of walkRequests(ask, { clock, filter, from, to: end, order, rowsMax }))
    found.push(...batch.rows)
  return found
}

const idsOf = (found: readonly LogRow[]) => found.map(({ id }) => id)
const requestsOf = (found: readonly LogRow[]) => found.reduce((sum, { folded }) => sum + folded, 0)

const queries: Query[] = [
  {},
  { tenant: 'tenant-0' },
  { tenant: ['tenant-0', 'tenant-3', 'nobody'] },
  { tenant: 'nobody' },
  { tenant_id: '' },
  { key: 'key-1' },
  { group: 'group-4' },
  { model: 'model-1' },
  { model: ['model-1', 'model-1-2026-01-01', 'model-2'] },
  { requested_model: 'model-3' },
  { served_model: ['model-3-2026-02-01', ''] },
  { channel: ['channel-1', 'channel-2'] },
  { channel: '' },
  { endpoint: '/v1/messages' },
  { client_protocol: 'anthropic-messages', upstream_protocol: 'openai-chat' },
  { stream: 'true' },
  { uncharged: 'true' },
  { uncharged: 'false', tenant: 'tenant-0' },
  { uncharged: ['true', ''] },
  { status: '429' },
  { status: ['4xx', '529'] },
  { status: '500..504' },
  { outcome: ['failed', 'cancelled'] },
  { error_kind: ['rate_limited', 'upstream_error'] },
  { error_reason: 'concurrency_reached' },
  { error_reason: ['concurrency_reached', 'process_full', ''] },
  { error_reason: 'of_a_later_version' },
  { error: 'OVERLOADED' },
  { error: '100% of_it \\ "x"' },
  { error: '%' },
  { upstream_status: '5xx' },
  { finish_reason: 'tool_calls' },
  { usage_source: 'none' },
  { stream_end: ['client_gone', 'upstream_cut'] },
  { user_agent: 'claude-cli' },
  { client_address: '10.0.0.0/8' },
  { client_address: '10.32.0.0/11' },
  { client_address: '10.5.0.0/16' },
  { client_address: '2001:db8::/32' },
  { client_address: ['2001:db8::1ad', ''] },
  { client_address: '2001:db8::180/122' },
  { note: 'cache_control' },
  { cost_fact: '' },
  { session: '' },
  { tag: ['project-1'] },
  { tag: ['env-1', 'project-2'] },
  { tag: '' },
  { idempotency_key: '' },
  { images: '1..' },
  { cost_usd: '0.01..0.02' },
  { cost_usd: '' },
  { input_tokens: '1000..', output_tokens: '..100' },
  { reasoning_tokens: ['', '500..'] },
  { total_ms: '5000..', first_token_ms: '..400' },
  { attempts: '2' },
  { folded: '1' },
  { tenant: 'tenant-1', model: 'model-0', stream: 'true', status: '2xx', total_ms: '..9000' },
]

describe('a filter finds what the same test in JavaScript finds', () => {
  test.each(queries)('%j', async (query) => {
    const filter = await read(query)
    const expected = idsOf(log.filter(matches(filter)))
    expect(idsOf(await walked(filter))).toEqual(expected)
    expect(idsOf(await walked(filter, 'oldest', 50))).toEqual(expected.toReversed())
    const negated = Object.fromEntries(Object.entries(query).map(([name, value]) => [`not_${name}`, value]))
    const without = await read(negated)
    const others = idsOf(log.filter(matches(without)))
    expect(idsOf(await walked(without))).toEqual(others)
    if (Object.keys(query).length === 1 && !('tag' in query))
      expect(expected.length + others.length, 'with and without').toBe(log.length)
  })

  test('with the indexes of closed days as well', async () => {
    const pass = await keepLogIndexes(database.sql, systemClock)
    expect(pass).toMatchObject({ left: 0 })
    expect(pass.built).toBeGreaterThanOrEqual(7 * (days - 1))
    for (const query of queries) {
      const filter = await read(query)
      expect(idsOf(await walked(filter)), JSON.stringify(query)).toEqual(idsOf(log.filter(matches(filter))))
    }
  })
})

test('each column of the log has a filter, but for the moment of the row and what was charged', () => {
  const values = ['10', 'true', '::1', '00000000-0000-4000-8000-000000000000']
  const columns = Object.keys(filterQuery.shape).flatMap((name) => {
    const parsed = values.map((value) => filterQuery.safeParse({ [name]: value }))
    const [condition] = filterFrom(parsed.find(({ success }) => success)?.data ?? {}).conditions
    if (condition === undefined) throw new Error(`no value suits ${name}`)
    return 'columns' in condition ? condition.columns : 'column' in condition ? [condition.column] : []
  })
  expect([...new Set([...columns, 'created_at', 'charged_nano', 'tags'])].sort()).toEqual(
    requestColumns.map(({ name }) => name).sort(),
  )
})

test('every known id of a request is found by its id alone', async () => {
  const [some] = log.slice(1_500)
  const filter = await read({ request_id: [some?.id ?? '', log.at(-1)?.id ?? ''] })
  expect(idsOf(await walked(filter))).toEqual([some?.id, log.at(-1)?.id])
})

test('pages follow each other without a gap and without a repeat', async () => {
  for (const order of ['newest', 'oldest'] as const) {
    const filter = await read({ status: '4xx' })
    const expected = idsOf(
      order === 'newest' ? log.filter(matches(filter)) : log.filter(matches(filter)).toReversed(),
    )
    const found: string[] = []
    let cursor: string | undefined
    for (;;) {
      const batches = walkRequests(ask, { clock, filter, from, to: end, order, cursor, rowsMax: 7 })
      const page = await firstRows(batches, { clock, most: 7, withinMs: 60_000, order })
      found.push(...idsOf(page.rows))
      if (page.cursor === null) break
      expect(page.rows).toHaveLength(7)
      cursor = page.cursor
    }
    expect(found).toEqual(expected)
  }
})

test('a page without time left answers the slice that it has searched, and the next goes on there', async () => {
  const filter = await read({ total_ms: '100000000..' })
  const first = await firstRows(walkRequests(ask, { clock, filter, from, to: end, rowsMax: 50 }), {
    clock,
    most: 50,
    withinMs: 0,
    order: 'newest',
  })
  expect(first.rows).toEqual([])
  expect(first.searchedTo?.getTime()).toBeLessThan(end.getTime())
  expect(first.searchedTo?.getTime()).toBeGreaterThan(from.getTime())
  const { cursor } = first
  if (cursor === null) throw new Error('there is more to search')
  const rest = walkRequests(ask, { clock, filter, from, to: end, cursor, rowsMax: 50 })
  expect(await firstRows(rest, { clock, most: 50, withinMs: 60_000, order: 'newest' })).toMatchObject({
    cursor: null,
  })
})

test('a slice that takes too long is searched again in shorter ones', async () => {
  const filter = await read({})
  // Only at the beginning: a slow machine shortens the slices too, and the shortest is not searched again.
  const tooLong = new Set([1, 3, 5])
  let asked = 0
  const slow: AskLog = (question, terms) => {
    if (tooLong.has(++asked)) return Promise.reject(new SliceTooLong('usage_log_late', { withinMs: 1 }))
    return ask(question, terms)
  }
  const found: LogRow[] = []
  for await (const { rows } of walkRequests(slow, {
    clock,
    filter,
    from: new Date(end.getTime() - 3_600_000),
    to: end,
    rowsMax: 500,
  }))
    found.push(...rows)
  expect(idsOf(found)).toEqual(
    idsOf(log.filter((row) => row.created_at.getTime() >= end.getTime() - 3_600_000)),
  )
  expect(asked).toBeGreaterThan(5)
})

test('counts are those of the rows, and say when they are not of all', async () => {
  const filter = await read({ not_outcome: 'succeeded' })
  const expected = log.filter(matches(filter))
  const counted = await countRequests(
    ask,
    { clock, filter, from, to: end },
    { bucketMs: 3_600_000, withinMs: 60_000 },
  )
  expect(counted).toMatchObject({ requests: expected.length, done: true })
  for (const { startsAt, outcomes } of counted.buckets) {
    const inBucket = expected.filter(
      (row) => Math.floor(row.created_at.getTime() / 3_600_000) * 3_600_000 === startsAt.getTime(),
    )
    const byOutcome = Object.groupBy(inBucket, ({ outcome }) => outcome)
    expect(outcomes).toEqual(
      Object.fromEntries(Object.entries(byOutcome).map(([name, some]) => [name, some?.length])),
    )
  }
  const part = await countRequests(
    ask,
    { clock, filter, from, to: end },
    { bucketMs: 3_600_000, withinMs: 0 },
  )
  expect(part.done).toBe(false)
  const inPart = expected.filter((row) => row.created_at >= part.searchedTo)
  expect(part.requests).toBe(inPart.length)
})

test('errors in groups are those of the rows, the largest first, with the first and the last of each', async () => {
  const filter = await read({ not_endpoint: '/v1/messages' })
  const expected = log.filter((row) => row.error_kind !== null && matches(filter)(row))
  expect(expected.length).toBeGreaterThan(20)
  for (const by of ['routes', 'endpoints'] as const) {
    const groupOf = ({ error_kind, error_reason, endpoint, channel, error_upstream_status }: LogRow) =>
      JSON.stringify([
        error_kind,
        error_reason,
        endpoint,
        ...(by === 'routes' ? [channel, error_upstream_status] : [null, null]),
      ])
    const byGroup = Map.groupBy(expected, groupOf)
    const found = await groupErrors(ask, { clock, filter, from, to: end }, { by, withinMs: 60_000 })
    expect(found).toMatchObject({ done: true, requests: requestsOf(expected) })
    expect(found.groups).toHaveLength(byGroup.size)
    const sizes = found.groups.map(({ requests }) => requests)
    expect(sizes).toEqual(sizes.toSorted((one, other) => other - one))
    for (const { kind, reason, endpoint, channel, upstream_status, ...group } of found.groups) {
      const rows = byGroup.get(JSON.stringify([kind, reason, endpoint, channel, upstream_status])) ?? []
      const moments = rows.map((row) => row.created_at.getTime())
      expect(group).toEqual({
        requests: requestsOf(rows),
        firstAt: new Date(Math.min(...moments)),
        lastAt: new Date(Math.max(...moments)),
        lastId: idsOf(rows).toSorted().at(-1),
      })
    }
  }
  const part = await groupErrors(ask, { clock, filter, from, to: end }, { by: 'routes', withinMs: 0 })
  expect(part).toMatchObject({
    done: false,
    requests: requestsOf(expected.filter((row) => row.created_at >= part.searchedTo)),
  })
})

test('the server ends the statement of a client that leaves', async () => {
  const leaving = new AbortController()
  const asked = ask((sql) => sql`select pg_sleep(60) as "left alone"`, {
    withinMs: 50_000,
    signal: leaving.signal,
  })
  const running = async () => {
    const found =
      await database.sql`select from pg_stat_activity where query like '%left alone%' and pid <> pg_backend_pid() and state = 'active'`
    return found.length
  }
  while ((await running()) === 0);
  leaving.abort(new Error('the client has left'))
  await expect(asked).rejects.toThrow('the client has left')
  while ((await running()) > 0);
})
