import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { Catalog, findModel } from '../../src/catalog/catalog.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

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
  await database.sql`TRUNCATE key_groups, models, prices, channels, channel_credentials, offers, gateway_file CASCADE`
})

const apply = (text: string) => applyYaml(database, text, keeper)

const load = async () => (await Catalog.load(database, keeper, silentLog)).snapshot

/** Each row with the transaction that wrote it last. */
const rowsAndRevision = async () => [
  ...(await database.sql`SELECT xmin, t.* FROM models t`),
  ...(await database.sql`SELECT xmin, t.* FROM prices t`),
  ...(await database.sql`SELECT xmin, t.* FROM channels t`),
  ...(await database.sql`SELECT xmin, t.* FROM key_groups t`),
  ...(await database.sql`SELECT xmin, t.* FROM revision t`),
]

const priced = (price: string) => `models: [{ id: m, ${price} }]`

test('the settings of images in a file become the snapshot', async () => {
  await apply(`
models:
  - id: painter
    images:
      sizes: [512x512, 1024x1024]
      qualities: [high]
      styles: [vivid]
      backgrounds: [opaque]
      output_formats: [png]
      images_max: 4
      partial_images_max: 0
      prompt_characters_max: 100
    price: { image: "0.04", images: [{ size: 512x512, usd: "0.01" }, { size: 512x512, quality: high, usd: "0.02" }] }
  - { id: plain, price: { input: "1" } }
channels:
  - { name: a, protocols: { openai-images: https://a.example }, api_keys: [k], models: [painter], images: { concurrency: 2, per_minute: 30 } }
  - { name: b, protocols: { openai-images: https://b.example }, api_keys: [k], models: [painter] }
groups:
  - { name: first, image_priority: 40 }
  - { name: second }
`)
  const snapshot = await load()
  const painter = findModel(snapshot, 'painter')
  expect(painter?.images).toEqual({
    sizes: ['512x512', '1024x1024'],
    qualities: ['high'],
    styles: ['vivid'],
    backgrounds: ['opaque'],
    outputFormats: ['png'],
    imagesMax: 4,
    partialImagesMax: 0,
    promptCharactersMax: 100,
  })
  expect(painter?.price?.image).toBe(40_000_000n)
  expect(painter?.price?.imageRates).toHaveLength(2)
  expect(painter?.price?.imageRates).toEqual(
    expect.arrayContaining([
      { size: '512x512', quality: undefined, nano: 10_000_000n },
      { size: '512x512', quality: 'high', nano: 20_000_000n },
    ]),
  )
  expect(painter?.offers.map(({ channel }) => [channel.imageConcurrency, channel.imagesPerMinute])).toEqual([
    [2, 30],
    [undefined, undefined],
  ])
  expect(findModel(snapshot, 'plain')).toMatchObject({ images: undefined, price: { imageRates: [] } })
  expect(Object.fromEntries([...snapshot.groups.values()].map((g) => [g.name, g.imagePriority]))).toEqual({
    first: 40,
    second: 0,
  })
})

test('the settings of images can be changed and taken back', async () => {
  const saying = (model: string, channel: string, group: string) => `
models: [{ id: m${model} }]
channels: [{ name: c, protocols: { openai-images: https://c.example }, api_keys: [k], models: [m]${channel} }]
groups: [{ name: g${group} }]
`
  const imageSettings = async () => {
    const { models, channels, groups } = await load()
    const [channel] = channels.values()
    const [group] = groups.values()
    return [
      models.get('m')?.images,
      channel?.imageConcurrency,
      channel?.imagesPerMinute,
      group?.imagePriority,
    ]
  }
  await apply(saying('', '', ''))
  expect(await imageSettings()).toEqual([undefined, undefined, undefined, 0])
  await apply(saying(', images: { sizes: [a] }', ', images: { concurrency: 3 }', ', image_priority: 9'))
  expect(await imageSettings()).toEqual([{ sizes: ['a'] }, 3, undefined, 9])
  const before = await rowsAndRevision()
  // With another text, so that it is compared with the rows.
  await apply(
    `${saying(', images: { sizes: [a] }', ', images: { concurrency: 3 }', ', image_priority: 9')} # same`,
  )
  expect(await rowsAndRevision()).toEqual(before)
  await apply(saying(', images: {}', ', images: { per_minute: 5 }', ', image_priority: 0'))
  expect(await imageSettings()).toEqual([{}, undefined, 5, 0])
  await apply(saying('', '', ''))
  expect(await imageSettings()).toEqual([undefined, undefined, undefined, 0])
})

test('a changed price of an image writes a new row; another order or spelling writes none', async () => {
  const rates = async () =>
    (await database.sql`SELECT image_nano, image_rates FROM prices ORDER BY created_at, id`).map((row) => [
      row.image_nano,
      row.image_rates,
    ])
  const small = '{ size: s, usd: "0.1" }'
  const high = '{ quality: high, usd: "0.2" }'
  await apply(priced(`price: { images: [${small}, ${high}] }`))
  await apply(priced(`price: { images: [${high}, { usd: "0.100", size: s }] }`))
  await apply(priced('price: { images: [{ size: s, usd: "0.3" }] }'))
  await apply(priced('price: { input: "0" }'))
  await apply(priced('price: { image: "0.3" }'))
  const [first, second, ...rest] = await rates()
  expect(first).toEqual([
    null,
    expect.arrayContaining([
      { size: 's', nano: '100000000' },
      { quality: 'high', nano: '200000000' },
    ]),
  ])
  expect(second).toEqual([null, [{ size: 's', nano: '300000000' }]])
  expect(rest).toEqual([
    [null, null],
    ['300000000', null],
  ])
})

test('if only some images have a price, the price is known for these and unknown for the others', async () => {
  await apply(priced('price: { images: [{ size: s, usd: "0.1" }] }'))
  expect(findModel(await load(), 'm')?.price).toMatchObject({
    input: undefined,
    image: undefined,
    imageRates: [{ size: 's', quality: undefined, nano: 100_000_000n }],
  })
})
