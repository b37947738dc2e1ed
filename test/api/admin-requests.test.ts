import postgres from 'postgres'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { adminRequestsEndpoints } from '../../src/api/admin/requests.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { findRequest } from '../../src/usage/queries.ts'
import { emptyArchive } from '../support/archive.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'

/** The usage log for admins, over HTTP. test/ledger/log-walk.test.ts has the filters one by one. */

const acme = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'
const keyId = '00000000-0000-4000-8000-0000000000a1'
const groupId = '00000000-0000-4000-8000-0000000000b1'
const hourMs = 3_600_000
const start = Math.floor(Date.now() / hourMs) * hourMs - 5 * hourMs

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let database: Database
let server: ServedAdmin
let actor = operator
const bounds = { logQueryMs: 2_000 }
let shipped = 0

beforeAll(async () => {
  fresh = await freshDatabase()
  database = openDatabase(fresh.url, { max: 2 })
  const archive = emptyArchive(database)
  const ledger = { shipNow: async () => void shipped++ }
  const given = { clock: systemClock, database, archive, bounds, ledger, showsRouting: true }
  const endpoints = adminRequestsEndpoints(given)
  server = await serveAdmin({ database }, endpoints, () => actor)
})
afterAll(async () => {
  server.close()
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  actor = operator
  await database.sql`truncate requests, keys, key_groups, accounts, tenants, names cascade`
  await database.sql`insert into tenants (id, name, managed_by) values (${acme}, 'acme', 'admin'), (${other}, 'other', 'admin')`
  await database.sql`insert into key_groups (id, name, models, channels, managed_by) values (${groupId}, 'default', '{*}', '{*}', 'admin')`
  await database.sql`insert into keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
    values (${keyId}, ${acme}, ${groupId}, 'ci', '\\x01', 'sk-', 'admin')`
  // The names are as old as the rows.
  await database.sql`update names set since = 'epoch'`
})

function idAt(ms: number): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`
}

async function add(ms: number, changes: Record<string, unknown> = {}): Promise<string> {
  const row = {
    id: idAt(ms),
    created_at: new Date(ms),
    tenant_id: acme,
    key_id: keyId,
    group_id: groupId,
    endpoint: '/v1/chat/completions',
    requested_model: 'small',
    served_model: 'small',
    channel: 'main',
    stream: false,
    status: 200,
    outcome: 'succeeded',
    usage_source: 'upstream',
    attempt_count: 1,
    client_address: '192.0.2.7',
    user_agent: 'curl/8',
    ...changes,
  }
  await database.sql`insert into requests ${database.sql(row)}`
  return row.id
}

async function get(query: string, path = '/admin/v1/requests') {
  const response = await fetch(`${server.url}${path}${query}`)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

async function ids(query: string): Promise<string[]> {
  const { status, body } = await get(query)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.data.map(({ id }: { id: string }) => id)
}

test('an admin sees the rows of all tenants with their names, the newest first or the oldest', async () => {
  const first = await add(start)
  const second = await add(start + 1_000, { tenant_id: other, key_id: null, group_id: null })
  const third = await add(start + hourMs, { tenant_id: null, key_id: null, group_id: null })
  const before = shipped
  const { body } = await get('')
  expect(shipped).toBe(before + 1)
  expect(body.data).toMatchObject([
    { id: third, tenant: null, key: null },
    { id: second, tenant: { id: other, name: 'other' } },
    {
      id: first,
      tenant: { id: acme, name: 'acme' },
      key: { id: keyId, name: 'ci' },
      group: { id: groupId, name: 'default' },
      client_address: '192.0.2.7',
      user_agent: 'curl/8',
      channel: 'main',
    },
  ])
  expect(body.next_cursor).toBeNull()
  expect(body.progress.done).toBe(true)
  expect(new Date(body.progress.searched_from).getTime()).toBeLessThanOrEqual(start)
  expect(await ids('?sort=created_at')).toEqual([first, second, third])
})

test('pages follow each other in both orders', async () => {
  const all: string[] = []
  for (let n = 0; n < 7; n++) all.push(await add(start + n * 10 * 60_000))
  for (const [sort, expected] of [
    ['-created_at', all.toReversed()],
    ['created_at', all],
  ] as const) {
    const found: string[] = []
    let cursor = ''
    do {
      const { body } = await get(`?limit=3&sort=${sort}${cursor}`)
      found.push(...body.data.map(({ id }: { id: string }) => id))
      cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
    } while (cursor !== '')
    expect(found).toEqual(expected)
  }
})

test('the greatest rows of a time come first, by cost or by time, among those that match', async () => {
  const costs = [5, 900, null, 70, 900, 8, 61]
  const added: string[] = []
  for (const [n, cost] of costs.entries())
    added.push(
      await add(start + n * 40 * 60_000, {
        cost_nano: cost,
        total_ms: 1_000 - n,
        channel: n === 6 ? 'other' : 'main',
        ...(n === 3 ? { tenant_id: other, key_id: null } : {}),
      }),
    )
  const at = (...places: number[]) => places.map((place) => added[place])
  expect(await ids('?sort=-cost')).toEqual(at(4, 1, 3, 6, 5, 0))
  expect(await ids('?sort=-cost&limit=2&channel=main')).toEqual(at(4, 1))
  expect(await ids('?sort=-total_ms&limit=3')).toEqual(at(0, 1, 2))
  expect(await ids('?sort=-first_token_ms')).toEqual([])
  const from = new Date(start + 3 * 40 * 60_000).toISOString()
  expect(await ids(`?sort=-cost&not_channel=other&from=${from}`)).toEqual(at(4, 3, 5))

  const { body } = await get('?sort=-cost&limit=1')
  expect(body).toMatchObject({ next_cursor: null, progress: { done: true } })
  const { body: page } = await get('?limit=1')
  expect((await get(`?sort=-cost&cursor=${page.next_cursor}`)).status).toBe(400)
  expect((await get('?sort=cost')).status).toBe(400)

  actor = { ...operator, kind: 'user', id: other, role: 'member', tenantId: other }
  expect(await ids('?sort=-cost')).toEqual(at(3))
})

test('filters are combined, and each can be turned round', async () => {
  const slow = await add(start, {
    total_ms: 9_000,
    status: 502,
    outcome: 'failed',
    error_kind: 'upstream_error',
    error_message: 'Upstream is Down',
  })
  const fast = await add(start + 1, { total_ms: 20 })
  const unknown = await add(start + 2, { total_ms: null, channel: null, client_address: '198.51.100.1' })
  expect(await ids('?total_ms=1000..')).toEqual([slow])
  expect(await ids('?not_total_ms=1000..')).toEqual([unknown, fast])
  expect(await ids('?channel=')).toEqual([unknown])
  expect(await ids('?not_channel=')).toEqual([fast, slow])
  expect(await ids('?status=5xx&error=down&tenant=acme')).toEqual([slow])
  expect(await ids('?status=5xx&tenant=other')).toEqual([])
  expect(await ids('?client_address=192.0.2.0/24&not_outcome=failed')).toEqual([fast])
  expect(await ids('?status=200&status=502')).toHaveLength(3)
  expect(await ids(`?request_id=${fast}`)).toEqual([fast])
  expect(
    await ids(`?from=${new Date(start + 1).toISOString()}&to=${new Date(start + 2).toISOString()}`),
  ).toEqual([fast])
})

test('a row is found and shown under the name of its time, also after a rename and a deletion', async () => {
  const before = await add(start)
  await database.sql`update keys set name = 'deploy'`
  await database.sql`update names set since = ${new Date(start + hourMs)} where name = 'deploy'`
  await database.sql`update tenants set name = 'acme-2' where id = ${acme}`
  const after = await add(start + 2 * hourMs)
  const { body } = await get('?key=ci')
  expect(body.data).toMatchObject([
    { id: after, key: { name: 'deploy' } },
    { id: before, key: { name: 'ci' }, tenant: { name: 'acme' } },
  ])
  expect(await ids('?key=deploy&tenant=acme')).toEqual([after, before])
  await database.sql`delete from keys`
  await database.sql`delete from tenants where id = ${acme}`
  expect(await ids('?key=ci&tenant=acme-2')).toEqual([after, before])
  const deleted = await get('')
  expect(deleted.body.data).toMatchObject([{ key: { name: 'deploy' } }, { key: { name: 'ci' } }])
})

test('a member sees its own tenant alone, whatever it asks for', async () => {
  const own = await add(start)
  await add(start + 1, { tenant_id: other })
  actor = { ...operator, kind: 'user', id: other, role: 'member', tenantId: acme }
  expect(await ids('')).toEqual([own])
  expect(await ids('?tenant=other')).toEqual([])
  expect(await ids(`?tenant_id=${other}`)).toEqual([])
  expect(await ids('?not_tenant=acme')).toEqual([])
  const { body } = await get('?width=hour', '/admin/v1/requests/histogram')
  expect(body.requests).toBe(1)
})

test('a filter that is not valid, or not known, is named', async () => {
  const problem = async (query: string) => {
    const { status, body } = await get(query)
    return [status, body.detail]
  }
  expect(await problem('?status=abc')).toEqual([
    400,
    'status: expected a status such as 404, a class such as 4xx or a range such as 400..499, or an empty value for rows without one',
  ])
  expect(await problem('?not_cost_usd=a..b')).toEqual([
    400,
    expect.stringContaining('not_cost_usd: expected an amount'),
  ])
  expect(await problem('?total_ms=..')).toEqual([400, expect.stringContaining('total_ms: ')])
  expect(await problem('?client_address=10.0.0.0/33')).toEqual([
    400,
    expect.stringContaining('client_address: '),
  ])
  expect(await problem(`?channel=${'x'.repeat(257)}`)).toEqual([400, expect.stringContaining('channel: ')])
  expect(await problem(`?${'channel=a&'.repeat(33)}`)).toEqual([
    400,
    'channel: expected at most 32 values, got 33',
  ])
  expect(await problem('?nothing=1')).toEqual([400, expect.stringContaining('nothing')])
  expect(await problem('?cursor=abc')).toEqual([400, expect.stringContaining('cursor')])
  expect(await problem('?from=2026-01-02&to=2026-01-01')).toEqual([400, expect.stringContaining('to')])
})

test('the histogram counts what the list shows', async () => {
  await add(start + 1_000)
  await add(start + 2_000, { outcome: 'refused', status: 429, folded: 40 })
  await add(start + hourMs, { requested_model: 'large', served_model: 'large' })
  const { body } = await get('?width=hour', '/admin/v1/requests/histogram')
  expect(body).toMatchObject({
    data: [
      { starts_at: new Date(start).toISOString(), outcomes: { succeeded: 1, refused: 40 } },
      { starts_at: new Date(start + hourMs).toISOString(), outcomes: { succeeded: 1 } },
    ],
    requests: 42,
    exact: true,
  })
  const some = await get('?width=hour&model=large', '/admin/v1/requests/histogram')
  expect(some.body.requests).toBe(1)
})

test('an id that no request can have finds none', async () => {
  const row = await add(start)
  for (const id of ['f47ac10b-58cc-4372-a567-0e02b2c3d479', 'ffffffff-ffff-ffff-ffff-ffffffffffff']) {
    expect(await get(`?request_id=${id}`)).toMatchObject({
      status: 200,
      body: { data: [], next_cursor: null },
    })
    expect(await ids(`?request_id=${id}&request_id=${row}`)).toEqual([row])
    const { status, body } = await get(`?request_id=${id}`, '/admin/v1/requests/histogram')
    expect([status, body.requests]).toEqual([200, 0])
    expect(await findRequest(database.sql, { tenantId: acme, keyId: null }, id)).toBeUndefined()
  }
})

test('a block of addresses of one interface is the block', async () => {
  const row = await add(start, { client_address: 'fe80::2' })
  expect(await ids('?client_address=fe80::1%25eth0/64')).toEqual([row])
})

test('where Postgres does not answer in time, the answer says to try again', async () => {
  const busy = postgres(fresh.url, { max: 1, onnotice: () => {} })
  try {
    await busy`begin`
    await busy`lock table names in access exclusive mode`
    const { status, body } = await get('?key=ci')
    expect([status, body.detail]).toEqual([503, expect.stringContaining('try again')])
  } finally {
    await busy.end()
  }
})
