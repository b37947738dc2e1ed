import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import type { Actor } from '../../src/access/actor.ts'
import { keysEndpoints } from '../../src/api/admin/keys.ts'
import { cursorAt } from '../../src/api/admin/list.ts'
import { tenantsEndpoints } from '../../src/api/admin/tenants.ts'
import { aRow, startedDatabase, workOf } from '../ledger/rollups-bed.ts'
import { operator, type ServedAdmin, serveAdmin } from '../support/serve-admin.ts'

/** Lists of tenants and keys with what each has spent, against a recount of the log. */

const dayMs = 86_400_000
const today = Math.floor(Date.now() / dayMs) * dayMs
const tenants = Array.from({ length: 7 }, (_, at) => ({ id: randomUUID(), name: `tenant-${at}` }))
const keys = tenants
  .slice(0, 5)
  .flatMap(({ id: tenantId }) => [1, 2].map((at) => ({ id: randomUUID(), tenantId, name: `key-${at}` })))
const groupId = randomUUID()

let actor: Actor = operator
let bed: Awaited<ReturnType<typeof startedDatabase>>
let server: ServedAdmin

beforeAll(async () => {
  bed = await startedDatabase()
  const { sql } = bed.database
  await sql`INSERT INTO key_groups (id, name, models, channels, managed_by) VALUES (${groupId}, 'all', '{*}', '{*}', 'admin')`
  for (const [at, { id, name }] of tenants.entries()) {
    await sql`INSERT INTO tenants (id, name, managed_by) VALUES (${id}, ${name}, 'admin')`
    await sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${id}, ${at !== 3}, ${String(at * 1_000 - 2_000)})`
  }
  for (const { id, tenantId, name } of keys)
    await sql`INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
      VALUES (${id}, ${tenantId}, ${groupId}, ${name}, ${Buffer.from(id)}, 'tg-x', 'admin')`
  const work = workOf(bed.database)
  const rows = (from: number, to: number, count: number) =>
    Array.from({ length: count }, (_, at) => keys[at % (keys.length - 1)]).flatMap((key) =>
      key === undefined
        ? []
        : [{ ...aRow(from, to), tenant_id: key.tenantId, key_id: key.id, group_id: groupId }],
    )
  await work.insert(rows(today - 40 * dayMs, today, 400))
  await work.fold()
  // Not folded yet.
  await work.insert(rows(today, Date.now(), 60))
  const { database } = bed
  const context = { database } as never
  server = await serveAdmin(context, [...tenantsEndpoints(context), ...keysEndpoints(context)], () => actor)
})
afterAll(async () => {
  server?.close()
  await bed?.end()
})

const listed = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      balance_nano_usd: z.string().nullish(),
      spend: z
        .object({ requests: z.number(), unpriced_requests: z.number(), cost_nano_usd: z.string() })
        .nullable(),
    }),
  ),
  next_cursor: z.string().nullable(),
})

async function ask(path: string): Promise<{ status: number; body: unknown }> {
  const answer = await fetch(`${server.url}/admin/v1/${path}`)
  return { status: answer.status, body: await answer.json() }
}

async function list(path: string) {
  const { status, body } = await ask(path)
  expect(status, JSON.stringify(body)).toBe(200)
  return listed.parse(body)
}

async function pages(path: string) {
  const all: z.output<typeof listed>['data'] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const page: z.output<typeof listed> = await list(`${path}${cursor === '' ? '' : `&cursor=${cursor}`}`)
    all.push(...page.data)
    cursor = page.next_cursor
  }
  return all
}

/** By plain SQL over the usage log. */
async function recount(part: 'tenant' | 'key', days: number) {
  const from = new Date(today - (days - 1) * dayMs)
  const rows = await bed.database.sql<{ id: string; requests: number; unpriced: number; cost: string }[]>`
    SELECT ${bed.database.sql(`${part}_id`)} AS id, sum(folded)::integer AS requests,
      coalesce(sum(folded) FILTER (WHERE cost_nano IS NULL), 0)::integer AS unpriced, coalesce(sum(cost_nano), 0)::text AS cost
    FROM requests WHERE created_at >= ${from} GROUP BY 1`
  return new Map(
    rows.map(({ id, requests, unpriced, cost }) => [
      id,
      { requests, unpriced_requests: unpriced, cost_nano_usd: cost },
    ]),
  )
}

const nothing = { requests: 0, unpriced_requests: 0, cost_nano_usd: '0' }

test.each(['tenant', 'key'] as const)(
  'every %s of a page has its spend, as the log recounts it',
  async (part) => {
    for (const days of [1, 30, 366]) {
      const counted = await recount(part, days)
      for (const sort of ['name', '-created_at']) {
        const rows = await pages(`${part}s?spend_days=${days}&limit=3&sort=${sort}`)
        expect(rows).toHaveLength(part === 'tenant' ? tenants.length : keys.length)
        for (const { id, spend } of rows) expect(spend, `${days} days`).toEqual(counted.get(id) ?? nothing)
      }
    }
  },
)

test.each(['tenant', 'key'] as const)(
  'the %ss are sorted by their spend, over several pages',
  async (part) => {
    const counted = await recount(part, 30)
    const costs = (rows: z.output<typeof listed>['data']) =>
      rows.map(({ spend }) => BigInt(spend?.cost_nano_usd ?? -1))
    const order = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0)
    const down = await pages(`${part}s?spend_days=30&limit=2&sort=-spend`)
    for (const { id, spend } of down) expect(spend).toEqual(counted.get(id) ?? nothing)
    expect(new Set(down.map(({ id }) => id)).size).toBe(part === 'tenant' ? tenants.length : keys.length)
    expect(costs(down)).toEqual(costs(down).toSorted(order).reverse())
    const up = await pages(`${part}s?spend_days=30&limit=2&sort=spend`)
    expect(up.map(({ id }) => id)).toEqual(down.map(({ id }) => id).reverse())
  },
)

test('tenants are sorted by their balance, and those without a limit come last', async () => {
  const rows = await pages('tenants?limit=2&sort=-balance')
  expect(rows.map(({ balance_nano_usd }) => balance_nano_usd)).toEqual([
    ...['4000', '3000', '2000', '0', '-1000', '-2000'],
    null,
  ])
  const up = await pages('tenants?limit=2&sort=balance')
  expect(up.map(({ balance_nano_usd }) => balance_nano_usd)).toEqual([
    ...['-2000', '-1000', '0', '2000', '3000', '4000'],
    null,
  ])
})

test('a list has no spend unless it is wanted, and cannot be sorted by one that is not', async () => {
  expect((await list('keys')).data.every(({ spend }) => spend === null)).toBe(true)
  expect(await ask('tenants?sort=-spend')).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('spend_days') },
  })
  for (const value of ['x', 1, '1.5', '']) {
    const cursor = cursorAt('-spend', { value, id: randomUUID() })
    expect(await ask(`keys?spend_days=30&sort=-spend&cursor=${cursor}`)).toMatchObject({ status: 400 })
  }
})

test('who cannot read the log sees no spend, and who cannot read money no balance', async () => {
  actor = { ...operator, kind: 'token', scopes: ['tenants:read', 'keys:read'] }
  try {
    for (const path of ['tenants?spend_days=30', 'keys?spend_days=30', 'tenants?sort=balance'])
      expect(await ask(path), path).toMatchObject({ status: 403, body: { code: 'permission_denied' } })
    expect((await list('tenants')).data.every(({ balance_nano_usd }) => balance_nano_usd === null)).toBe(true)
  } finally {
    actor = operator
  }
})

test('a member sees the spend of its own keys only', async () => {
  const [tenant] = tenants
  actor = { ...operator, kind: 'user', role: 'member', tenantId: tenant?.id ?? '' }
  try {
    const counted = await recount('key', 30)
    const rows = await pages('keys?spend_days=30&limit=1&sort=-spend')
    expect(rows.map(({ id }) => id).toSorted()).toEqual(
      keys
        .filter(({ tenantId }) => tenantId === tenant?.id)
        .map(({ id }) => id)
        .toSorted(),
    )
    for (const { id, spend } of rows) expect(spend).toEqual(counted.get(id))
  } finally {
    actor = operator
  }
})
