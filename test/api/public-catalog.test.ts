import { afterEach, beforeEach, expect, test } from 'vitest'
import { gatewayYaml } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until } from '../support/until.ts'

/** The models and prices that everybody may see. */

let bed: Testbed
beforeEach(async () => {
  bed = await startTestbed({
    yaml: (url) =>
      gatewayYaml(url).replace(
        '  - { name: abort,',
        "  - { name: shop, models: [ main ], channels: ['*'], price_multiplier: '1.5' }\n  - { name: abort,",
      ),
  })
})
afterEach(() => bed.close())

const get = (headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${bed.tollgate.port}/public/v1/catalog`, { headers })

async function setPublic(name: string, isPublic: boolean): Promise<void> {
  const before = bed.tollgate.context.catalog.snapshot
  await bed.database.sql`update key_groups set public = ${isPublic} where name = ${name}`
  await until(() => bed.tollgate.context.catalog.snapshot !== before)
}

test('it is empty until a group is public, and again when none is, and no such read is an error', async () => {
  const first = await get()
  expect(first.status).toBe(200)
  expect(await first.json()).toEqual({ groups: [] })
  await setPublic('shop', true)
  expect(await (await get()).json()).toMatchObject({ groups: [{ name: 'shop' }] })
  await setPublic('shop', false)
  const none = await get()
  expect(await none.json()).toEqual({ groups: [] })
  expect(none.headers.get('access-control-allow-origin')).toBe('*')
})

test('it shows the models of the public group at its price, to every origin, and no channel or secret', async () => {
  await setPublic('shop', true)
  const response = await get({ origin: 'https://elsewhere.example' })
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  const text = await response.text()
  expect(JSON.parse(text)).toMatchObject({
    groups: [
      {
        name: 'shop',
        models: [
          {
            id: 'main',
            context_length: 1000,
            pricing: { input: '1500.00', output: '3000.00' },
            endpoints: expect.arrayContaining(['/v1/chat/completions']),
          },
        ],
      },
    ],
  })
  expect(JSON.parse(text).groups[0].models).toHaveLength(1)
  for (const hidden of ['scripted', 'upstream', 'default', '127.0.0.1', 'free'])
    expect(text).not.toContain(hidden)
})

test('its ETag spares the body, and changes with the catalog', async () => {
  await setPublic('shop', true)
  const first = await get()
  const etag = first.headers.get('etag') ?? ''
  expect(etag).toMatch(/^"/)
  const second = await get({ 'if-none-match': `"other", ${etag}` })
  expect(second.status).toBe(304)
  expect(await second.text()).toBe('')
  await setPublic('default', true)
  const third = await get({ 'if-none-match': etag })
  expect(third.status).toBe(200)
  expect(third.headers.get('etag')).not.toBe(etag)
})
