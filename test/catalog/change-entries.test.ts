import { afterAll, beforeAll, expect, test } from 'vitest'
import { Catalog } from '../../src/catalog/catalog.ts'
import { writeChannel } from '../../src/catalog/change-entries.ts'
import { channelEntry } from '../../src/catalog/gateway-file.ts'
import { changeRows } from '../../src/catalog/queries.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** Channels that no file manages, beside a gateway.yaml. */

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

test('a channel that passes any name through does so in a gateway without the model "*", and after each file', async () => {
  const { connection: _, ...channel } = channelEntry.parse({
    name: 'any',
    protocols: { 'openai-chat': 'http://127.0.0.1:1' },
    api_keys: ['k'],
    models: '*',
  })
  await changeRows(database, (tx) =>
    writeChannel(tx, channel, { existing: undefined, keeper, isAddressBounded: true }),
  )
  const channelsOfAny = async () => {
    const { snapshot } = await Catalog.load(database, keeper, silentLog)
    return snapshot.anyModel?.offers.map((offer) => offer.channel.name)
  }
  expect(await channelsOfAny()).toEqual(['any'])
  const other =
    'channels: [ { name: b, protocols: { openai-chat: "http://127.0.0.1:2" }, api_keys: [k], models: "*" } ]'
  await applyYaml(database, other, keeper)
  expect(await channelsOfAny()).toEqual(['any', 'b'])
  await applyYaml(database, 'models: [ { id: one } ]', keeper)
  expect(await channelsOfAny()).toEqual(['any'])
})
