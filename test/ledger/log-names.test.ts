import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { filterFrom, filterQuery } from '../../src/api/log-filter.ts'
import { withIds } from '../../src/usage/log/names-queries.ts'
import { inScope } from '../../src/usage/log/row-tests.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** Which ids the names of a filter stand for. */

let drop: () => Promise<void>
let database: Database
const [own, other, group, ownKey] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]

beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url, { max: 1 })
  const { sql } = database
  await sql`INSERT INTO tenants (id, name, managed_by) VALUES (${own}, 'own', 'admin'), (${other}, 'other', 'admin')`
  await sql`INSERT INTO key_groups (id, name, models, channels, managed_by) VALUES (${group}, 'common', '{*}', '{*}', 'admin')`
  await sql`
    INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
    VALUES (${ownKey}, ${own}, ${group}, 'ci', '\\x01', 'sk', 'admin'), (${randomUUID()}, ${other}, ${group}, 'ci', '\\x02', 'sk', 'admin')`
  // More of this name than one statement reads, and all younger.
  await sql`
    INSERT INTO names (kind, id, name, since)
    SELECT 'key', gen_random_uuid(), 'ci', now() + interval '1 hour' FROM generate_series(1, 10000)`
})
afterAll(async () => {
  await database?.close()
  await drop?.()
})

const read = async (query: Record<string, string>, tenantId?: string) => {
  const filter = filterFrom(filterQuery.parse(query))
  const { conditions } = await withIds(
    database.sql,
    tenantId === undefined ? filter : inScope(filter, { tenantId, keyId: null }),
  )
  return conditions.at(-1)
}

test('a member finds the key of its tenant by name, however many keys of others have that name', async () => {
  expect(await read({ key: 'ci' }, own)).toMatchObject({ columns: ['key_id'], values: [ownKey] })
})

test('names of groups count for a member, and names of other tenants do not', async () => {
  expect(await read({ group: 'common' }, own)).toMatchObject({ columns: ['group_id'], values: [group] })
  expect(await read({ tenant: 'own' }, own)).toMatchObject({ columns: ['tenant_id'], values: [own] })
  expect(await read({ tenant: 'other' }, own)).toMatchObject({ columns: ['tenant_id'], values: [] })
  expect(await read({ tenant: 'other' })).toMatchObject({ columns: ['tenant_id'], values: [other] })
})
