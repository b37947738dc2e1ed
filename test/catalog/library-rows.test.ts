import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Catalog, findModel } from '../../src/catalog/catalog.ts'
import { libraryVersion } from '../../src/catalog/library/bundled.ts'
import { renewalDue, renewPrices } from '../../src/catalog/library/renew.ts'
import type { Group } from '../../src/catalog/snapshot.ts'
import { groupSettingsOfRequests } from '../../src/db/settings/group-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { planRoute } from '../../src/routing/candidates.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** Prices of the library, from gateway.yaml to the snapshot. */

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
  await database.sql`TRUNCATE models, prices, channels, channel_credentials, offers, gateway_file, library_prices,
    price_library CASCADE`
})

const yaml = (prices: string, more = '') => `
${prices}
models:
  - { id: mine, price: { input: "7", output: "8" } }
  - { id: theirs }
  - { id: unknown }
channels:
  - name: anthropic
    vendor: anthropic
    protocols: { anthropic-messages: http://127.0.0.1:1 }
    api_keys: [k]
    models: { mine: claude-haiku-4-5, theirs: claude-haiku-4-5, unknown: no-such-model }
  - name: openai
    protocols: { openai-chat: https://api.openai.com/v1 }
    api_keys: [k]
    models: "*"
  - { name: own, vendor: vllm, protocols: { openai-chat: http://127.0.0.1:1/v1 }, api_keys: [k], models: { theirs: gpt-4o } }
${more}`

const apply = (text: string) => applyYaml(database, text, keeper)
const load = () => Catalog.load(database, keeper, silentLog).then((catalog) => catalog.snapshot)

const group: Group = {
  id: 'g',
  name: 'g',
  ...defaultsOf(groupSettingsOfRequests),
  budgeted: false,
}

/** The price of each channel that may answer. */
async function pricesOf(name: string) {
  const model = findModel(await load(), name)
  if (model === undefined) throw new Error(`no model ${name}`)
  const candidates = planRoute(model, name, group, 'openai-chat', { chance: () => 0 })
  return new Map(candidates.map(({ channel, price }) => [channel.name, price]))
}

/** Every row that is written for the library, with the transaction that wrote it last. */
const rows = async () => [
  [...(await database.sql`SELECT xmin, * FROM prices ORDER BY id`)],
  [...(await database.sql`SELECT xmin, * FROM library_prices ORDER BY provider, ordinal`)],
]

describe('where gateway.yaml asks for prices of the library', () => {
  test('an offer has the price of its upstream model at its vendor, and names the source', async () => {
    await apply(yaml('prices: library'))
    const theirs = await pricesOf('theirs')
    expect(theirs.get('anthropic')).toMatchObject({
      input: 1_000_000_000n,
      output: 5_000_000_000n,
      cacheWrite1h: 2_000_000_000n,
      webSearch: 10_000_000n,
      source: `library @pydantic/genai-prices ${libraryVersion}, anthropic/claude-haiku-4-5`,
    })
    // Servers of one's own cost what their operator says.
    expect(theirs.get('own')).toBeUndefined()
    expect((await pricesOf('unknown')).get('anthropic')).toBeUndefined()
  })

  test('a price in the file has precedence, whole', async () => {
    await apply(yaml('prices: library'))
    const price = (await pricesOf('mine')).get('anthropic')
    expect(price).toMatchObject({ input: 7_000_000_000n, source: undefined, webSearch: undefined })
  })

  test('a name that passes through has a price when the library knows it, and a row to refer to', async () => {
    await apply(yaml('prices: library'))
    const price = (await pricesOf('gpt-4o')).get('openai')
    expect(price).toMatchObject({ input: 2_500_000_000n, output: 10_000_000_000n })
    const [row] =
      await database.sql`SELECT source, model_id, input_nano FROM prices WHERE id = ${price?.id ?? ''}`
    expect(row).toEqual({
      source: expect.stringContaining('openai/gpt-4o'),
      model_id: null,
      input_nano: '2500000000',
    })
    expect((await pricesOf('a-name-that-nobody-knows')).get('openai')).toBeUndefined()
  })

  test('the same file again writes no row', async () => {
    await apply(yaml('prices: library'))
    const before = await rows()
    await apply(yaml('prices: library', '# the same'))
    expect(await rows()).toEqual(before)
  })

  test('without the setting there are none; what was a price once stays as a row', async () => {
    await apply(yaml('prices: library'))
    const [prices] = await rows()
    await apply(yaml(''))
    expect((await pricesOf('theirs')).get('anthropic')).toBeUndefined()
    expect(await rows()).toEqual([prices, []])
    expect(await database.sql`SELECT * FROM price_library`).toHaveLength(0)
    expect((await pricesOf('mine')).get('anthropic')).toBeDefined()
  })

  test('a release that knows nothing of the library takes no price of it for that of a model', async () => {
    await apply(yaml('prices: library'))
    const newest = await database.sql`
      SELECT DISTINCT ON (model_id) model_id, input_nano FROM prices ORDER BY model_id, created_at DESC, id DESC`
    expect(newest.filter((row) => row.model_id !== null)).toEqual([
      { model_id: 'mine', input_nano: '7000000000' },
    ])
  })
})

describe('a renewal', () => {
  const provider = (models: unknown[]) => ({
    id: 'anthropic',
    name: 'A',
    api_pattern: 'https://api\\.anthropic\\.com',
    models,
  })
  const haiku = (input: number) => ({
    id: 'claude-haiku-4-5',
    match: { starts_with: 'claude-haiku-4-5' },
    prices: { input_mtok: input, output_mtok: 5 },
  })

  /** A server with this answer, and its address. */
  async function serving(answer: string, status = 200): Promise<{ url: string; close(): void }> {
    const server = createServer((_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(answer)
    })
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const { port } = server.address() as AddressInfo
    return { url: `http://127.0.0.1:${port}/data.json`, close: () => server.close() }
  }
  const renewing = (url: string) => yaml(`prices: { library: true, renew: daily, renew_from: "${url}" }`)

  test('is due only where the file asks for it, for one process, and once a day', async () => {
    await apply(yaml('prices: library'))
    expect(await renewalDue(database.db)).toBeUndefined()
    await apply(yaml('prices: { library: true }'))
    expect(await renewalDue(database.db)).toBeUndefined()
    await apply(renewing('http://127.0.0.1:1/data.json'))
    expect(await renewalDue(database.db)).toBe('http://127.0.0.1:1/data.json')
    expect(await renewalDue(database.db)).toBeUndefined()
    await database.sql`UPDATE price_library SET tried_at = now() - interval '2 hours'`
    expect(await renewalDue(database.db)).toBeDefined()
    await database.sql`UPDATE price_library SET renewed_at = now(), tried_at = now() - interval '2 hours'`
    expect(await renewalDue(database.db)).toBeUndefined()
  })

  test('adds rows for prices that changed, keeps those that did not, and edits none', async () => {
    const server = await serving(
      JSON.stringify([
        provider([
          haiku(2),
          { id: 'claude-new', match: { equals: 'claude-new' }, prices: { input_mtok: 3, output_mtok: 4 } },
        ]),
      ]),
    )
    await apply(renewing(server.url))
    const before = (await pricesOf('theirs')).get('anthropic')
    const [rowsBefore = []] = await rows()
    expect(await renewPrices(database, server.url)).toBe(2)
    const after = (await pricesOf('theirs')).get('anthropic')
    expect([before?.input, after?.input]).toEqual([1_000_000_000n, 2_000_000_000n])
    expect(after?.source).toMatch(
      /^library @pydantic\/genai-prices [\d.]+, renewed \d{4}-\d\d-\d\d, anthropic\//,
    )
    expect((await rows())[0]).toEqual(expect.arrayContaining(rowsBefore))
    expect(await renewPrices(database, server.url)).toBe(0)
    // The file again, as at the next start: what was fetched stays.
    await apply(`${renewing(server.url)}\n# again`)
    expect((await pricesOf('theirs')).get('anthropic')).toEqual(after)
    // Without renewals, the package's prices are in force again.
    await apply(yaml('prices: library'))
    expect((await pricesOf('theirs')).get('anthropic')?.input).toBe(1_000_000_000n)
    server.close()
  })

  test.each([
    ['an error', '[]', 500],
    ['a redirect', '[]', 302],
    ['no JSON', '<html>', 200],
    ['no prices', '{"a":1}', 200],
    ['a negative price', JSON.stringify([provider([haiku(-1)])]), 200],
  ])('that gets %s is refused, and changes nothing', async (_, answer, status) => {
    const server = await serving(answer, status)
    await apply(renewing(server.url))
    const before = await rows()
    await expect(renewPrices(database, server.url)).rejects.toThrow()
    expect(await rows()).toEqual(before)
    server.close()
  })
})

test("an admin's channel keeps the library's prices when the file is applied again", async () => {
  await apply(yaml('prices: library'))
  await database.sql`UPDATE channels SET managed_by = 'admin' WHERE name = 'openai'`
  const own = yaml('prices: library').replace(/ {2}- name: openai\n(?: {4}.*\n)+/, '')
  await apply(own)
  const channel = (await load()).anyModel?.offers.find((one) => one.channel.name === 'openai')
  expect(channel?.libraryPrices?.of('gpt-4o')?.input).toBeTypeOf('bigint')
})

test('a file without "prices" leaves those of the library that an admin has asked for', async () => {
  await apply(yaml('prices: library'))
  await database.sql`UPDATE price_library SET managed_by = 'admin'`
  await apply(yaml('', '# another file'))
  expect(await database.sql`SELECT managed_by FROM price_library`).toEqual([{ managed_by: 'admin' }])
  const offer = findModel(await load(), 'theirs')?.offers.find((one) => one.channel.name === 'own')
  expect(offer).toBeDefined()
  const anthropic = findModel(await load(), 'theirs')?.offers.find((one) => one.channel.name === 'anthropic')
  expect(anthropic?.libraryPrices?.of('claude-haiku-4-5')?.input).toBeTypeOf('bigint')
})
