import { afterEach, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readExportRows } from '../../src/access/export-queries.ts'
import { exportYaml } from '../../src/access/export-yaml.ts'
import { priceParts } from '../../src/canonical/price-parts.ts'
import { readConfig } from '../../src/config/config.ts'
import { openDatabase } from '../../src/db/database.ts'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { freshDatabase } from '../support/database.ts'

const keeper = new SecretKeeper('a-secret-key-for-tests-of-32-characters')
const at = new Date(1_800_000_000_000)
const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

/** What does not follow from the file. */
const made = new Set(
  'id createdAt disabledAt channelId groupId tenantId hint keyId sealed connectionKeyId connectionSealed renewedAt triedAt'.split(
    ' ',
  ),
)

/** The rows of an empty database to which this file was applied, without ids, moments and secrets, and their export. */
async function exportOf(yaml: string, env: Record<string, string> = {}) {
  const { url, drop } = await freshDatabase()
  closing.push(drop)
  await prepareDatabase(url)
  const database = openDatabase(url, readConfig({}).bounds)
  closing.push(() => database.close())
  const { openConnections } = await import('../../src/db/connections.ts')
  const connections = openConnections(url, { max: 1, connectSeconds: 30, applicationName: 'test' })
  await applyYaml(connections, yaml, keeper, env).finally(() => connections.end())
  const found = await database.reads.ask(({ db }) => readExportRows(db))
  const texts = (list: readonly object[]) =>
    list
      .map((row) =>
        JSON.stringify(row, (name, value: unknown) =>
          made.has(name) ? undefined : typeof value === 'bigint' ? `${value}n` : value,
        ),
      )
      .sort()
  const { models, prices, channels, offers, groups, tenants, keys } = found
  const rows = [models, prices, channels, offers, groups, tenants, keys].map(texts)
  return { text: exportYaml(found, keeper, at), rows }
}

const full = `
prices: { library: true, renew: daily, renew_from: http://127.0.0.1:9/data.json }
models:
  - id: vendor/big
    aliases: [big, biggest]
    fallbacks: [small]
    plain_members: [plugins]
    context_length: 200000
    max_output_tokens: 8000
    traits: { tools: true, takes: { top_k: false, presence_penalty: true }, effort_levels: [low, high] }
    price:
      input: "1.25"
      output: "10"
      cache_read: "0.000000001"
      cache_write_1h: "3"
      web_search: "0.01"
      input_characters: "15"
      request: "0.001"
      tiers: [ { above_input_tokens: 200000, input: "2.5" }, { above_input_tokens: 500000, output: "20" } ]
      service_tiers: { flex: "0.5", Priority: { input: "9", tiers: [ { above_input_tokens: 7, input: "11" } ] } }
  - id: small
  - id: pictures
    images: { sizes: [1024x1024], output_formats: [png], images_max: 4, partial_images_max: 0 }
    price: { image: "0.04", images: [ { size: 1024x1024, quality: high, usd: "0.1" }, { quality: low, usd: 0 } ] }
  - id: '*'
channels:
  - name: openai eu
    vendor: openai
    api_keys: [ "one-credential-of-it", "the-other-one" ]
    models: { vendor/big: big-2026, small: { upstream: small-1, traits: { streaming: false } } }
    priority: -5
    weight: 7
    concurrency: 9
    images: { per_minute: 30 }
    plain_members: [ "messages[].prefix" ]
    allow_private_address: [ 10.0.0.0/8 ]
    proxy: http://user:pass%20word@proxy.internal:3128
    headers: { X-Team: 'has $\${no variable}' }
    timeouts: { first_byte_ms: 5000, total_ms: 60000 }
  - name: own
    protocols: { openai-chat: "http://127.0.0.1:1/v1", openai-responses: "http://127.0.0.1:1/v1", openai-images: "http://127.0.0.1:2/v1" }
    websocket: true
    api_keys: [ "" ]
    models: "*"
    allow_private_address: true
    traits: { input: [text, image] }
groups:
  - name: default
  - { name: dear, models: [vendor/big], channels: [openai eu], price_multiplier: "1.05", image_priority: 3,
      client_gone: { policy: abort, seconds: 0 }, limits: { concurrency: 4 }, total_limits: { tokens_per_minute: 5 },
      budget: { month: "100.5" }, responses: { store: false, compact_model: vendor/big } }
tenants:
  - name: 'a $\${tenant}: "quoted"'
    balance_usd: "12.000000001"
    limits: { requests_per_minute: 6 }
    keys:
      - name: ci
        group: dear
        capture: shape
        usage_scope: key
        strict: true
        expires_at: 2031-01-31T12:00:00Z
        allowed_models: [vendor/big]
        allowed_cidrs: [192.0.2.0/24]
        budget: { day: 1 }
      - { name: off, disabled: true, limits: { requests_per_minute: 2 } }
  - name: none
  - name: gone
    disabled: true
    retention: { rows_days: 30, bodies_days: 7, answers_days: 1 }
    keys: [{ name: kept }]
`

test('an export that is applied to an empty database gives the same export', async () => {
  const first = await exportOf(full)
  const names = [...first.text.matchAll(/^# {3}(\w+)$/gm)].map(([, name = '']) => name)
  expect(names).toEqual(['OPENAI_EU_KEY_1', 'OPENAI_EU_KEY_2', 'OPENAI_EU_PROXY', 'OPENAI_EU_HEADER_X_TEAM'])
  const env = Object.fromEntries(names.map((name) => [name, `value-of-${name}`]))
  const second = await exportOf(first.text, {
    ...env,
    OPENAI_EU_PROXY: 'http://user:pass@proxy.internal:3128',
  })
  expect(second).toEqual(first)
  expect(first.text).toContain('websocket: true')
  expect(first.text).not.toMatch(/one-credential|the-other-one|pass%20word|no variable/)
  expect(first.text).toContain('a $${tenant}: "quoted"')
  expect(parse(first.text).tenants).toContainEqual({
    name: 'gone',
    disabled: true,
    retention: { rows_days: 30, bodies_days: 7, answers_days: 1 },
    keys: [expect.objectContaining({ name: 'kept' })],
  })
})

test('an empty database gives a file that can be applied', async () => {
  const first = await exportOf('models: []')
  expect(await exportOf(first.text)).toEqual(first)
})

test.each(Array.from({ length: 4 }, (_, seed) => seed))(
  'prices of any form keep their meaning: %i',
  async (seed) => {
    let state = seed + 1
    const next = (below: number) => {
      state = (state * 48_271) % 2_147_483_647
      return state % below
    }
    const names = priceParts.map(({ word }) => word)
    const rates = () =>
      names
        .filter(() => next(2) === 0)
        .map((name) => `${name}: "${next(1000)}.${String(next(1e9)).padStart(9, '0')}"`)
    const tiers = () =>
      `tiers: [ ${[1000, 2000]
        .slice(next(2))
        .map((tokens) => `{ ${[`above_input_tokens: ${tokens}`, ...rates()].join(', ')} }`)
        .join(', ')} ]`
    const price = [
      ...rates(),
      ...(next(2) === 0 ? [tiers()] : []),
      `service_tiers: { a: "${next(3)}.${next(1000)}", b: { ${[...rates(), ...(next(2) === 0 ? [tiers()] : [])].join(', ')} } }`,
    ].join(', ')
    const first = await exportOf(`models: [ { id: one, price: { ${price} } } ]`)
    expect(await exportOf(first.text)).toEqual(first)
  },
)
