import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { clientSettings } from '../../src/db/connections.ts'
import { listRequests, type Position, type TimedFilter } from '../../src/usage/queries.ts'
import { freshDatabase } from '../support/database.ts'

/**
 * The number of Postgres blocks that a page of the usage log reads, over six days of one tenant. To read all of them
 * would take more than 3,000 blocks.
 */

const tenantId = '00000000-0000-4000-8000-000000000001'
const keyId = '00000000-0000-4000-8000-0000000000a1'
const rows = 60_000
const days = 6
const limit = 51

let sql: postgres.Sql
let drop: () => Promise<void>
beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  // The application's own settings, with plans that do not depend on the parameters.
  sql = postgres(fresh.url, clientSettings({ max: 1 }))
  await fill()
})
afterAll(async () => {
  await sql.end()
  await drop()
})

/** Row i is the i-th newest. The rows at the end of the list have rare values; half have values of old rows only. */
async function fill(): Promise<void> {
  for (let day = 1; day <= days; day++) {
    const from = new Date(Date.UTC(2026, 0, day)).toISOString()
    const to = new Date(Date.UTC(2026, 0, day + 1)).toISOString()
    for (const table of ['requests', 'request_tags']) {
      await sql.unsafe(
        `create table ${table}_2026010${day} partition of ${table} for values from ('${from}') to ('${to}')
         with (autovacuum_enabled = false)`,
      )
    }
  }
  const end = Date.UTC(2026, 0, days + 1)
  const stepMs = (days * 86_400_000) / rows
  await sql`
    insert into requests (id, created_at, tenant_id, key_id, endpoint, requested_model, served_model, stream, status,
      outcome, usage_source, attempt_count, user_agent, end_user, session, tags)
    select
      (lpad(to_hex(ms), 12, '0') || '7' || lpad(to_hex(i % 4096), 3, '0') || '8000' || lpad(to_hex(i), 12, '0'))::uuid,
      to_timestamp(ms / 1000.0), ${tenantId}, ${keyId}, '/v1/chat/completions', 'model', 'model', false, 200,
      'succeeded', 'upstream', 1, 'OpenAI/Python 2.9.0',
      case when i > ${rows - 3}::int then 'rare' when i > ${rows / 2}::int then 'old' when i % 2 = 0 then 'common' end,
      case when i > ${rows - 3}::int then 'rare' when i > ${rows / 2}::int then 'old' when i % 2 = 0 then 'common' end,
      case when i > ${rows - 3}::int then array['common', 'rare'] when i > ${rows / 2}::int then array['common', 'old']
        when i % 2 = 0 then array['common', 'n' || i] end
    from (select i, ${end}::bigint - (i * ${stepMs}::float8)::bigint as ms from generate_series(1, ${rows}::int) i) as n
    order by i desc`
  await sql`vacuum analyze requests, request_tags`
}

const middle: Position = {
  createdAt: new Date(Date.UTC(2026, 0, 4)),
  id: '019b8648-4c00-7000-8000-000000000000',
}

function matching(query: object): TimedFilter {
  return filterFrom(filterQuery.parse(query))
}

const pages: [what: string, filter: TimedFilter, found: number, after?: Position][] = [
  ['end user, common', matching({ end_user: 'common' }), limit],
  ['end user, in old rows', matching({ end_user: 'old' }), limit],
  ['end user, of three rows', matching({ end_user: 'rare' }), 3],
  ['end user, none', matching({ end_user: 'nobody' }), 0],
  ['end user, in the middle', matching({ end_user: 'old' }), limit, middle],
  ['session, in old rows', matching({ session: 'old' }), limit],
  ['session, none', matching({ session: 'none' }), 0],
  ['tag, on all rows', matching({ tag: ['common'] }), limit],
  ['tag, in old rows', matching({ tag: ['old'] }), limit],
  ['tag, of three rows', matching({ tag: ['rare'] }), 3],
  ['tag, none', matching({ tag: ['none'] }), 0],
  ['tag, in the middle', matching({ tag: ['common'] }), limit, middle],
  [
    'tag, two days',
    { ...matching({ tag: 'common' }), from: new Date(Date.UTC(2026, 0, 1)), to: middle.createdAt },
    limit,
  ],
  ['tags, both on old rows', matching({ tag: ['old', 'common'] }), limit],
  ['tag and end user, both in old rows', matching({ tag: 'old', end_user: 'old' }), limit],
]

test.each(pages)('%s: a page reads a small part of the log', async (_, filter, found, after) => {
  const before = await blocks()
  const list = await listRequests(sql, { tenantId, keyId: null }, filter, after, limit)
  expect((await blocks()) - before).toBeLessThan(400)
  expect(list).toHaveLength(found)
})

/**
 * How many blocks of the usage log were read so far, from memory or from disk. Postgres counts those of all sessions:
 * no autovacuum may come in between.
 */
async function blocks(): Promise<number> {
  await sql`select pg_stat_force_next_flush()`
  await sql`select pg_stat_clear_snapshot()`
  const [row] = await sql<{ blocks: string }[]>`
    select sum(heap_blks_read + heap_blks_hit + coalesce(idx_blks_read + idx_blks_hit, 0)) as blocks
    from pg_statio_user_tables where relname like 'request%'`
  return Number(row?.blocks)
}
