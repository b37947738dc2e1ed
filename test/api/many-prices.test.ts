import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { adminToken, operatorClient, rowsOf } from '../support/operator-client.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'

/** Prices of many models at once, and what the library suggests for them. */

let bed: Testbed
let admin: ReturnType<typeof operatorClient>
beforeAll(async () => {
  bed = await startTestbed({ env: { ADMIN_TOKEN: adminToken } })
  admin = operatorClient(`http://127.0.0.1:${bed.tollgate.port}`)
})
afterAll(() => bed?.close())

async function model(settings: object = {}) {
  const { status, body, text } = await admin('POST', 'models', { id: `model-${randomUUID()}`, ...settings })
  expect(status, text).toBe(201)
  const { id, price_version } = z
    .object({ id: z.string(), price_version: z.object({ id: z.string() }).nullable() })
    .parse(body)
  return { id, version: price_version?.id ?? null }
}

const set = (prices: object[]) => admin('POST', 'prices', { prices })
const priceOf = async (id: string) => (await admin('GET', `models/${id}`)).body.price
const versionsOf = async (id: string) => rowsOf(await admin('GET', `models/${id}/prices`))

test('prices of several models are set at once, each as a new version with its line in the audit log', async () => {
  const [one, two] = [await model({ price: { input: '1', output: '2' } }), await model()]
  const answer = await set([
    { model: one.id, price: { input: '3', output: '2', cache_read: '0.3' }, price_version: one.version },
    { model: two.id, price: { input: '0', output: '0' }, price_version: null },
  ])
  expect(answer).toMatchObject({
    status: 201,
    body: {
      data: [
        { model: one.id, version: { price: { input: '3', output: '2', cache_read: '0.3' } } },
        { model: two.id, version: { price: { input: '0', output: '0' } } },
      ],
    },
  })
  expect(await priceOf(one.id)).toEqual({ input: '3', output: '2', cache_read: '0.3' })
  expect(await versionsOf(one.id)).toHaveLength(2)
  const lines = await bed.database
    .sql`SELECT before, after FROM audit_log WHERE resource_id = ${one.id} AND action = 'model.price'`
  expect(lines).toMatchObject([
    { before: { price: { input: '1', output: '2' } }, after: { price: { input: '3', cache_read: '0.3' } } },
  ])
})

test('a price that a model already has makes no new version, and null takes the price away', async () => {
  const [same, gone] = [await model({ price: { input: '1.50' } }), await model({ price: { input: '1' } })]
  const answer = await set([
    { model: same.id, price: { input: '1.5' } },
    { model: gone.id, price: null },
  ])
  expect(answer.body).toMatchObject({ data: [{ model: gone.id, version: { price: null } }] })
  const again = await set([{ model: same.id, price: { input: '1.5' } }])
  expect(again).toMatchObject({ status: 201, body: { data: [] } })
  expect(await versionsOf(same.id)).toHaveLength(1)
  expect(await priceOf(gone.id)).toBeNull()
})

test('one wrong price refuses all of them, and is named by its place and part', async () => {
  const [good, other] = [await model(), await model()]
  const first = { model: good.id, price: { input: '1' } }
  for (const [prices, pointer] of [
    [[first, { model: other.id, price: { output: 'much' } }], '#/prices/1/price/output'],
    [[first, { model: other.id, price: {} }], '#/prices/1/price'],
    [[first, { model: 'nobody', price: null }], '#/prices/1/model'],
    [[first, { ...first, price: { input: '2' } }], '#/prices/1/model'],
    [[], '#/prices'],
  ] as const)
    expect(await set([...prices]), pointer).toMatchObject({ status: 400, body: { errors: [{ pointer }] } })
  expect(await priceOf(good.id)).toBeNull()
})

test('a price that was changed meanwhile is a conflict, and nothing is changed', async () => {
  const [stale, other] = [await model({ price: { input: '1' } }), await model()]
  expect((await set([{ model: stale.id, price: { input: '2' }, price_version: stale.version }])).status).toBe(
    201,
  )
  const answer = await set([
    { model: other.id, price: { input: '9' }, price_version: null },
    { model: stale.id, price: { input: '3' }, price_version: stale.version },
  ])
  expect(answer).toMatchObject({ status: 409, body: { errors: [{ pointer: '#/prices/1/price_version' }] } })
  expect([await priceOf(stale.id), await priceOf(other.id)]).toEqual([{ input: '2' }, null])
})

test('a price with no part is refused wherever it is set', async () => {
  const { id } = await model({ price: { input: '1' } })
  const detail = expect.stringContaining('set input and output to 0')
  for (const answer of [
    await admin('POST', `models/${id}/prices`, {}),
    await admin('PATCH', `models/${id}`, { price: { input: null } }),
    await admin('POST', 'models', { id: `model-${randomUUID()}`, price: {} }),
  ])
    expect(answer).toMatchObject({ status: 400, body: { detail } })
  expect(await priceOf(id)).toEqual({ input: '1' })
})

test('the library suggests a price by the vendor of a channel, or by the name, or none', async () => {
  const ids = ['gpt-5', 'openai/gpt-5-mini', 'claude-sonnet-4-5', `own-${randomUUID()}`]
  for (const id of ids) await admin('POST', 'models', { id })
  const channel = {
    name: `channel-${randomUUID()}`,
    protocols: { 'openai-chat': bed.upstream.url },
    api_keys: ['credential-of-a-test'],
    allow_private_address: true,
    models: { 'openai/gpt-5-mini': 'openai/gpt-5-mini', [ids[3] ?? '']: 'whatever' },
  }
  const vendor = {
    ...channel,
    name: `channel-${randomUUID()}`,
    vendor: 'openai',
    models: { 'gpt-5': 'gpt-5' },
  }
  for (const body of [channel, vendor]) expect((await admin('POST', 'channels', body)).status).toBe(201)
  const rows = rowsOf(await admin('GET', 'models?suggestions=true&limit=200'))
  const suggestionOf = (id: string | undefined) => rows.find((row) => row.id === id)?.suggestion
  expect(suggestionOf(ids[0])).toMatchObject({
    source: 'openai/gpt-5',
    matched_by: 'channel',
    price: { input: '1.25', output: '10' },
  })
  expect(suggestionOf(ids[1])).toMatchObject({ source: 'openai/gpt-5-mini', matched_by: 'name' })
  expect(suggestionOf(ids[2])).toMatchObject({ matched_by: 'name', price: { output: '15' } })
  expect(suggestionOf(ids[3])).toBeNull()
  const plain = rowsOf(await admin('GET', 'models?limit=200'))
  expect(plain.every(({ suggestion }) => suggestion === null)).toBe(true)
  // What is suggested can be set as it is.
  const prices = rows.flatMap(({ id, suggestion }) => {
    const { price } = z.object({ price: z.unknown().optional() }).parse(suggestion ?? {})
    return price === undefined ? [] : [{ model: id, price }]
  })
  expect(await set(prices)).toMatchObject({ status: 201 })
})
