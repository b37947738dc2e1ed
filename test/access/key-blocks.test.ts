import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { applyGatewayFile } from '../../src/access/apply-gateway-file.ts'
import { blockKey, unblockKey } from '../../src/access/key-block-queries.ts'
import { keysOf } from '../../src/access/keys.ts'
import { ringOf } from '../../src/canonical/key-ring.ts'
import { gatewaySource } from '../../src/catalog/gateway-source.ts'
import { eq } from '../../src/db/drizzle.cjs'
import { keys } from '../../src/db/schema.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** What a gateway.yaml can do to a block: nothing. */

const keeper = new SecretKeeper('a secret key for tests, long enough')
let origin: Awaited<ReturnType<typeof freshDatabase>>
let database: Database
beforeAll(async () => {
  origin = await freshDatabase()
  database = openDatabase(origin.url)
})
afterAll(async () => {
  await database.close()
  await origin.drop()
})
beforeEach(async () => {
  await database.sql`TRUNCATE tenants, accounts, key_groups, keys, gateway_file CASCADE`
  await apply({ ci: leaked, other })
  await block('ci')
})

const leaked = 'the-secret-that-leaked-01'
const other = 'the-secret-of-the-other-1'
const fresh = 'a-secret-that-is-fresh-01'

/** Applies a file with these keys of one tenant. */
async function apply(secrets: Record<string, string>, tenant = 'acme') {
  const list = Object.entries(secrets).map(([name, secret]) => `{ name: ${name}, secret: ${secret} }`)
  const text = `groups: [{ name: default }]\ntenants: [{ name: ${tenant}, keys: [${list.join(', ')}] }]`
  const source = gatewaySource(text, { path: 'gateway.yaml', env: {} })
  const place = { ...source.place, host: 'here' }
  expect(await applyGatewayFile(database, { ...source, place }, keeper)).toMatchObject({ kind: 'applied' })
}

async function rowOf(name: string) {
  const [row] = await database.db.select().from(keys).where(eq(keys.name, name))
  if (row === undefined) throw new Error(`there is no key ${name}`)
  return row
}

const block = async (name: string) => {
  const row = await rowOf(name)
  await database.db.transaction((tx) =>
    blockKey(tx, row, { reason: 'it leaked', by: 'ada', isMember: false }),
  )
}
const unblock = async (name: string) => {
  const { id } = await rowOf(name)
  await database.db.transaction((tx) => unblockKey(tx, id))
}

/** What a caller with this secret is: a blocked key or not, or no key at all. */
async function stateOf(secret: string) {
  const all = keysOf(database, {
    peppers: ringOf(keeper.pepper),
    keyCacheMax: 10,
    keyCacheNegativeMs: 1,
    knownKeysMax: 10,
  })
  const identity = await all.lookup(secret)
  return identity === undefined ? 'unknown' : identity.blocked ? 'blocked' : 'free'
}

test('a key of the file is blocked, and no other', async () => {
  expect([await stateOf(leaked), await stateOf(other)]).toEqual(['blocked', 'free'])
})

test('a removal from the file and a return with the same secret leave it blocked', async () => {
  await apply({ other })
  await apply({ other, ci: leaked })
  expect([await stateOf(leaked), await stateOf(other)]).toEqual(['blocked', 'free'])
})

test('a key of another name, also in another tenant, is blocked when it gets the secret', async () => {
  await apply({ renamed: leaked, other })
  expect([await stateOf(leaked), await stateOf(other)]).toEqual(['blocked', 'free'])
  await apply({ moved: leaked, other: fresh }, 'elsewhere')
  expect([await stateOf(leaked), await stateOf(fresh)]).toEqual(['blocked', 'free'])
})

test('a new secret for the key leaves it blocked, and the former secret does not come back as another key', async () => {
  await apply({ ci: fresh, other })
  expect(await stateOf(fresh)).toBe('blocked')
  await apply({ ci: fresh, other, again: leaked })
  expect([await stateOf(fresh), await stateOf(leaked), await stateOf(other)]).toEqual([
    'blocked',
    'blocked',
    'free',
  ])
  // Its new secret is blocked as well, wherever it goes.
  await apply({ next: fresh })
  expect(await stateOf(fresh)).toBe('blocked')
})

test('a block that a person has lifted does not return with the next file', async () => {
  await apply({ renamed: leaked, other })
  await unblock('renamed')
  await apply({ renamed: leaked, other: fresh })
  expect([await stateOf(leaked), await stateOf(fresh)]).toEqual(['free', 'free'])
})

test('a block that was lifted after a rename does not return when the key gets its former name', async () => {
  await apply({ renamed: leaked, other })
  await unblock('renamed')
  await apply({ ci: leaked, other })
  expect(await stateOf(leaked)).toBe('free')
})
