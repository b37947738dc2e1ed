import { filterFrom, filterQuery } from '../src/api/log-filter.ts'
import { readConfig } from '../src/config/config.ts'
import { openDatabase } from '../src/db/database.ts'
import { systemClock } from '../src/runtime/clock.ts'
import { askLogFor } from '../src/usage/log/ask.ts'
import { countRequests } from '../src/usage/log/count.ts'
import { groupErrors } from '../src/usage/log/error-groups.ts'
import { firstRows } from '../src/usage/log/first-rows.ts'
import { keepLogIndexes } from '../src/usage/log/indexes.ts'
import { namesFor, withIds } from '../src/usage/log/names-queries.ts'
import type { LogFilter } from '../src/usage/log/row-tests.ts'
import { logSpan } from '../src/usage/log/span-queries.ts'
import { walkRequests } from '../src/usage/log/walk.ts'
import { percentile } from './percentile.ts'
import { tableOf } from './table.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * Measures the queries of admins on a database that bench/seed-log.ts has filled: `node runtime.cjs bench/log-queries.ts
 * postgres://... [rounds]`. It builds the indexes of closed days first. Each round asks with other values, and pages of 50 rows.
 */
const [url = '', rounds = '20'] = process.argv.slice(2)
const { bounds } = readConfig({})
const database = openDatabase(url, bounds)
const ask = askLogFor(database, 'bench')
const terms = { withinMs: 60_000, signal: undefined }
const dayMs = 86_400_000
const clock = systemClock
const limit = 50

type Query = Record<string, string | string[]>

/** The page, as the endpoint reads it. Returns how many rows it found, and whether it searched all it was asked for. */
async function page(query: Query, days: number, depth = 0) {
  const filter = await ask((sql) => withIds(sql, filterFrom(filterQuery.parse(query))), terms)
  const span = await ask((sql) => logSpan(sql, filter, clock.now()), terms)
  const to = span.to
  const from = days >= 90 ? span.from : new Date(Date.now() - days * dayMs)
  let cursor: string | undefined
  let took = 0
  let found = { rows: 0, done: false }
  for (let n = 0; n <= depth; n++) {
    const began = performance.now()
    const batches = walkRequests(ask, { clock, filter, from, to, cursor, rowsMax: limit })
    const rows = await firstRows(batches, {
      clock,
      most: limit,
      withinMs: bounds.logQueryMs,
      order: 'newest',
    })
    await ask((sql) => namesFor(sql, rows.rows), terms)
    took = performance.now() - began
    found = { rows: rows.rows.length, done: rows.cursor === null || rows.rows.length === limit }
    if (rows.cursor === null) break
    cursor = rows.cursor
  }
  return { ...found, took }
}

async function histogram(query: Query, days: number) {
  const filter: LogFilter = await ask((sql) => withIds(sql, filterFrom(filterQuery.parse(query))), terms)
  const to = new Date()
  const from = new Date(to.getTime() - days * dayMs)
  const began = performance.now()
  const counts = await countRequests(
    ask,
    { clock, filter, from, to },
    { bucketMs: days > 7 ? dayMs : 3_600_000, withinMs: bounds.logQueryMs },
  )
  return { rows: counts.requests, done: counts.done, took: performance.now() - began }
}

async function errors(days: number) {
  const to = new Date()
  const from = new Date(to.getTime() - days * dayMs)
  const began = performance.now()
  const walk = { clock, filter: { conditions: [] }, from, to }
  const found = await groupErrors(ask, walk, { by: 'routes', withinMs: bounds.logQueryMs })
  return { rows: found.requests, done: found.done, took: performance.now() - began }
}

/** Values of the seeded log. Those of the later rounds are rarer. */
const rare = (n: number, most: number) => Math.trunc((most - 1) * (n / Number(rounds)) ** 2)
const cases: [name: string, ask: (round: number) => ReturnType<typeof page>][] = []
const over = (days: number, name: string, query: (n: number) => Query, depth?: number) =>
  cases.push([`${name}, ${days === 1 ? '24 h' : `${days} d`}`, (n) => page(query(n), days, depth)])

for (const days of [1, 90]) {
  over(days, 'all', () => ({}))
  over(days, 'tenant', (n) => ({ tenant: `tenant-${rare(n, 200)}` }))
  over(days, 'key', (n) => ({ key: `key-${rare(n, 3000)}` }))
  over(days, 'model', (n) => ({ model: `model-${rare(n, 120)}` }))
  over(days, 'served model', (n) => ({ model: `model-${rare(n, 120)}-2026-03-01` }))
  over(days, 'channel', (n) => ({ channel: `channel-${rare(n, 40)}` }))
  over(days, 'end user', (n) => ({
    end_user: `user-${rare(n, 50000)}@customer-${rare(n, 50000) % 977}.example`,
  }))
  over(days, 'error kind', (n) => ({
    error_kind: ['rate_limited', 'upstream_timeout', 'request_too_large', 'nothing'][n % 4] ?? '',
  }))
  over(days, 'error text', (n) => ({
    error: ['overloaded', 'trace 1', 'policy of the upstream', 'no such text'][n % 4] ?? '',
  }))
  over(days, 'address', (n) => ({
    client_address: ['10.3.4.21', '10.1.0.0/16', '10.7.3.0/24', '192.0.2.1'][n % 4] ?? '',
  }))
  over(days, 'three channels', (n) => ({ channel: ['channel-1', 'channel-39', `channel-${rare(n, 40)}`] }))
  over(days, 'tenant and error kind', (n) => ({
    tenant: `tenant-${rare(n, 200)}`,
    error_kind: 'insufficient_credit',
  }))
  over(days, 'key, not succeeded', (n) => ({ key: `key-${rare(n, 3000)}`, not_outcome: 'succeeded' }))
}
over(90, 'depth 1,000: all', () => ({}), 20)
over(90, 'depth 1,000: tenant', (n) => ({ tenant: `tenant-${n % 20}` }), 20)
over(90, 'depth 1,000: channel', (n) => ({ channel: `channel-${n % 40}` }), 20)
over(90, 'depth 1,000: error text', () => ({ error: 'overloaded' }), 20)
for (const days of [1, 90]) {
  over(days, 'user agent', (n) => ({ user_agent: ['claude-cli', 'aider/ 4.30', 'no such'][n % 3] ?? '' }))
  over(days, 'note', (n) => ({ note: ['cache_control', 'no such'][n % 2] ?? '' }))
  over(days, 'upstream id', () => ({ upstream_request_id: 'req_none' }))
  over(days, 'cost range', () => ({ cost_usd: '1..' }))
  over(days, 'total_ms range', () => ({ total_ms: '60000..' }))
  over(days, 'session', () => ({ session: 'none' }))
  over(days, 'tag', () => ({ tag: ['project-7', 'env-1'] }))
  over(days, 'five filters', (n) => ({
    tenant: `tenant-${n % 9}`,
    status: ['4xx', '529'],
    user_agent: 'curl',
    not_channel: 'channel-1',
    total_ms: '5000..',
  }))
  over(days, 'five others', () => ({
    stream: 'true',
    not_model: 'model-0',
    note: 'dropped',
    error: 'trace',
    attempts: '2',
  }))
}
cases.push(['histogram of all, 24 h', () => histogram({}, 1)])
cases.push(['histogram of channel, 90 d', (n) => histogram({ channel: `channel-${20 + (n % 20)}` }, 90)])
cases.push(['histogram of all, 90 d', () => histogram({}, 90)])
for (const days of [1, 7, 90]) cases.push([`errors in groups, ${days} d`, () => errors(days)])

while ((await database.upkeep.ask(({ sql }) => keepLogIndexes(sql, clock))).left > 0)
  console.log('indexes are built')
const table = [['query', 'p50 ms', 'p95 ms', 'rows', 'complete']]
for (const [name, run] of cases) {
  const runs: Awaited<ReturnType<typeof page>>[] = []
  for (let round = 0; round < Number(rounds); round++) runs.push(await run(round))
  const took = runs.map((each) => each.took)
  const complete = runs.filter(({ done }) => done).length
  const rows = percentile(
    runs.map((each) => each.rows),
    0.5,
  )
  table.push([
    name,
    percentile(took, 0.5).toFixed(0),
    percentile(took, 0.95).toFixed(0),
    String(rows),
    `${complete} of ${runs.length}`,
  ])
  console.error(table.at(-1)?.join('  '))
}
console.log(tableOf(table, (column) => column > 0))
await database.close()
