import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { isCostUnknown } from '../../console/src/format/money.ts'
import type { Actor } from '../../src/access/actor.ts'
import { cursorAt } from '../../src/api/admin/list.ts'
import { adminSummaryEndpoints } from '../../src/api/admin/summary.ts'
import { readConfig } from '../../src/config/config.ts'
import { namesFor } from '../../src/usage/log/names-queries.ts'
import { RunningExports } from '../../src/usage/log/running-exports.ts'
import { aRow, startedDatabase, tenants, workOf } from '../ledger/rollups-bed.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'

const [tenantId = '', otherTenant = ''] = tenants
const dayMs = 86_400_000
const end = Math.floor(Date.now() / dayMs) * dayMs
const rows = Array.from({ length: 300 }, () => aRow(end - 2 * dayMs, end))
const days = `from=${new Date(end - 2 * dayMs).toISOString()}&to=${new Date(end).toISOString()}`

let actor = operator
let bed: Awaited<ReturnType<typeof startedDatabase>>
let server: ServedAdmin

beforeAll(async () => {
  bed = await startedDatabase()
  const work = workOf(bed.database)
  await work.insert(rows)
  await work.fold()
  const { bounds } = readConfig({})
  const { database } = bed
  const exports = new RunningExports(bounds)
  server = await serveAdmin({ database }, adminSummaryEndpoints({ database, exports, bounds }), () => actor)
})
afterAll(async () => {
  server?.close()
  await bed?.end()
})

async function ask(query: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const answer = await fetch(`${server.url}/admin/v1/summary${query}`)
  return { status: answer.status, body: z.record(z.string(), z.unknown()).parse(await answer.json()) }
}

const isOf = (tenant: string) => rows.filter(({ tenant_id }) => tenant_id === tenant)
const requestsOf = (some: readonly { folded: number }[]) => some.reduce((sum, { folded }) => sum + folded, 0)
const member: Actor = { ...operator, kind: 'user', role: 'member', tenantId }

test('the sums by tenant, page by page, with the total of all and the rest', async () => {
  const { body } = await ask(`?${days}&group_by=tenant&limit=2&sort=-cost`)
  expect(body).toMatchObject({
    exact: true,
    waiting_days: 0,
    total: {
      requests: requestsOf(rows),
      errors: requestsOf(rows.filter(({ outcome }) => /failed|refused/.test(outcome))),
    },
    other: { groups: 2 },
    next_cursor: expect.any(String),
  })
  const { body: next } = await ask(`?${days}&group_by=tenant&limit=2&sort=-cost&cursor=${body.next_cursor}`)
  expect(next).toMatchObject({ total: body.total, other: null, next_cursor: null })
  const groups = z
    .array(z.object({ tenant_id: z.string().nullable(), requests: z.number() }))
    .parse([body.data, next.data].flat())
  expect(groups).toHaveLength(4)
  for (const group of groups)
    expect(group.requests).toBe(requestsOf(rows.filter(({ tenant_id }) => tenant_id === group.tenant_id)))
})

test('groups have the names of their tenants and keys; an id that nothing has ever had has none', async () => {
  const [named] = rows.flatMap(({ tenant_id, key_id }) =>
    tenant_id && key_id ? [{ tenant_id, key_id }] : [],
  )
  if (named === undefined) throw new Error('no row has a key')
  await bed.database.sql`insert into names ${bed.database.sql([
    { kind: 'tenant', id: named.tenant_id, name: 'acme', since: new Date(0) },
    { kind: 'key', id: named.key_id, name: 'before', since: new Date(0) },
    { kind: 'key', id: named.key_id, name: '=now', since: new Date(end - 60_000) },
  ])}`
  const { body } = await ask(`?${days}&group_by=tenant,key&limit=200`)
  const groups = z.array(z.looseObject({ key_id: z.string().nullable() })).parse(body.data)
  expect(groups.find(({ key_id }) => key_id === named.key_id)).toMatchObject({ tenant: 'acme', key: '=now' })
  expect(groups.find(({ key_id }) => key_id !== null && key_id !== named.key_id)).toMatchObject({ key: null })
})

test('groups of days can be in the order of their time, and without a step that is refused', async () => {
  const atOf = async (sort: string) => {
    const { body } = await ask(`?${days}&group_by=day&sort=${sort}`)
    return z
      .array(z.object({ at: z.string() }))
      .parse(body.data)
      .map(({ at }) => Date.parse(at))
  }
  expect(await atOf('-at')).toEqual([end - dayMs, end - 2 * dayMs])
  expect(await atOf('at')).toEqual([end - 2 * dayMs, end - dayMs])
  const { status, body } = await ask(`?${days}&group_by=model&sort=at`)
  expect(status).toBe(400)
  expect(JSON.stringify(body)).toContain('expected minute, hour or day')
})

test('the CSV has all groups that the pages have, with decimal dollars, and no cost where none is known', async () => {
  const answer = await fetch(`${server.url}/admin/v1/summary/export?${days}&group_by=tenant,key&sort=-cost`)
  expect(answer.headers.get('content-disposition')).toBe('attachment; filename="sums-tenant-key.csv"')
  const [head = '', ...lines] = (await answer.text()).trimEnd().split('\r\n')
  const columns = head.split(',')
  expect(columns.slice(0, 6)).toEqual(['tenant', 'tenant_id', 'key', 'key_id', 'requests', 'errors'])
  const { body } = await ask(`?${days}&group_by=tenant,key&limit=200&sort=-cost`)
  const groups = z
    .array(
      z.object({
        key: z.string().nullable(),
        key_id: z.string().nullable(),
        requests: z.number(),
        errors: z.number(),
        cost_nano_usd: z.string(),
        unpriced_requests: z.number(),
      }),
    )
    .parse(body.data)
  expect(lines).toHaveLength(groups.length)
  for (const [at, group] of groups.entries()) {
    const cells = (lines[at] ?? '').split(',')
    const cell = (name: string) => cells[columns.indexOf(name)]
    const isUnknown = isCostUnknown(group)
    const [whole = '', decimals = ''] = (cell('cost_usd') ?? '').split('.')
    expect(isUnknown ? cell('cost_usd') : String(BigInt(whole + decimals.padEnd(9, '0')))).toBe(
      isUnknown ? '' : group.cost_nano_usd,
    )
    expect(cells.slice(3, 6)).toEqual([group.key_id ?? '', String(group.requests), String(group.errors)])
    // What a spreadsheet would run is text.
    expect(cell('key')).toBe(group.key === '=now' ? "'=now" : '')
  }
  expect((await fetch(`${server.url}/admin/v1/summary/export?${days}&group_by=user`)).status).toBe(400)
})

test('names are found for more ids than a statement can have parameters', async () => {
  const nobody = Array.from({ length: 70_000 }, () => ({
    tenant_id: randomUUID(),
    key_id: null,
    group_id: null,
  }))
  const ids = [...nobody, { tenant_id: tenantId, key_id: null, group_id: null }]
  const names = await bed.database.reads.ask(({ sql }) => namesFor(sql, ids))
  expect(names.of('tenant', nobody[0]?.tenant_id ?? null, new Date())).toBeNull()
})

test('a timeline has one series for each of the highest, and one for the others', async () => {
  const { body } = await ask(`/timeline?${days}&by=key&top=2`)
  const { series, step } = z
    .object({
      step: z.string(),
      series: z.array(
        z.object({
          key_id: z.string().nullish(),
          other: z.boolean(),
          points: z.array(z.object({ at: z.string(), requests: z.number() })),
        }),
      ),
    })
    .parse(body)
  expect(step).toBe('hour')
  expect(series.map(({ other }) => other)).toEqual([false, false, true])
  expect(series.flatMap(({ points }) => points).reduce((sum, { requests }) => sum + requests, 0)).toBe(
    requestsOf(rows),
  )
  for (const { points } of series)
    expect(points.map(({ at }) => at)).toEqual(points.map(({ at }) => at).sort())
})

test('a member sees its own tenant, and no channels', async () => {
  actor = member
  try {
    expect((await ask(`?${days}`)).body).toMatchObject({ total: { requests: requestsOf(isOf(tenantId)) } })
    expect((await ask(`?${days}&tenant_id=${otherTenant}`)).status).toBe(404)
    for (const query of [
      `?${days}&group_by=model,channel`,
      `?${days}&channel=eu`,
      `/timeline?${days}&by=channel`,
      `/export?${days}&group_by=channel`,
    ])
      expect(await ask(query), query).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    const { body } = await ask(`/timeline?${days}&step=day`)
    expect(JSON.stringify(body)).not.toContain(otherTenant)
  } finally {
    actor = operator
  }
})

test('what the sums cannot answer is a 400 that names the field and what it must be', async () => {
  for (const [query, detail] of [
    ['?group_by=user', 'group_by: expected a comma-separated list of'],
    ['?group_by=hour,day', 'group_by: expected at most one of minute, hour and day'],
    [
      `?${days}&group_by=minute,tenant`,
      'from: expected no grouping or filter other than channel and outcome',
    ],
    ['?from=2020-01-01&to=2020-02-01&group_by=minute', 'from: expected a time within the last 47 hours'],
    [
      '?from=2020-01-01&to=2020-02-01&group_by=key,model',
      'from: expected whole days (UTC) and a single dimension before',
    ],
    ['?from=2000-01-01&to=2020-02-01', 'from: expected at most 3660 days'],
    ['?from=2020-01-02&to=2020-01-01T00:00:00Z', 'to: expected a time after "from"'],
    ['?cursor=x', 'cursor: expected the next_cursor'],
    ['/timeline?from=2020-01-01&to=2022-01-01&step=hour&by=model', 'step: expected at most 10000 points'],
  ]) {
    const { status, body } = await ask(query ?? '')
    expect(status, query).toBe(400)
    expect(JSON.stringify(body), query).toContain(
      JSON.stringify(detail)
        .slice(1, -1)
        .replace(/^\w+: /, ''),
    )
  }
})

test('a cursor that no page gave is refused', async () => {
  for (const value of ['x', -1, 1.5, 1e300, null]) {
    const { status, body } = await ask(
      `?${days}&group_by=key&cursor=${cursorAt('-requests', { value, id: '' })}`,
    )
    expect([status, body.detail]).toEqual([400, expect.stringContaining('cursor')])
  }
})

test('the last day that can be written is a day', async () => {
  expect((await ask('?from=9999-12-01&to=9999-12-31')).status).toBe(200)
  expect((await ask('?from=0000-01-01&to=0001-01-03')).status).toBe(200)
})
