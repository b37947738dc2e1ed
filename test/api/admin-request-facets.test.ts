import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { adminRequestFacetsEndpoint } from '../../src/api/admin/request-facets.ts'
import { adminRequestsEndpoints } from '../../src/api/admin/requests.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { askLogFor } from '../../src/usage/log/ask.ts'
import { countFacets } from '../../src/usage/log/facets.ts'
import { emptyArchive } from '../support/archive.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'

/** The values of matching requests with their numbers, over HTTP. test/archive/admin-log.test.ts has archived days. */

const acme = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'
const key = '00000000-0000-4000-8000-000000000003'
const member: Actor = { ...operator, kind: 'user', id: other, role: 'member', tenantId: acme }
const start = Date.now() - 3_600_000

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let database: Database
let server: ServedAdmin
let actor: Actor = operator
const bounds = { logQueryMs: 20_000 }
const context = { clock: systemClock, bounds, ledger: { shipNow: async () => {} }, showsRouting: false }

beforeAll(async () => {
  fresh = await freshDatabase()
  database = openDatabase(fresh.url, { max: 2 })
  const all = { ...context, database, archive: emptyArchive(database) }
  server = await serveAdmin(
    { database },
    [adminRequestFacetsEndpoint(all), ...adminRequestsEndpoints(all)],
    () => actor,
  )
  await database.sql`insert into tenants (id, name, managed_by) values (${acme}, 'acme', 'admin'), (${other}, 'other', 'admin')`
  const models = ['large', 'large', 'large', 'small', 'small', 'odd']
  await database.sql`insert into requests ${database.sql(models.map(rowOf))}`
})
afterAll(async () => {
  server.close()
  await database.close()
  await fresh.drop()
})
beforeEach(() => {
  actor = operator
})

function rowOf(model: string, at: number) {
  const time = (start + at).toString(16).padStart(12, '0')
  const isFine = at % 2 === 0
  return {
    ...{
      id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`,
      created_at: new Date(start + at),
    },
    ...{ tenant_id: at < 4 ? acme : other, key_id: at < 2 ? key : null, requested_model: model },
    ...{ endpoint: '/v1/chat/completions', channel: isFine ? 'main' : null, stream: false },
    ...{ status: isFine ? 200 : 429, outcome: isFine ? 'succeeded' : 'refused', usage_source: 'none' },
    ...{ error_kind: isFine ? null : 'rate_limited', error_reason: isFine ? null : 'key_rpm' },
    ...{ attempt_count: 1, folded: at === 5 ? 4 : 1 },
  }
}

async function get(path: string) {
  const response = await fetch(`${server.url}/admin/v1/requests${path}`)
  return { status: response.status, body: JSON.parse(await response.text()) }
}

const facets = async (query = '') => (await get(`/facets${query}`)).body
const values = (body: Awaited<ReturnType<typeof facets>>, filter: string) =>
  body.data.find((each: { filter: string }) => each.filter === filter)?.values

test('each value has the number of requests that the list has with its filter', async () => {
  for (const query of ['', '?status=4xx', '?not_requested_model=large']) {
    const body = await facets(query)
    expect(body).toMatchObject({ exact: true, progress: { done: true } })
    for (const { filter, values, other } of body.data) {
      expect(other).toBe(0)
      for (const { value, requests } of values) {
        const more = `${query === '' ? '?' : `${query}&`}${filter}=${encodeURIComponent(value ?? '')}`
        const { data } = (await get(more)).body
        const sum = data.reduce((all: number, { folded }: { folded: number }) => all + folded, 0)
        expect(requests, more).toBe(sum)
      }
    }
  }
})

test('the values with the most requests come first, with names, and the others are counted', async () => {
  const body = await facets('?limit=1')
  expect(body.requests).toBe(9)
  expect(body.data[0]).toEqual({
    filter: 'requested_model',
    values: [{ value: 'odd', name: null, requests: 4 }],
    other: 5,
  })
  expect(values(await facets(), 'tenant_id')).toEqual([
    { value: other, name: 'other', requests: 5 },
    { value: acme, name: 'acme', requests: 4 },
  ])
  expect(values(body, 'channel')).toEqual([{ value: null, name: null, requests: 6 }])
})

test('a member sees its own tenant, without tenants and channels', async () => {
  actor = member
  const body = await facets()
  expect(body.requests).toBe(4)
  expect(body.data.map(({ filter }: { filter: string }) => filter)).toEqual([
    ...['requested_model', 'key_id', 'status', 'outcome', 'error_reason'],
  ])
  expect((await get('/facets?channel=main')).status).toBe(403)
})

test('a count that stops early says how far it came', async () => {
  const walk = { clock: systemClock, filter: { conditions: [] } }
  const from = new Date(start - 20 * 86_400_000)
  const found = await countFacets(
    askLogFor(database, 'test'),
    { ...walk, from, to: new Date() },
    { columns: ['requested_model'], withinMs: 0 },
  )
  expect(found.done).toBe(false)
  expect(found.searchedTo > from).toBe(true)
})
