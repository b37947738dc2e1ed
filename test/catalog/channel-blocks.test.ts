import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { applyGatewayFile } from '../../src/access/apply-gateway-file.ts'
import { gatewaySource } from '../../src/catalog/gateway-source.ts'
import { blockChannel, unblockChannel } from '../../src/catalog/queries.ts'
import { eq } from '../../src/db/drizzle.cjs'
import { channels } from '../../src/db/schema.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** What a gateway.yaml can do to the block of a channel: nothing. */

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
  await database.sql`TRUNCATE channels, channel_credentials, offers, gateway_file CASCADE`
  await apply({ vendor: 'credential-0001', spare: 'credential-0002' })
  await change('vendor', (id) => database.db.transaction((tx) => blockChannel(tx, id, { reason, by: 'ada' })))
})

const reason = 'it answers nonsense'

/** Applies a file with these channels, each with one credential. All have one base URL, unless one is given. */
async function apply(all: Record<string, string>, url = 'https://api.example.com/v1') {
  const list = Object.entries(all).map(
    ([name, credential]) =>
      `{ name: ${name}, protocols: { openai-chat: ${url} }, api_keys: [${credential}], models: [m] }`,
  )
  const text = `models: [{ id: m }]\nchannels: [${list.join(', ')}]\ngroups: [{ name: default }]`
  const source = gatewaySource(text, { path: 'gateway.yaml', env: {} })
  const place = { ...source.place, host: 'here' }
  expect(await applyGatewayFile(database, { ...source, place }, keeper)).toMatchObject({ kind: 'applied' })
}

async function change(name: string, work: (id: string) => Promise<void>) {
  const [row] = await database.db.select().from(channels).where(eq(channels.name, name))
  if (row === undefined) throw new Error(`there is no channel ${name}`)
  await work(row.id)
}
const unblock = (name: string) =>
  change(name, (id) => database.db.transaction((tx) => unblockChannel(tx, id)))

/** The channels of the file in force that are blocked. */
async function blocked() {
  const rows = await database.sql<{ name: string }[]>`
    SELECT name FROM channels WHERE disabled_at IS NULL AND blocked_at IS NOT NULL ORDER BY name`
  return rows.map(({ name }) => name)
}

test('another file, with other settings and credentials of the channel, leaves it blocked', async () => {
  await apply({ vendor: 'credential-0003' }, 'https://elsewhere.example.com/v1')
  expect(await blocked()).toEqual(['vendor'])
  const [row] = await database.sql`SELECT blocked_by, block_reason FROM channels WHERE name = 'vendor'`
  expect(row).toEqual({ blocked_by: 'ada', block_reason: reason })
})

test('a channel that is removed from the file and added again is still blocked', async () => {
  await apply({ spare: 'credential-0002' })
  expect(await blocked()).toEqual([])
  await apply({ vendor: 'credential-0001', spare: 'credential-0002' })
  expect(await blocked()).toEqual(['vendor'])
})

test('a channel that gets another name in the file is still blocked, and no other channel is', async () => {
  await apply({ renamed: 'credential-0001', spare: 'credential-0002' })
  expect(await blocked()).toEqual(['renamed'])
  await apply({ renamed: 'credential-0001', spare: 'credential-0002', new: 'credential-0001' })
  expect(await blocked()).toEqual(['renamed'])
})

test('a channel with another credential or base URL takes the place of a blocked one', async () => {
  await apply({ replacement: 'credential-0003', spare: 'credential-0002' })
  expect(await blocked()).toEqual([])
  await apply({ vendor: 'credential-0001' })
  expect(await blocked()).toEqual(['vendor'])
  await apply({ moved: 'credential-0001' }, 'https://elsewhere.example.com/v1')
  expect(await blocked()).toEqual([])
})

test('a block that was lifted after a rename does not return when the channel gets its former name', async () => {
  await apply({ renamed: 'credential-0001' })
  await unblock('renamed')
  await apply({ vendor: 'credential-0001' })
  expect(await blocked()).toEqual([])
})
