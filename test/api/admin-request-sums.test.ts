import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Actor } from '../../src/access/actor.ts'
import { adminRequestSumsEndpoint } from '../../src/api/admin/request-sums.ts'
import { usd } from '../../src/canonical/usd.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { RunningExports } from '../../src/usage/log/running-exports.ts'
import { emptyArchive } from '../support/archive.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'

/** Totals of the matching rows as CSV, over HTTP. test/archive/admin-log.test.ts has archived days. */

const acme = '00000000-0000-4000-8000-000000000001'
const other = '00000000-0000-4000-8000-000000000002'
const member: Actor = { ...operator, kind: 'user', id: other, role: 'member', tenantId: acme }
const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000
const day = (at: number) => new Date(midnight + at * 3_600_000).toISOString().slice(0, 10)

let fresh: Awaited<ReturnType<typeof freshDatabase>>
let database: Database
let server: ServedAdmin
let actor: Actor = operator
const bounds = { logQueryMs: 20_000, exportRowsMax: 60, clientStallMs: 20_000 }

/** Of two days before this one; each has a cost but every fifth, two of three an end user, and some tags. */
const rows = Array.from({ length: 90 }, (_, at) => {
  const hours = -1 - (at % 40)
  const time = (midnight + hours * 3_600_000 + at).toString(16).padStart(12, '0')
  return {
    ...{
      id: `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`,
      created_at: new Date(midnight + hours * 3_600_000 + at),
    },
    ...{ tenant_id: at % 4 === 0 ? other : acme, requested_model: at % 2 === 0 ? 'large' : 'small' },
    ...{
      endpoint: '/v1/chat/completions',
      channel: 'main',
      stream: false,
      status: 200,
      usage_source: 'none',
    },
    ...{ outcome: at % 7 === 0 ? 'failed' : 'succeeded', attempt_count: 1, folded: at === 5 ? 4 : 1 },
    ...{
      input_tokens: at,
      output_tokens: 2,
      cost_nano: at % 5 === 0 ? null : at * 1_000_000 + 1,
      charged_nano: null,
    },
    ...{ end_user: [null, 'ann', 'bob, "b"'][at % 3] ?? null, session: `s-${at}` },
    tags: [null, ['red'], ['red', 'blue']][at % 3] ?? null,
  }
})
type Row = (typeof rows)[number]

beforeAll(async () => {
  fresh = await freshDatabase()
  database = openDatabase(fresh.url, { max: 2 })
  const all = {
    ...{ clock: systemClock, bounds, ledger: { shipNow: async () => {} }, showsRouting: false },
    ...{ database, archive: emptyArchive(database), exports: new RunningExports({ exportsMax: 4 }) },
  }
  server = await serveAdmin({ database }, [adminRequestSumsEndpoint(all)], () => actor)
  await database.sql`insert into tenants (id, name, managed_by) values (${acme}, 'acme', 'admin'), (${other}, 'other', 'admin')`
  await database.sql`insert into requests ${database.sql(rows)}`
})
afterAll(async () => {
  server.close()
  await database.close()
  await fresh.drop()
})
beforeEach(() => {
  actor = operator
})

const get = (query: string) => fetch(`${server.url}/admin/v1/requests/sums/export?${query}`)

/** The cells of a line of our CSV, of which none has a line end. */
const cellsOf = (line: string) =>
  line
    .split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
    .map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell))

async function groupsOf(query: string) {
  const answer = await get(query)
  expect(answer.status, query).toBe(200)
  const [head = '', ...lines] = (await answer.text())
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .split('\r\n')
  const names = cellsOf(head)
  return lines.map((line) => Object.fromEntries(cellsOf(line).map((cell, at) => [names[at], cell])))
}

const names: Readonly<Record<string, (row: Row) => readonly (string | null)[]>> = {
  day: ({ created_at }) => [created_at.toISOString().slice(0, 10)],
  tenant: ({ tenant_id }) => [tenant_id === acme ? 'acme' : 'other'],
  model: ({ requested_model }) => [requested_model],
  end_user: ({ end_user }) => [end_user],
  session: ({ session }) => [session],
  tag: ({ tags }) => tags ?? [null],
}

/** Every combination of the values of a row. */
function keysOf(row: Row, parts: readonly string[]): string[] {
  return parts.reduce<string[]>(
    (keys, part) => keys.flatMap((key) => (names[part]?.(row) ?? []).map((value) => `${key}/${value ?? ''}`)),
    [''],
  )
}

test.each([
  'day',
  'tenant',
  'end_user',
  'tag',
  'day,end_user',
  'tenant,model,tag',
  'tag,end_user,day,tenant,model',
])('the sums by %s are those of the rows', async (by) => {
  const parts = by.split(',')
  for (const [query, matches] of [
    ['', () => true],
    [
      '&outcome=succeeded&requested_model=large',
      (row: Row) => row.outcome === 'succeeded' && row.requested_model === 'large',
    ],
    [`&from=${day(-24)}`, (row: Row) => row.created_at.getTime() >= midnight - 86_400_000],
  ] as const) {
    const truth = new Map<string, Row[]>()
    for (const row of rows.filter(matches))
      for (const key of keysOf(row, parts)) truth.set(key, [...(truth.get(key) ?? []), row])
    const groups = await groupsOf(`group_by=${by}${query}`)
    expect(groups.length, query).toBe(truth.size)
    for (const group of groups) {
      const of = truth.get(parts.map((part) => `/${group[part]}`).join('')) ?? []
      const sum = (value: (row: Row) => number) => of.reduce((all, row) => all + value(row), 0)
      const cost = sum(({ cost_nano }) => cost_nano ?? 0)
      const unpriced = sum(({ cost_nano, folded }) => (cost_nano === null ? folded : 0))
      expect(group, JSON.stringify(group)).toMatchObject({
        requests: String(sum(({ folded }) => folded)),
        errors: String(sum(({ outcome, folded }) => (outcome === 'failed' ? folded : 0))),
        input_tokens: String(sum(({ input_tokens }) => input_tokens)),
        output_tokens: String(sum(({ output_tokens }) => output_tokens)),
        unpriced_requests: String(unpriced),
        cost_usd: unpriced > 0 && cost === 0 ? '' : usd(BigInt(cost)),
      })
    }
    const costs = groups.map(({ cost_usd }) => Number(cost_usd))
    expect(costs).toEqual(costs.toSorted((one, another) => another - one))
  }
})

test('more groups than a file may have are refused, and no sum is left out', async () => {
  const answer = await get('group_by=session')
  expect(answer.status).toBe(400)
  expect(await answer.text()).toContain('expected at most 60 groups; choose a shorter period or fewer parts')
  expect(await groupsOf(`group_by=session&tenant_id=${other}`)).toHaveLength(23)
})

test('a member gets the sums of its own tenant, and none by channel', async () => {
  actor = member
  const groups = await groupsOf('group_by=tenant')
  expect(groups.map(({ tenant, tenant_id }) => [tenant, tenant_id])).toEqual([['acme', acme]])
  expect((await get('group_by=channel')).status).toBe(403)
  actor = operator
  expect((await groupsOf('group_by=channel')).map(({ channel }) => channel)).toEqual(['main'])
})

test('a part that does not exist is named, with those that do', async () => {
  for (const query of ['group_by=user', 'group_by=', 'group_by=day&sort=cost'])
    expect((await get(query)).status).toBe(400)
  expect(await (await get('group_by=user')).text()).toContain('end_user, session, tag')
})
