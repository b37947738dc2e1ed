import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { applyGatewayFile, checkGatewayFile, type FileOutcome } from '../../src/access/apply-gateway-file.ts'
import { logFileOutcome } from '../../src/access/gateway-file-log.ts'
import { gatewaySource } from '../../src/catalog/gateway-source.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { type Database, emptyDatabase, freshDatabase, openDatabase } from '../support/database.ts'

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

interface Place {
  path?: string
  host?: string
  env?: Record<string, string>
  using?: SecretKeeper
}

function sourceOf(text: string, { path = 'gateway.yaml', host = 'here', env = {} }: Place) {
  const source = gatewaySource(text, { path, env })
  return { ...source, place: { ...source.place, host } }
}

/** What became of a file, and the lines of the log about it. */
async function apply(text: string, place: Place = {}) {
  const source = sourceOf(text, place)
  const outcome = await applyGatewayFile(database, source, place.using ?? keeper)
  const lines: { level: string; message: string; fields: object }[] = []
  const log = relayLog((level, fields, message) => void lines.push({ level, message, fields }))
  logFileOutcome(log, { ...source, hash: source.hashWith((place.using ?? keeper).fileKey) }, outcome)
  return { ...outcome, lines }
}

const tenant = (name: string, more = '') => `${more}
groups: [{ name: default }]
tenants: [{ name: ${name}, keys: [{ name: main, secret: the-secret-of-${name}-0001 }] }]`

const liveTenants = async () =>
  (await database.sql`SELECT name FROM tenants WHERE disabled_at IS NULL ORDER BY name`).map(
    ({ name }) => name,
  )

const kinds = (outcomes: readonly FileOutcome[]) => outcomes.map(({ kind }) => kind)

describe('a file that is in force', () => {
  test('is neither read nor applied again', async () => {
    expect(await apply(tenant('acme'))).toMatchObject({ kind: 'applied' })
    const source = sourceOf(tenant('acme'), {})
    const unread = {
      ...source,
      parse: () => {
        throw new Error('was read')
      },
    }
    await checkGatewayFile(database, unread, keeper)
    expect(await applyGatewayFile(database, unread, keeper)).toEqual({
      kind: 'unchanged',
      revision: undefined,
    })
  })

  test('is applied again when somebody else has changed a key or the catalog since', async () => {
    await apply(tenant('acme'))
    await database.sql`UPDATE keys SET disabled_at = now()`
    const restored = await apply(tenant('acme'))
    expect(restored).toMatchObject({ kind: 'applied', changes: { keys: { changed: 1 } } })
    expect(restored.lines).toHaveLength(1)
    await database.sql`UPDATE tenants SET disabled_at = now()`
    expect(await apply(tenant('acme'))).toMatchObject({ changes: { tenants: { added: 1 } } })
    expect(await apply(tenant('acme'))).toMatchObject({ kind: 'unchanged' })
  })

  test('is another one when a variable that it names has changed, or SECRET_KEY; other variables do not count', async () => {
    const text = tenant('acme').replace('the-secret-of-acme-0001', `"\${SECRET_OF_ACME}"`)
    const [env, others] = [{ SECRET_OF_ACME: 'first-secret-0001' }, { SECRET_OF_ACME: 'other-secret-0001' }]
    const using = new SecretKeeper('another secret key, also long enough')
    const outcomes = [
      await apply(text, { env }),
      await apply(text, { env: { ...env, ELSE: 'x' } }),
      await apply(text, { env: others }),
      await apply(text, { env: others, using }),
    ]
    expect(kinds(outcomes)).toEqual(['applied', 'unchanged', 'applied', 'applied'])
    expect(outcomes[3]).toMatchObject({ changes: { keys: { changed: 1 } } })
  })

  test('its hash tells nothing about secrets to somebody without SECRET_KEY', () => {
    const hashes = ['a secret key for tests, long enough', 'another secret key, also long enough'].map(
      (secretKey) =>
        gatewaySource(tenant('acme'), { path: 'x', env: {} }).hashWith(new SecretKeeper(secretKey).fileKey),
    )
    expect(hashes[0]).not.toEqual(hashes[1])
  })
})

test('the check before the migrations reads the file when there are no tables yet', async () => {
  const empty = await emptyDatabase()
  const unmigrated = openDatabase(empty.url, { max: 1 })
  try {
    await checkGatewayFile(unmigrated, sourceOf(tenant('acme'), {}), keeper)
    await expect(checkGatewayFile(unmigrated, sourceOf('models: 5', {}), keeper)).rejects.toThrow(
      'gateway.yaml:1: models: must be a list',
    )
  } finally {
    await unmigrated.close()
    await empty.drop()
  }
})

test('counts what it has added, changed and removed, by kind', async () => {
  const whole = (price: string, channels: string, groups: string, tenants: string) => `
models: [{ id: m${price} }, { id: n }]
channels: [${channels}]
groups: [{ name: default }${groups}]
tenants: [${tenants}]`
  const channel = (name: string, key: string) =>
    `{ name: ${name}, protocols: { openai-chat: https://${name}.example/v1 }, api_keys: [${key}], models: [m] }`
  const first = whole(
    '',
    `${channel('a', 'k')}, ${channel('b', 'k')}`,
    ', { name: old }',
    '{ name: one, keys: [{ name: x }, { name: y }] }, { name: two }',
  )
  expect(await apply(first)).toMatchObject({
    changes: {
      models: { added: 2, changed: 0, removed: 0 },
      channels: { added: 2, changed: 0, removed: 0 },
      groups: { added: 2, changed: 0, removed: 0 },
      tenants: { added: 2, changed: 0, removed: 0 },
      keys: { added: 2, changed: 0, removed: 0 },
    },
    generated: [
      { tenant: 'one', key: 'x' },
      { tenant: 'one', key: 'y' },
    ],
  })
  const second = whole(
    ', price: { input: "1" }',
    channel('a', 'other'),
    '',
    '{ name: one, limits: { concurrency: 3 }, keys: [{ name: x, strict: true }, { name: z }] }',
  )
  const { lines, ...outcome } = await apply(second)
  expect(outcome).toMatchObject({
    changes: {
      models: { added: 0, changed: 1, removed: 0 },
      channels: { added: 0, changed: 1, removed: 1 },
      groups: { added: 0, changed: 0, removed: 1 },
      tenants: { added: 0, changed: 1, removed: 1 },
      keys: { added: 1, changed: 1, removed: 1 },
    },
    generated: [{ tenant: 'one', key: 'z' }],
  })
  expect(lines).toMatchObject([
    { level: 'info', message: 'gateway.yaml was applied', fields: { keys: { added: 1 } } },
  ])
  expect(await apply(first)).toMatchObject({ changes: { tenants: { added: 1, changed: 1, removed: 0 } } })
})

test('many tenants with balances, and keys that all change or swap their secrets, are written as one by one', async () => {
  // More than one statement takes.
  const count = 1_050
  const file = (secretOf: (index: number) => number, capture: string, balance: string) => `
groups: [{ name: default }]
tenants:
${Array.from({ length: count }, (_, index) => `  - { name: t${index}, balance_usd: "${balance}", limits: { concurrency: ${balance.length} }, keys: [{ name: k, capture: ${capture}, secret: secret-number-${secretOf(index)}-of-all }] }`).join('\n')}`
  const state = async () =>
    (
      await database.sql`
        SELECT count(*)::int AS tenants, count(DISTINCT k.secret_hash)::int AS secrets, min(k.capture) AS capture,
          max(k.capture) AS last, min(t.concurrency) AS concurrency, bool_and(a.limited) AS limited,
          min(a.balance_nano) AS least, max(a.balance_nano) AS most, count(e.id)::int AS openings
        FROM tenants t JOIN keys k ON k.tenant_id = t.id JOIN accounts a ON a.id = t.id
        JOIN entries e ON e.account_id = a.id AND e.kind = 'opening' AND e.amount_nano = a.balance_nano`
    )[0]
  const same = { tenants: count, secrets: count, limited: true, least: '1500000000', most: '1500000000' }
  await apply(file((index) => index, 'content', '1.5'))
  expect(await state()).toEqual({
    ...same,
    capture: 'content',
    last: 'content',
    concurrency: 3,
    openings: count,
  })
  const swapped = await apply(file((index) => count - 1 - index, 'shape', '1.50'))
  expect(swapped).toMatchObject({ changes: { keys: { changed: count }, tenants: { changed: count } } })
  expect(await state()).toEqual({ ...same, capture: 'shape', last: 'shape', concurrency: 4, openings: count })
})

describe('of two files', () => {
  const [a, b] = [
    { path: '/etc/a.yaml', host: 'one' },
    { path: '/etc/b.yaml', host: 'two' },
  ]

  test('the one with the higher revision stays in force, and the log names both', async () => {
    await apply(tenant('newer', 'revision: 7'), b)
    const refused = await apply(tenant('older', 'revision: 6'), a)
    expect(refused.kind).toBe('lower')
    expect(await liveTenants()).toEqual(['newer'])
    expect(refused.lines).toMatchObject([
      {
        level: 'warn',
        message: 'gateway.yaml was not applied: a file with a higher revision is in force',
        fields: {
          revision: 6,
          hash: expect.stringMatching(/^[0-9a-f]{12}$/),
          ...a,
          pid: process.pid,
          inForce: {
            revision: 7,
            hash: expect.stringMatching(/^[0-9a-f]{12}$/),
            ...b,
            pid: process.pid,
            appliedAt: expect.any(Date),
          },
        },
      },
    ])
    // A file without one does not take part, also when its text was in force once.
    expect(kinds([await apply(tenant('older'), a)])).toEqual(['lower'])
    const higher = await apply(tenant('older', 'revision: 8'), a)
    expect(higher.lines.map(({ level }) => level)).toEqual(['info'])
    expect(await liveTenants()).toEqual(['older'])
  })

  test('a lower one is not applied either when rows were changed by hand', async () => {
    await apply(tenant('newer', 'revision: 7'), b)
    await database.sql`UPDATE keys SET disabled_at = now()`
    expect(kinds([await apply(tenant('older', 'revision: 6'), a)])).toEqual(['lower'])
  })

  test.each([
    ['without revisions', ''],
    ['with equal revisions', 'revision: 4'],
  ])('%s the one applied last wins, and the log warns and names both', async (_name, revision) => {
    await apply(tenant('first', revision), a)
    const { kind, lines } = await apply(tenant('second', revision), b)
    expect(kind).toBe('applied')
    expect(await liveTenants()).toEqual(['second'])
    expect(lines).toMatchObject([
      { level: 'info' },
      {
        level: 'warn',
        message:
          'gateway.yaml has replaced another file: unless one has a higher revision, the file applied last wins',
        fields: { ...b, pid: process.pid, replaced: { ...a, pid: process.pid, appliedAt: expect.any(Date) } },
      },
    ])
  })

  test('one file that was edited replaces itself, which needs no warning', async () => {
    await apply(tenant('first'), a)
    expect((await apply(tenant('second'), a)).lines).toMatchObject([{ level: 'info' }])
  })

  test.each(['0', '-1', '1.5', '"7"', '[]'])('revision: %s is refused', async (revision) => {
    await expect(apply(tenant('acme', `revision: ${revision}`))).rejects.toThrow(
      'gateway.yaml:1: revision: must be',
    )
  })
})

describe('a name that an admin has used', () => {
  const named = (name: string) => `${tenant(name)}`

  test('is taken over by the file, which the audit log says; what the file does not name stays', async () => {
    await apply(named('acme'))
    await database.sql`UPDATE tenants SET managed_by = 'admin'`
    await database.sql`UPDATE keys SET managed_by = 'admin', strict = true, former_secret_hash = 'former'`
    await apply(named('other').replace('the-secret-of-acme', 'the-secret-of-other'))
    const left = await database.sql`SELECT disabled_at, managed_by FROM tenants WHERE name = 'acme'`
    expect(left).toEqual([{ disabled_at: null, managed_by: 'admin' }])
    await apply(named('acme'))
    const [row] = await database.sql`
      SELECT t.managed_by AS tenant, k.managed_by AS key, k.strict, k.former_secret_hash FROM keys k
      JOIN tenants t ON t.id = k.tenant_id WHERE t.name = 'acme'`
    expect(row).toEqual({ tenant: 'file', key: 'file', strict: false, former_secret_hash: null })
    const [line] = await database.sql`SELECT after FROM audit_log ORDER BY id DESC LIMIT 1`
    expect(line?.after).toMatchObject({
      changes: {
        tenants: { taken_over: ['acme'] },
        keys: { taken_over: [expect.stringMatching(/^acme\//)] },
      },
    })
    expect(JSON.stringify(line)).not.toContain('the-secret-of-acme')
  })

  test('and made by another key is refused in the file: its maker knows the secret', async () => {
    await apply(named('acme'))
    const [key] = await database.sql`SELECT name FROM keys`
    await database.sql`UPDATE keys SET name = 'maker', secret_hash = 'another'`
    await database.sql`INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by, parent_id)
      SELECT gen_random_uuid(), tenant_id, group_id, ${String(key?.name)}, 'a hash', 'tg-…', 'admin', id FROM keys`
    await expect(apply(named('acme'))).rejects.toThrow('is a sub-key')
  })

  test('and revoked is refused in the file: a revoked key never comes back', async () => {
    await apply(named('acme'))
    await database.sql`UPDATE keys SET managed_by = 'admin', revoked_at = now(), disabled_at = now()`
    await expect(apply(named('acme'))).rejects.toThrow('was revoked through the admin API, which is final')
    const rows = await database.sql`SELECT disabled_at FROM keys WHERE disabled_at IS NULL`
    expect(rows).toEqual([])
  })
})
