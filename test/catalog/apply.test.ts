import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { hashKeySecret } from '../../src/access/key-secret.ts'
import { readKeyByHash } from '../../src/access/queries.ts'
import { Catalog, findModel } from '../../src/catalog/catalog.ts'
import { applyDemo } from '../../src/catalog/demo.ts'
import { unlimited } from '../../src/catalog/limit-columns.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
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
  await database.sql`TRUNCATE tenants, accounts, key_groups, keys, models, prices, channels, channel_credentials,
    offers, entries, gateway_file CASCADE`
})

/** Returns the generated keys. */
const apply = (text: string, using = keeper) => applyYaml(database, text, using)

const load = (using = keeper) => Catalog.load(database, using, silentLog).then((catalog) => catalog.snapshot)

const keyOf = (secret: string) => readKeyByHash(database.db, hashKeySecret(secret, keeper.pepper))

/** The budgets of groups, keys and tenants. */
const budgets = async () => [
  ...(await database.sql`
    SELECT * FROM (
      SELECT name, budget_day_nano AS day, budget_month_nano AS month, budget_total_nano AS total FROM key_groups
      UNION ALL SELECT name, budget_day_nano, budget_month_nano, budget_total_nano FROM keys
      UNION ALL SELECT name, budget_day_nano, budget_month_nano, budget_total_nano FROM tenants
    ) all_budgets WHERE coalesce(day, month, total) IS NOT NULL ORDER BY name`),
]

const revisions = async () => (await database.sql`SELECT catalog, keys FROM revision`)[0]

/** Every row of every table that a file may write, with the transaction that wrote it last. */
async function allRows() {
  const tables = [
    'tenants',
    'accounts',
    'key_groups',
    'keys',
    'models',
    'prices',
    'channels',
    'offers',
    'entries',
  ]
  const rows = await Promise.all(
    [...tables, 'channel_credentials', 'revision'].map(
      (table) => database.sql`SELECT xmin, t.* FROM ${database.sql(table)} t ORDER BY t::text`,
    ),
  )
  return rows.map((list) => [...list])
}

const whole = `
models:
  - { id: big, aliases: [large, huge], fallbacks: [small, painter], context_length: 1000, price: { input: "2.50", output: "10" } }
  - { id: small }
  - id: painter
    images: { sizes: [512x512, auto], output_formats: [png], partial_images_max: 0 }
    price: { image: "0.04", images: [{ size: 512x512, usd: "0.01" }, { size: 512x512, quality: high, usd: "0.02" }] }
channels:
  - { name: b, protocols: { openai-chat: https://b.example/v1 }, api_keys: [b-key], models: [big, small], priority: 1 }
  - { name: a, protocols: { openai-chat: https://a.example/v1, anthropic-messages: https://a.example }, api_keys: [a-1, a-2], models: { big: a-big }, priority: 1 }
  - { name: c, protocols: { openai-chat: https://c.example/v1 }, api_keys: [""], models: { big: c-big }, priority: 5, images: { concurrency: 2, per_minute: 30 }, allow_private_address: [10.0.0.0/8, "fd00::/8"] }
groups:
  - { name: default, limits: { concurrency: 7 }, price_multiplier: "1.2", image_priority: 40, total_limits: { tokens_per_minute: 5000, concurrency: 9 }, budget: { day: "1.5", month: "20" } }
tenants:
  - { name: acme, balance_usd: "10.00", limits: { requests_per_minute: 70 }, keys: [{ name: dev, secret: acme-dev-secret-01, limits: { concurrency: 3 }, budget: { total: "0" } }, { name: ops, disabled: true }] }
  - { name: free, keys: [{ name: dev, secret: free-dev-secret-01, expires_at: 2030-01-01, allowed_cidrs: [10.0.0.0/8] }] }
  - { name: capped, budget: { month: "3" } }
`

describe('a file that is applied', () => {
  test('becomes the snapshot', async () => {
    await apply(whole)
    const snapshot = await load()
    const big = findModel(snapshot, 'big')
    expect(big).toMatchObject({
      contextLength: 1000,
      price: { input: 2_500_000_000n, output: 10_000_000_000n },
    })
    expect(big?.price?.cacheRead).toBeUndefined()
    expect(big?.offers.map((offer) => [offer.channel.name, offer.upstreamModel])).toEqual([
      ['c', 'c-big'],
      ['a', 'a-big'],
      ['b', 'big'],
    ])
    expect(big?.offers[1]?.channel).toMatchObject({
      credentials: ['a-1', 'a-2'],
      protocols: { 'openai-chat': 'https://a.example/v1', 'anthropic-messages': 'https://a.example' },
    })
    expect(findModel(snapshot, 'small')).toMatchObject({ price: undefined, images: undefined })
    expect(findModel(snapshot, 'other')).toBeUndefined()
    expect([...snapshot.groups.values()]).toMatchObject([
      {
        name: 'default',
        models: ['*'],
        priceMultiplier: '1.2',
        imagePriority: 40,
        limits: { concurrency: 7 },
      },
    ])
    expect([...snapshot.tenants.values()].map((tenant) => [tenant.name, tenant.limited])).toEqual([
      ['acme', true],
      ['free', false],
      ['capped', true],
    ])
  })

  test('gives models their aliases and fallbacks, and channels their private addresses', async () => {
    await apply(whole.replace('name: b,', 'name: b, allow_private_address: true,'))
    const snapshot = await load()
    const big = findModel(snapshot, 'big')
    expect(big).toMatchObject({ aliases: ['large', 'huge'], fallbacks: ['small', 'painter'] })
    expect([findModel(snapshot, 'large'), findModel(snapshot, 'huge')]).toEqual([big, big])
    // Ids come first, so that code that takes the first name gets an id.
    expect([...snapshot.models.keys()].slice(0, 3).sort()).toEqual(['big', 'painter', 'small'])
    expect(findModel(snapshot, 'small')).toMatchObject({ aliases: [], fallbacks: [] })
    expect(big?.offers.map(({ channel }) => channel.allowPrivateAddress)).toEqual([
      ['10.0.0.0/8', 'fd00::/8'],
      false,
      true,
    ])
    // A process of an earlier version reads only this column. It must not see a list as "all addresses".
    const columns = await database.sql`SELECT name, allow_private_address AS all FROM channels ORDER BY name`
    expect(columns.map((row) => [row.name, row.all])).toEqual([
      ['a', false],
      ['b', true],
      ['c', false],
    ])
  })

  test('sets the rate limits of tenants, groups and keys, and says whether their spending is bounded', async () => {
    await apply(whole)
    const snapshot = await load()
    expect([...snapshot.groups.values()]).toMatchObject([
      {
        limits: { ...unlimited, concurrency: 7 },
        totalLimits: { ...unlimited, tokensPerMinute: 5000, concurrency: 9 },
        budgeted: true,
      },
    ])
    expect([...snapshot.tenants.values()].map(({ name, limits }) => [name, limits])).toEqual([
      ['acme', { ...unlimited, requestsPerMinute: 70 }],
      ['free', unlimited],
      ['capped', unlimited],
    ])
    expect(await keyOf('acme-dev-secret-01')).toMatchObject({
      limits: { ...unlimited, concurrency: 3 },
      budgeted: true,
    })
    expect(await keyOf('free-dev-secret-01')).toMatchObject({ limits: undefined, budgeted: false })
    expect(await budgets()).toEqual([
      { name: 'capped', day: null, month: '3000000000', total: null },
      { name: 'default', day: '1500000000', month: '20000000000', total: null },
      { name: 'dev', day: null, month: null, total: '0' },
    ])
  })

  test('resets settings that the next file leaves out, and raises both revisions', async () => {
    await apply(whole)
    const before = await revisions()
    await apply(`
models: [{ id: big }, { id: small }, { id: painter }]
channels:
  - { name: c, protocols: { openai-chat: https://c.example/v1 }, api_keys: [""], models: [big] }
groups: [{ name: default }]
tenants:
  - { name: acme, balance_usd: "10.00", keys: [{ name: dev, secret: acme-dev-secret-01 }] }
  - { name: free, keys: [{ name: dev, secret: free-dev-secret-01 }] }
  - { name: capped }
`)
    const snapshot = await load()
    expect([...snapshot.models.keys()].sort()).toEqual(['big', 'painter', 'small'])
    expect(findModel(snapshot, 'big')).toMatchObject({ aliases: [], fallbacks: [] })
    expect([...snapshot.channels.values()]).toMatchObject([{ name: 'c', allowPrivateAddress: false }])
    expect([...snapshot.groups.values()]).toMatchObject([
      { limits: unlimited, totalLimits: unlimited, budgeted: false },
    ])
    expect([...snapshot.tenants.values()].map(({ limits, limited }) => [limits, limited])).toEqual([
      [unlimited, true],
      [unlimited, false],
      [unlimited, false],
    ])
    expect(await keyOf('acme-dev-secret-01')).toMatchObject({ limits: undefined, budgeted: false })
    expect(await budgets()).toEqual([])
    const after = await revisions()
    expect(Number(after?.catalog)).toBeGreaterThan(Number(before?.catalog))
    expect(Number(after?.keys)).toBeGreaterThan(Number(before?.keys))
  })

  test('changes only rows that differ: a raised budget of a key is one row', async () => {
    await apply(whole)
    const before = await allRows()
    await apply(whole.replace('total: "0"', 'total: "3"'))
    const changed = (await allRows()).flatMap((rows, table) => {
      const known = new Set(before[table]?.map((row) => JSON.stringify(row)))
      return rows.filter((row) => !known.has(JSON.stringify(row)))
    })
    // The other changed row is the revision.
    expect(changed.map((row) => row.name ?? 'revision')).toEqual(['dev', 'revision'])
    expect((await keyOf('acme-dev-secret-01'))?.budgeted).toBe(true)
  })

  test('changes no row and raises no revision the second time', async () => {
    await apply(whole)
    const before = await allRows()
    // With another text, so that it is compared with the rows.
    expect(await apply(`${whole}# the same`)).toEqual([])
    expect(await allRows()).toEqual(before)
  })

  test('stores no secret in plain text', async () => {
    await apply(whole)
    const [{ dump } = { dump: '' }] = await database.sql`
      SELECT (SELECT json_agg(k) FROM keys k)::text || (SELECT json_agg(c) FROM channel_credentials c)::text
        || (SELECT string_agg(encode(sealed, 'escape'), '') FROM channel_credentials) AS dump`
    expect(dump).not.toMatch(/acme-dev-secret-01|b-key/)
  })

  test('shows a generated secret once, and stores the same one', async () => {
    const [generated, ...rest] = await apply(whole)
    expect(rest).toEqual([])
    expect(generated).toMatchObject({ tenant: 'acme', key: 'ops' })
    const [row] = await database.sql`SELECT secret_hash, disabled_at FROM keys WHERE name = 'ops'`
    expect(row?.secret_hash).toEqual(hashKeySecret(generated?.secret ?? '', keeper.pepper))
    expect(row?.disabled_at).toBeInstanceOf(Date)
  })

  test('creates everything once even if several processes apply it at once', async () => {
    const generated = await Promise.all(Array.from({ length: 5 }, () => apply(whole)))
    expect(generated.flat()).toHaveLength(1)
    const [counts] = await database.sql`
      SELECT (SELECT count(*)::int FROM prices) AS prices, (SELECT count(*)::int FROM keys) AS keys,
        (SELECT count(*)::int FROM entries) AS entries`
    expect(counts).toEqual({ prices: 2, keys: 3, entries: 1 })
  })
})

test('an entry that leaves the file is disabled until it comes back; an entry that is not from a file stays', async () => {
  await apply(whole)
  await database.sql`INSERT INTO models (id, managed_by) VALUES ('by-hand', 'admin')`
  await apply(`
models: [{ id: small }]
channels: [{ name: b, protocols: { openai-chat: https://b.example/v1 }, api_keys: [b-key], models: [small] }]
groups: [{ name: fresh }]
tenants: [{ name: acme, balance_usd: "10.00", keys: [{ name: dev, group: fresh, secret: acme-dev-secret-01 }] }]
`)
  const snapshot = await load()
  expect([...snapshot.models.keys()].sort()).toEqual(['by-hand', 'small'])
  expect([...snapshot.channels.values()].map((channel) => channel.name)).toEqual(['b'])
  // Disabled keys still refer to the group.
  expect([...snapshot.groups.values()].map((group) => group.name).sort()).toEqual(['default', 'fresh'])
  expect([...snapshot.tenants.values()].filter((tenant) => tenant.disabled).map(({ name }) => name)).toEqual([
    'free',
    'capped',
  ])
  const disabled = await database.sql`
    SELECT t.name || '/' || k.name AS name FROM keys k JOIN tenants t ON t.id = tenant_id
    WHERE k.disabled_at IS NOT NULL ORDER BY 1`
  expect(disabled.map((row) => row.name)).toEqual(['acme/ops', 'free/dev'])

  await apply(whole)
  const back = await load()
  expect(findModel(back, 'big')?.offers).toHaveLength(3)
  expect([...back.tenants.values()].some((tenant) => tenant.disabled)).toBe(false)
  expect([...back.groups.values()].map((group) => group.name)).toEqual(['default'])
})

describe('prices', () => {
  const priced = (price: string) => `models: [{ id: m, ${price} }]`
  const history = async () =>
    (await database.sql`SELECT input_nano, output_nano FROM prices ORDER BY created_at, id`).map((row) => [
      row.input_nano,
      row.output_nano,
    ])

  test('are added only when they differ from the newest; a price that leaves the file becomes unknown', async () => {
    await apply(priced('price: { input: "1" }'))
    await apply(priced('price: { input: "1.000" }'))
    await apply(priced('context_length: 5, price: { input: "1" }'))
    await apply(priced('price: { input: "2", output: "0" }'))
    await apply(priced('price: { input: "1" }'))
    await apply(priced('context_length: 5'))
    await apply(priced('context_length: 5'))
    expect(await history()).toEqual([
      ['1000000000', null],
      ['2000000000', '0'],
      ['1000000000', null],
      [null, null],
    ])
    expect(findModel(await load(), 'm')?.price).toBeUndefined()
  })

  test('are unknown when absent, and free when "0"', async () => {
    await apply(priced('price: { input: "0" }'))
    const price = findModel(await load(), 'm')?.price
    expect([price?.input, price?.output]).toEqual([0n, undefined])
  })
})

describe('an opening balance', () => {
  const tenant = (balance: string) => `tenants: [{ name: acme${balance} }]`
  const account = async () => {
    const [row] = await database.sql`SELECT limited, balance_nano,
      (SELECT coalesce(sum(amount_nano), 0)::text FROM entries WHERE account_id = accounts.id) AS entries,
      (SELECT count(*)::int FROM entries WHERE kind = 'opening') AS openings FROM accounts`
    return row
  }

  test('is booked when the tenant is made, and not again', async () => {
    await apply(tenant(', balance_usd: "10.00"'))
    await apply(tenant(', balance_usd: "99.00"'))
    const opened = { balance_nano: '10000000000', entries: '10000000000', openings: 1 }
    expect(await account()).toEqual({ limited: true, ...opened })
    await apply(tenant(''))
    expect(await account()).toEqual({ limited: false, ...opened })
    await apply(tenant(', balance_usd: "10.00"'))
    expect(await account()).toEqual({ limited: true, ...opened })
  })

  test('of a tenant that had no limit before can be spent in full, and the entries still add up', async () => {
    await apply(tenant(''))
    await database.sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
      SELECT gen_random_uuid(), id, now(), 'charge', -7000 FROM accounts`
    await database.sql`UPDATE accounts SET balance_nano = -7000`
    await apply(tenant(', balance_usd: "1"'))
    expect(await account()).toEqual({
      limited: true,
      balance_nano: '1000000000',
      entries: '1000000000',
      openings: 1,
    })
  })
})

describe('a secret in the file', () => {
  const keys = (list: string) => `
groups: [{ name: default }]
tenants: [{ name: acme, keys: [${list}] }]`
  const holderOf = async (secret: string) => {
    const hash = hashKeySecret(secret, keeper.pepper)
    return (
      await database.sql`SELECT name, disabled_at IS NULL AS live FROM keys WHERE secret_hash = ${hash}`
    )[0]
  }

  test('may move to another key, as when a key is renamed or two keys swap', async () => {
    await apply(keys('{ name: a, secret: first-secret-0001 }, { name: b, secret: second-secret-0001 }'))
    await apply(keys('{ name: a, secret: second-secret-0001 }, { name: b, secret: first-secret-0001 }'))
    expect(await holderOf('first-secret-0001')).toEqual({ name: 'b', live: true })
    await apply(keys('{ name: a, secret: second-secret-0001 }, { name: renamed, secret: first-secret-0001 }'))
    expect(await holderOf('first-secret-0001')).toEqual({ name: 'renamed', live: true })
  })

  test('that belongs to a key that no file made is refused, and nothing changes', async () => {
    await apply(keys('{ name: a, secret: first-secret-0001 }'))
    await database.sql`UPDATE keys SET managed_by = 'admin'`
    const before = await revisions()
    await expect(apply(keys('{ name: b, secret: first-secret-0001 }'))).rejects.toThrow(
      'The secret of key "b" of tenant "acme" already belongs to another key, "a"',
    )
    expect(await revisions()).toEqual(before)
  })
})

describe('the catalog', () => {
  test('serves any name through channels that offer "*", and keeps declared names that no channel offers', async () => {
    await apply(`
models: [{ id: named, price: { input: "1" } }, { id: own }]
channels:
  - { name: any, protocols: { openai-chat: https://any.example/v1 }, api_keys: [k], models: "*" }
  - { name: one, protocols: { openai-chat: https://one.example/v1 }, api_keys: [k], models: [own] }
`)
    const snapshot = await load()
    const serving = (name: string) =>
      findModel(snapshot, name)?.offers.map((offer) => `${offer.channel.name}:${offer.upstreamModel}`)
    expect(serving('whatever')).toEqual(['any:*'])
    expect(serving('named')).toEqual(['any:*'])
    expect(serving('own')).toEqual(['one:own'])
    expect(findModel(snapshot, 'named')?.price?.input).toBe(1_000_000_000n)
    expect(snapshot.models.has('*')).toBe(false)
  })

  test('leaves out channels that it cannot decrypt, says so once, and the next file encrypts them again', async () => {
    await apply(whole)
    const other = new SecretKeeper('another secret key, also long enough')
    const lines: string[] = []
    const catalog = await Catalog.load(
      database,
      other,
      relayLog((_level, _fields, line) => void lines.push(line)),
    )
    await catalog.refresh()
    expect(catalog.snapshot.channels.size).toBe(0)
    expect(findModel(catalog.snapshot, 'big')?.offers).toEqual([])
    expect(lines).toHaveLength(3)
    expect(lines.join()).toContain(keeper.keyId)
    await apply(whole, other)
    await catalog.refresh()
    expect(catalog.snapshot.channels.size).toBe(3)
  })

  test('gives a name to the model with this id, even if another row has it as alias', async () => {
    await apply(`models: [{ id: b, aliases: [shared, x] }, { id: a }]`)
    await database.sql`INSERT INTO models (id, aliases, managed_by) VALUES ('x', '{}', 'admin'), ('0', '{shared}', 'admin')`
    const snapshot = await load()
    expect(findModel(snapshot, 'x')?.id).toBe('x')
    expect(findModel(snapshot, 'shared')?.id).toBe('0')
    expect(findModel(snapshot, 'b')?.aliases).toEqual([])
    expect([...snapshot.models.keys()].sort()).toEqual(['0', 'a', 'b', 'shared', 'x'])
  })

  test('replaces the whole snapshot and leaves the old one unchanged', async () => {
    await apply(whole)
    const catalog = await Catalog.load(database, keeper, silentLog)
    const before = catalog.snapshot
    await apply(`models: [{ id: other }]`)
    await catalog.refresh()
    expect(before.models.has('big')).toBe(true)
    expect([...catalog.snapshot.models.keys()]).toEqual(['other'])
    expect(catalog.snapshot.revision).toBeGreaterThan(before.revision)
  })
})

test('the demo adds its own entries, disables nothing, and does not change a group "default"', async () => {
  await apply(whole)
  await applyDemo(database, keeper)
  const before = await allRows()
  await applyDemo(database, keeper)
  expect(await allRows()).toEqual(before)
  const snapshot = await load()
  expect(findModel(snapshot, 'demo-chat')?.offers.map((offer) => offer.channel.name)).toEqual(['demo'])
  expect(findModel(snapshot, 'big')?.offers).toHaveLength(3)
  expect([...snapshot.groups.values()]).toMatchObject([{ name: 'default', priceMultiplier: '1.2' }])

  await apply(whole)
  expect(findModel(await load(), 'demo-chat')).toBeUndefined()
})

test('the example file applies', async () => {
  const text = readFileSync('gateway.example.yaml', 'utf8')
  const names = [...text.matchAll(/"\$\{([A-Z_]+)\}"/g)].flatMap((match) => match[1] ?? [])
  const env = Object.fromEntries(names.map((name) => [name, `value-of-${name}-for-the-test`]))
  await applyYaml(database, text, keeper, env)
  const snapshot = await load()
  expect(findModel(snapshot, 'gpt-main')?.offers.map((offer) => offer.channel.name)).toEqual(['main'])
  expect(findModel(snapshot, 'anything')?.offers.map((offer) => offer.channel.name)).toEqual(['second'])
})
