import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { adminRequestErrorsEndpoint } from '../../src/api/admin/request-errors.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { emptyArchive } from '../support/archive.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'

/** Errors in groups, over HTTP. test/ledger/log-walk.test.ts compares them with the rows of a large log. */

const acme = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'
const member: Actor = { ...operator, kind: 'user', id: other, role: 'member', tenantId: acme }
const hourMs = 3_600_000
const start = Math.floor(Date.now() / hourMs) * hourMs - 5 * hourMs
const at = (ms: number) => new Date(start + ms).toISOString()

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let database: Database
let server: ServedAdmin
let actor: Actor = operator

beforeAll(async () => {
  fresh = await freshDatabase()
  database = openDatabase(fresh.url, { max: 2 })
  const ledger = { shipNow: async () => {} }
  const context = {
    clock: systemClock,
    database,
    archive: emptyArchive(database),
    bounds: { logQueryMs: 20_000 },
    ledger,
    showsRouting: true,
  }
  server = await serveAdmin({ database }, [adminRequestErrorsEndpoint(context)], () => actor)
})
afterAll(async () => {
  server.close()
  await database.close()
  await fresh.drop()
})
beforeEach(async () => {
  actor = operator
  await database.sql`truncate requests, tenants, names cascade`
  await database.sql`insert into tenants (id, name, managed_by) values (${acme}, 'acme', 'admin'), (${other}, 'other', 'admin')`
  await database.sql`update names set since = 'epoch'`
})

function rowAt(ms: number, changes: Record<string, unknown> = {}) {
  const time = (start + ms).toString(16).padStart(12, '0')
  return {
    id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`,
    created_at: new Date(start + ms),
    tenant_id: acme,
    endpoint: '/v1/chat/completions',
    requested_model: 'small',
    channel: 'main',
    stream: false,
    status: 529,
    outcome: 'failed',
    error_kind: 'upstream_error',
    error_message: `It failed at ${ms}.`,
    error_upstream_status: 529,
    usage_source: 'none',
    attempt_count: 1,
    folded: 1,
    ...changes,
  }
}
const fine = {
  status: 200,
  outcome: 'succeeded',
  error_kind: null,
  error_message: null,
  error_upstream_status: null,
}

async function add(...rows: ReturnType<typeof rowAt>[]): Promise<string[]> {
  await database.sql`insert into requests ${database.sql(rows)}`
  return rows.map(({ id }) => id)
}

async function get(query = '') {
  const response = await fetch(`${server.url}/admin/v1/requests/errors${query}`)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

test('each group has its count, its first and its last request with what the client was told; good requests have none', async () => {
  const [, , last] = await add(
    rowAt(0),
    rowAt(1_000, fine),
    rowAt(2_000),
    rowAt(3_000, { channel: 'spare' }),
    rowAt(4_000, {
      error_kind: 'rate_limited',
      outcome: 'refused',
      error_upstream_status: null,
      channel: null,
      folded: 40,
    }),
  )
  const { status, body } = await get()
  expect(status).toBe(200)
  expect(body).toMatchObject({ requests: 43, exact: true, other: null, progress: { done: true } })
  expect(body.data).toMatchObject([
    { kind: 'rate_limited', channel: null, upstream_status: null, requests: 40 },
    {
      kind: 'upstream_error',
      endpoint: '/v1/chat/completions',
      channel: 'main',
      upstream_status: 529,
      requests: 2,
      first_at: at(0),
      last_at: at(2_000),
      last_request_id: last,
      last_message: 'It failed at 2000.',
    },
    { kind: 'upstream_error', channel: 'spare', requests: 1 },
  ])
})

test('filters and times choose the errors, and what does not fit the answer is counted', async () => {
  await add(
    rowAt(0),
    rowAt(1_000),
    rowAt(2_000, { endpoint: '/v1/messages' }),
    rowAt(3_000, { tenant_id: other }),
  )
  const some = await get(`?tenant=acme&from=${at(1_000)}&to=${at(4_000)}&limit=1`)
  expect(some.body).toMatchObject({
    requests: 2,
    data: [{ endpoint: '/v1/messages', first_at: at(2_000) }],
    other: { groups: 1, requests: 1 },
  })
  expect((await get(`?error_kind=internal`)).body).toMatchObject({ data: [], requests: 0 })
  for (const [query, field] of [
    ['?limit=0', 'limit'],
    ['?nothing=1', 'nothing'],
    [`?from=${at(1)}&to=${at(0)}`, 'to'],
  ] as const)
    expect(await get(query)).toMatchObject({ status: 400, body: { detail: expect.stringContaining(field) } })
})

test('a member sees the errors of its own tenant alone, without channels and upstreams', async () => {
  await add(
    rowAt(0),
    rowAt(1_000, { channel: 'spare', error_upstream_status: 500 }),
    rowAt(2_000, { tenant_id: other, error_kind: 'internal' }),
    rowAt(3_000, { tenant_id: null, error_kind: 'unauthenticated' }),
  )
  actor = member
  for (const query of ['', '?not_tenant=acme', `?tenant_id=${other}`, '?tenant=other']) {
    const { status, body } = await get(query)
    const isOwn = query === ''
    expect(status).toBe(200)
    expect(body.data, query).toEqual(
      isOwn
        ? [
            expect.objectContaining({
              kind: 'upstream_error',
              channel: null,
              upstream_status: null,
              requests: 2,
            }),
          ]
        : [],
    )
    expect(body.requests, query).toBe(isOwn ? 2 : 0)
  }
})

test('strangers who call any number of paths make no endless answer, and all are counted', async () => {
  const stray = {
    tenant_id: null,
    error_kind: 'unknown_path',
    channel: null,
    error_upstream_status: null,
    status: 404,
    outcome: 'refused',
  }
  const rows = Array.from({ length: 300 }, (_, n) => rowAt(n, { ...stray, endpoint: `/wp-${n}.php` }))
  await add(...rows, rowAt(400), rowAt(401))
  const { body } = await get('?limit=200')
  expect(body.requests).toBe(302)
  expect(body.data[0]).toMatchObject({ kind: 'unknown_path', endpoint: null, requests: 100 })
  expect(body.data[1]).toMatchObject({ kind: 'upstream_error', requests: 2 })
  expect(body.other).toMatchObject({ groups: 2, requests: 2 })
})
