import { expect, test } from 'vitest'
import { archivePass } from '../../src/usage/archive/archive-pass.ts'
import { rowsMatching } from '../../src/usage/archive/conditions.ts'
import type { Condition } from '../../src/usage/log/row-tests.ts'
import { aBed } from './archive-bed.ts'
import { midnight, seedDay } from './seeded-log.ts'

const from = new Date(midnight(12))
const to = new Date(midnight(6))

/** What Postgres says about the same filter. */
const cases: {
  name: string
  filter: Condition
  sql: string
}[] = [
  {
    name: 'is',
    filter: { not: false, test: 'is', columns: ['channel'], values: ['频道', null] },
    sql: "channel = '频道' or channel is null",
  },
  {
    name: 'is not',
    filter: { not: true, test: 'is', columns: ['channel'], values: ['main'] },
    sql: "(channel = 'main') is not true",
  },
  {
    name: 'is of two columns',
    filter: { not: false, test: 'is', columns: ['requested_model', 'served_model'], values: ['模型'] },
    sql: "requested_model = '模型' or served_model = '模型'",
  },
  {
    name: 'is a number',
    filter: { not: false, test: 'is', columns: ['status'], values: [429, 500] },
    sql: 'status in (429, 500)',
  },
  { name: 'is true', filter: { not: false, test: 'is', columns: ['stream'], values: [true] }, sql: 'stream' },
  {
    name: 'contains',
    filter: { not: false, test: 'contains', column: 'error_message', parts: ['"QUOTED"', 'エ%ラ'] },
    sql: `error_message ilike '%"quoted"%'`,
  },
  {
    name: 'contains not',
    filter: { not: true, test: 'contains', column: 'error_message', parts: ['エラー'] },
    sql: 'error_message is null',
  },
  {
    name: 'between',
    filter: {
      not: false,
      test: 'between',
      column: 'cost_nano',
      ranges: [{ least: 9_007_199_254_740_995n, most: 9_007_199_254_741_001n }, null],
    },
    sql: 'cost_nano between 9007199254740995 and 9007199254741001 or cost_nano is null',
  },
  {
    name: 'between, half open',
    filter: {
      not: true,
      test: 'between',
      column: 'input_tokens',
      ranges: [{ least: undefined, most: 1_000_000_000n }],
    },
    sql: '(input_tokens <= 1000000000) is not true',
  },
  {
    name: 'uncharged',
    filter: { not: false, test: 'uncharged', values: [true] },
    sql: 'cost_nano > coalesce(charged_nano, cost_nano)',
  },
  {
    name: 'uncharged not',
    filter: { not: true, test: 'uncharged', values: [false, null] },
    sql: 'cost_nano > charged_nano',
  },
  { name: 'tagged', filter: { not: false, test: 'tagged', tags: ['a', '標籤'] }, sql: "tags @> '{a,標籤}'" },
  {
    name: 'tagged none',
    filter: { not: false, test: 'tagged', tags: [null] },
    sql: 'coalesce(cardinality(tags), 0) = 0',
  },
  {
    name: 'tagged not',
    filter: { not: true, test: 'tagged', tags: ['a', 'b c'] },
    sql: "(tags @> '{a}' or tags @> '{b c}') is not true",
  },
  {
    name: 'within a prefix',
    filter: { not: false, test: 'within', column: 'client_address', blocks: ['10.1.0.0/16'] },
    sql: "client_address like '10.1.%'",
  },
  {
    name: 'within an octet',
    filter: { not: false, test: 'within', column: 'client_address', blocks: ['10.1.2.0/26'] },
    sql: "client_address ~ '^[0-9.]+$' and client_address::inet <<= '10.1.2.0/26'",
  },
  {
    name: 'within a block of IPv6',
    filter: { not: false, test: 'within', column: 'client_address', blocks: ['2001:db8::/45'] },
    sql: "client_address ~ ':' and client_address::inet <<= '2001:db8::/45'",
  },
]

test('every condition of an admin chooses the rows that Postgres chose, in the same order', async () => {
  const bed = await aBed()
  for (const day of [7, 8, 9]) await seedDay(bed.sql, midnight(day), 60, bed.seed)
  const addresses = [
    '10.1.2.3',
    '10.1.2.77',
    '10.2.0.1',
    '2001:db8::1',
    '2001:db8:7:1::2',
    '2001:db8:8::1',
    '::1',
    'unix',
    '',
  ]
  await bed.sql`
    UPDATE requests SET client_address = (${addresses}::text[])[1 + abs(hashtext(id::text)) % ${addresses.length}],
      total_ms = nullif(abs(hashtext(id::text)) % 5000, 0)`
  const before = new Map<string, string[]>()
  for (const { name, sql } of cases) {
    const rows = await bed.sql.unsafe<{ id: string }[]>(
      `SELECT id FROM requests WHERE ${sql} ORDER BY created_at DESC, id DESC`,
    )
    before.set(
      name,
      rows.map(({ id }) => id),
    )
  }
  const counted = await bed.sql<{ outcome: string; requests: string }[]>`
    SELECT outcome, sum(folded)::text AS requests FROM requests GROUP BY 1 ORDER BY 1`
  expect(await archivePass(bed.options)).toMatchObject({ failed: [] })
  for (const { name, filter } of cases) {
    const where = rowsMatching({ conditions: [filter] })
    const rows = await bed.archive.slice({ where, from, to, order: 'newest', most: 1000 })
    expect(rows.length, name).toBeGreaterThan(0)
    expect(
      rows.map(({ id }) => id),
      name,
    ).toEqual(before.get(name))
    const oldest = await bed.archive.slice({ where, from, to, order: 'oldest', most: 5 })
    expect(
      oldest.map(({ id }) => id),
      name,
    ).toEqual(before.get(name)?.reverse().slice(0, 5))
  }
  const everything = rowsMatching({ conditions: [] })
  const all = await bed.archive.slice({ where: everything, from, to, order: 'newest', most: 1000 })
  for (const measure of ['cost_nano', 'total_ms'] as const) {
    const values = all.flatMap((row) => (row[measure] === null ? [] : [BigInt(row[measure])]))
    const greatest = await bed.archive.slice({ where: everything, from, to, order: measure, most: 5 })
    expect(
      greatest.map((row) => BigInt(row[measure] ?? -1)),
      measure,
    ).toEqual(values.sort((one, other) => (one > other ? -1 : 1)).slice(0, 5))
    expect(greatest.length, measure).toBe(5)
  }
  const parts = await bed.archive.parts('requests', { from, to })
  const counts = await bed.archive.counts({ where: everything, from, to, bucketMs: 3_600_000 }, parts)
  const sums = new Map<string, number>()
  for (const { outcome, requests } of counts ?? [])
    sums.set(outcome, (sums.get(outcome) ?? 0) + Number(requests))
  expect(Object.fromEntries(sums)).toEqual(
    Object.fromEntries(counted.map((row) => [row.outcome, Number(row.requests)])),
  )
  expect(await bed.archive.counts({ where: everything, from, to, bucketMs: 3_600_000 }, [])).toBeUndefined()
})
