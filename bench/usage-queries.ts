import postgres from 'postgres'
import { filterFrom, filterQuery } from '../src/api/log-filter.ts'
import { clientSettings } from '../src/db/connections.ts'
import { prepareDatabase } from '../src/db/migrate.ts'
import { relayLog } from '../src/telemetry/relay-log.ts'
import type { RowScope } from '../src/usage/log/row-tests.ts'
import {
  findRequest,
  listRequests,
  type Position,
  summariseRequests,
  type TimedFilter,
} from '../src/usage/queries.ts'
import { percentile } from './percentile.ts'
import { startTemporary } from './temporary-postgres.ts'
import { helpIfAsked } from './usage.ts'
import { commonKey, days, fillUsageLog, rareKey } from './usage-rows.ts'

helpIfAsked(import.meta.filename)

/**
 * Measures queries of the usage log: `node runtime.cjs bench/usage-queries.ts [rows] [--plans]`. Fills a fresh database with
 * the rows (default 1,000,000) of one tenant over 30 days, 5 in 100 of them unusual, and calls the functions that the API
 * uses. Exits with 1 when a list takes 50 ms or more at p95. Lists in parentheses are for information only.
 */
async function main(): Promise<void> {
  const rows = Number(process.argv[2] ?? 1_000_000)
  const log = relayLog((_level, _fields, message) => console.log(message))
  const temporary = await startTemporary({ log })
  try {
    await prepareDatabase(temporary.url)
    const onnotice = ({ message }: postgres.Notice) => console.log(message)
    const sql = postgres(temporary.url, { ...clientSettings({ max: 1 }), onnotice })
    await fillUsageLog(sql, tenantId, rows)
    const slow = await measureAll(sql, rows)
    await sql.end()
    if (slow.length > 0) process.exitCode = 1
    console.log(
      slow.length === 0 ? 'All lists below 50 ms at p95.' : `50 ms or more at p95: ${slow.join(', ')}`,
    )
  } finally {
    await temporary.stop()
  }
}

const rounds = 60
const listMsMax = 50
const tenantId = '00000000-0000-4000-8000-000000000001'

function matching(query: object): TimedFilter {
  return filterFrom(filterQuery.parse(query))
}

/** Prints a line for each kind of query. Returns the lists that took too long. */
async function measureAll(sql: postgres.Sql, rows: number): Promise<string[]> {
  const all: RowScope = { tenantId, keyId: null }
  const middle = new Date(Date.now() - (days / 2) * 86_400_000)
  const [some] = await listRequests(sql, all, { ...matching({}), to: middle }, undefined, 1)
  if (some === undefined) throw new Error(`no row before ${middle.toISOString()} among ${rows}`)
  const deep: Position = { createdAt: some.created_at, id: some.id }
  const lists: [name: string, scope: RowScope, filter: TimedFilter, after?: Position][] = [
    ['first page', all, matching({})],
    ['a page in the middle', all, matching({}), deep],
    [
      'from and to, one hour',
      all,
      { ...matching({}), from: new Date(middle.getTime() - 3_600_000), to: middle },
    ],
    ['from and to, no row', all, { ...matching({}), from: new Date(0), to: new Date(1) }],
    ['model as requested', all, matching({ model: 'model-3' })],
    ['model as served', all, matching({ model: 'model-3-2026-01-01' })],
    ['model, in the middle', all, matching({ model: 'model-3' }), deep],
    ['model, no row', all, matching({ model: 'no-such-model' })],
    ['status 200', all, matching({ status: '200' })],
    ['status 429', all, matching({ status: '429' })],
    ['status 418, one row', all, matching({ status: '418' })],
    ['status 404, no row', all, matching({ status: '404' })],
    ['status 5xx', all, matching({ status: '500..599' })],
    ['status 3xx, no row', all, matching({ status: '300..399' })],
    ['outcome succeeded', all, matching({ outcome: 'succeeded' })],
    ['outcome failed', all, matching({ outcome: 'failed' })],
    ['outcome orphaned, no row', all, matching({ outcome: 'orphaned' })],
    ['endpoint chat', all, matching({ endpoint: '/v1/chat/completions' })],
    ['endpoint models', all, matching({ endpoint: '/v1/models' })],
    ['endpoint, no row', all, matching({ endpoint: '/v1/images/generations' })],
    ['request id', all, matching({ request_id: some.id })],
    ['failed, of one model', all, matching({ outcome: 'failed', model: 'model-3' })],
    ['only own key, common', { tenantId, keyId: commonKey }, matching({})],
    // No index serves this list, because it would cost every row. Postgres reads the tenant's index and skips other keys.
    ['(only own key, one row)', { tenantId, keyId: rareKey }, matching({})],
    ['(only own key, no row)', { tenantId, keyId: tenantId }, matching({})],
  ]
  const slow: string[] = []
  for (const [name, scope, filter, after] of lists) {
    const p95 = await measure(sql, name, () => listRequests(sql, scope, filter, after, 51))
    if (p95 >= listMsMax && !name.startsWith('(')) slow.push(name)
  }
  await measure(sql, 'detail', () => findRequest(sql, all, some.id))
  const now = new Date()
  const week = new Date(now.getTime() - 7 * 86_400_000)
  await measure(
    sql,
    'summary, 7 days',
    () => summariseRequests(sql, all, { conditions: [], from: week, to: now }),
    5,
  )
  const month = new Date(now.getTime() - 31 * 86_400_000)
  await measure(
    sql,
    'summary, all days',
    () => summariseRequests(sql, all, { conditions: [], from: month, to: now }),
    5,
  )
  return slow
}

async function measure(
  sql: postgres.Sql,
  name: string,
  ask: () => Promise<unknown>,
  times = rounds,
): Promise<number> {
  const took: number[] = []
  let found: unknown
  for (let round = 0; round < times; round++) {
    const began = performance.now()
    found = await ask()
    took.push(performance.now() - began)
  }
  const p95 = percentile(took, 0.95)
  const count = Array.isArray(found) ? `${found.length} rows` : ''
  console.log(
    `${name.padEnd(28)} p50 ${percentile(took, 0.5).toFixed(1).padStart(6)} ms  p95 ${p95.toFixed(1).padStart(6)} ms  ${count}`,
  )
  if (process.argv.includes('--plans')) await printPlan(sql, ask)
  return p95
}

/** Prints the plan that Postgres logs for the statement as it really runs. It comes as a notice. */
async function printPlan(sql: postgres.Sql, ask: () => Promise<unknown>): Promise<void> {
  await sql.unsafe(`load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on;
    set auto_explain.log_timing = off; set client_min_messages = log`)
  await ask()
  await sql.unsafe('set auto_explain.log_min_duration = -1; reset client_min_messages')
}

await main()
