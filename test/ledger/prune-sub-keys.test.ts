import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { pruneSubKeys } from '../../src/usage/prune-sub-keys.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

let drop: () => Promise<void>
let database: Database
const [tenant, group, maker] = [randomUUID(), randomUUID(), randomUUID()]

beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url, { max: 1 })
  const { sql } = database
  await sql`INSERT INTO tenants (id, name, managed_by) VALUES (${tenant}, 'own', 'admin')`
  await sql`INSERT INTO key_groups (id, name, models, channels, managed_by) VALUES (${group}, 'g', '{*}', '{*}', 'admin')`
})
afterAll(async () => {
  await database?.close()
  await drop?.()
})

/** Keys of this name, revoked this many days ago. */
const add = (
  name: string,
  { count = 1, days }: { count?: number; days: number | null },
  parent: string | null,
) =>
  database.sql`
    INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by, parent_id, revoked_at)
    SELECT CASE WHEN ${name} = 'maker' THEN ${maker}::uuid ELSE gen_random_uuid() END, ${tenant}, ${group},
      ${name} || CASE WHEN n = 1 THEN '' ELSE ' ' || n END, decode(md5(${name} || n), 'hex'), 'sk', 'admin', ${parent}::uuid,
      now() - make_interval(days => ${days}::integer)
    FROM generate_series(1, ${count}) n`

test('sub-keys are deleted when the log has nothing of them, and their names stay', async () => {
  const { sql } = database
  await add('maker', { days: 400 }, null)
  await add('old', { days: 92, count: 2_500 }, maker)
  await add('young', { days: 90 }, maker)
  await add('living', { days: null }, maker)
  const [old] = await sql`SELECT id FROM keys WHERE name = 'old'`
  await sql`
    INSERT INTO budget_periods (owner_id, period, starts_at, spent_nano) VALUES (${old?.id}, 'total', now(), 5),
      (${maker}, 'total', now(), 5)`
  expect(await pruneSubKeys(sql, 90, 60_000)).toBe(2_500)
  expect((await sql`SELECT name FROM keys ORDER BY name`).map(({ name }) => name)).toEqual([
    'living',
    'maker',
    'young',
  ])
  expect(await sql`SELECT owner_id FROM budget_periods`).toEqual([{ owner_id: maker }])
  expect(await sql`SELECT name FROM names WHERE id = ${old?.id} AND name IS NOT NULL`).toEqual([
    { name: 'old' },
  ])
  // Another process has just done it.
  await add('later', { days: 92 }, maker)
  expect(await pruneSubKeys(sql, 90, 60_000)).toBe(0)
})
