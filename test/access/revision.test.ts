import { randomUUIDv7 } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ensureFirstKey } from '../../src/access/first-run.ts'
import { hashKeySecret } from '../../src/access/key-secret.ts'
import { type Keys, keysOf } from '../../src/access/keys.ts'
import { followRevisions } from '../../src/access/revision.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const keeper = new SecretKeeper('a secret key for tests, long enough')
const bounds = {
  keyCacheMax: 100,
  keyCacheNegativeMs: 60_000,
  knownKeysMax: 1_000,
  peppers: keeper.ring('pepper'),
}
let origin: Awaited<ReturnType<typeof freshDatabase>>
/** The database of the process under test, and the one through which the tests make changes. */
let database: Database
let others: Database
let secret: string
let keys: Keys
let catalog: Catalog
let lines: string[]
let follower: Awaited<ReturnType<typeof followRevisions>> | undefined

beforeAll(async () => {
  origin = await freshDatabase()
  others = openDatabase(origin.url)
})
afterAll(async () => {
  await others.close()
  await origin.drop()
})
beforeEach(async () => {
  await others.sql`TRUNCATE tenants, accounts, key_groups, keys, models CASCADE`
  database = openDatabase(origin.url)
  secret = (await ensureFirstKey(database, keeper))?.secret ?? ''
  keys = keysOf(database, bounds)
  catalog = await Catalog.load(database, keeper, silentLog)
  lines = []
})
afterEach(async () => {
  await follower?.stop()
  follower = undefined
  await database.close()
})

/** A database whose LISTEN behaves as the given function. */
const withListen = (listen: Database['listen']): Database => ({ ...database, listen })
const neverListening = () => async () => {}

/** A follower gives a look up after half a second at most, and a busy machine may need longer. */
function patient(using: Database): Database {
  const state: Database['state'] = {
    ask: (question, terms) => using.state.ask(question, { ...terms, withinMs: 60_000 }),
  }
  return { ...using, state }
}

async function follow(using: Database, pollMs: number, isPatient = true) {
  follower = await followRevisions(isPatient ? patient(using) : using, {
    keys,
    catalog,
    pollMs,
    log: relayLog((_level, _fields, line) => void lines.push(line)),
  })
}

const disableKey = () => others.sql`UPDATE keys SET disabled_at = now()`
const addModel = () => others.sql`INSERT INTO models (id, managed_by) VALUES (${randomUUIDv7()}, 'admin')`
const isDisabled = async () => (await keys.lookup(secret))?.disabled
const listeners = () => others.sql`
  SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'listen %'`

/** Longer than any test: the poll cannot be what notices a change. */
const noPollMs = 1_000_000

describe('a revoked key', () => {
  beforeEach(async () => {
    expect(await isDisabled()).toBe(false)
  })

  test('is noticed through a notification', async () => {
    await follow(database, noPollMs)
    await until(async () => (await listeners()).length === 1)
    await disableKey()
    await until(isDisabled)
  })

  test('is noticed by the poll when LISTEN was never established', async () => {
    await follow(withListen(neverListening), 50)
    await keys.lookup(secret)
    await disableKey()
    await until(isDisabled)
  })

  test('is noticed by the poll when LISTEN is refused', async () => {
    const refusing = openDatabase('postgres://nobody@127.0.0.1:9/none')
    await follow(withListen(refusing.listen), 50)
    await keys.lookup(secret)
    await disableKey()
    await until(isDisabled)
    expect(lines).toEqual([])
    await refusing.close()
  })

  test('is noticed after the LISTEN connection was cut', async () => {
    await follow(database, 50)
    await until(async () => (await listeners()).length === 1)
    await keys.lookup(secret)
    const [listener] = await listeners()
    await others.sql`SELECT pg_terminate_backend(${listener?.pid})`
    await disableKey()
    await until(isDisabled)
  })

  test('is noticed when it was revoked before following began', async () => {
    await disableKey()
    expect(await isDisabled()).toBe(false)
    await follow(withListen(neverListening), noPollMs)
    expect(await isDisabled()).toBe(true)
  })

  test('is noticed when the database lost revisions, as after a restore', async () => {
    await follow(withListen(neverListening), 50)
    await keys.lookup(secret)
    await others.sql`ALTER TABLE keys DISABLE TRIGGER key_revision`
    await disableKey()
    await others.sql`ALTER TABLE keys ENABLE TRIGGER key_revision`
    await others.sql`UPDATE revision SET keys = 0`
    await until(isDisabled)
  })
})

test('a process reads only the changed key again, and no key when the catalog changes', async () => {
  await others.sql`INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
    SELECT gen_random_uuid(), tenant_id, group_id, 'second', '\\x00', '', 'admin' FROM keys`
  await follow(withListen(neverListening), 20)
  await keys.lookup(secret)
  await others.sql`UPDATE keys SET capture = 'none' WHERE name = 'second'`
  await addModel()
  await until(() => catalog.snapshot.models.size === 1)
  // The key is in memory: `lookup` answers without a promise.
  expect(keys.lookup(secret)).toMatchObject({ keyName: 'first' })
})

describe('a process that has read the hashes of all keys', () => {
  const addKey = (text: string) => others.sql`
    INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
    SELECT gen_random_uuid(), tenant_id, group_id, 'second', ${hashKeySecret(text, keeper.pepper)}, '', 'admin' FROM keys`

  test('refuses a guess without a query to Postgres, and finds a key that another process made since', async () => {
    await follow(withListen(neverListening), 50)
    const made = 'a key that is made later'
    await until(() => keys.lookup(made) === undefined)
    await addKey(made)
    const found = await until(() => keys.lookup(made))
    expect(found).toMatchObject({ keyName: 'second' })
  })

  test('reads them anew when the database lost revisions, as after a restore', async () => {
    await follow(withListen(neverListening), 50)
    const restored = 'a key that is restored later'
    await until(() => keys.lookup(restored) === undefined)
    await others.sql`ALTER TABLE keys DISABLE TRIGGER key_revision`
    await addKey(restored)
    await others.sql`ALTER TABLE keys ENABLE TRIGGER key_revision`
    await others.sql`UPDATE revision SET keys = 0`
    expect(await until(() => keys.lookup(restored))).toMatchObject({ keyName: 'second' })
  })

  test('reads them in pages, and again when a page failed', async () => {
    let failures = 2
    const state: Database['state'] = {
      ask: (question, terms) =>
        question.toString().includes('readHashes') && failures-- > 0
          ? Promise.reject(new Error('a page failed'))
          : database.state.ask(question, terms),
    }
    await others.sql`
      INSERT INTO keys (id, tenant_id, group_id, name, secret_hash, hint, managed_by)
      SELECT gen_random_uuid(), tenant_id, group_id, 'more ' || n, sha256(n::text::bytea), '', 'admin'
      FROM keys, generate_series(1, 10001) AS n`
    await follow({ ...database, state, listen: neverListening }, 50)
    await until(() => keys.hashes.isLoaded)
    expect(failures).toBeLessThan(1)
    expect(keys.hashes.isTooMany).toBe(true)
    expect(lines).toEqual([
      'There are more keys than KNOWN_KEYS_MAX, so every unknown key is looked up in Postgres',
    ])
  })
})

test('a process loads a changed catalog again', async () => {
  await follow(database, noPollMs)
  await until(async () => (await listeners()).length === 1)
  await addModel()
  await until(() => catalog.snapshot.models.size === 1)
})

describe('while the database is down', () => {
  test('one line says so, one says when it is back, and the process then sees the changes of the meantime', async () => {
    let away = false
    let looks = 0
    const state: Database['state'] = {
      ask(question, terms) {
        looks++
        const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
        return database.state.ask((...given) => (away ? Promise.reject(refused) : question(...given)), terms)
      },
    }
    await follow({ ...database, state, listen: neverListening }, 400)
    await keys.lookup(secret)
    away = true
    const looksBefore = looks
    await until(() => looks > looksBefore + 3)
    await disableKey()
    expect(lines).toEqual(['Cannot follow changes of keys and catalog: connect ECONNREFUSED'])
    away = false
    await until(isDisabled)
    await until(() => lines.length === 2)
    expect(lines[1]).toBe('Changes of keys and catalog are being followed again')
  })

  test('a change is applied when its maker is answered, also if Postgres was too slow at first', async () => {
    let failures = 0
    const state: Database['state'] = {
      ask: (question, terms) =>
        failures-- > 0 ? Promise.reject(new Error('too late')) : patient(database).state.ask(question, terms),
    }
    await follow({ ...withListen(neverListening), state }, noPollMs, false)
    expect(await isDisabled()).toBe(false)
    await disableKey()
    failures = 2
    await follower?.applied()
    expect(await isDisabled()).toBe(true)
  })

  test('a statement that never gets an answer does not stop the next poll', async () => {
    let hung = 0
    const never = new Promise<never>(() => {})
    const state: Database['state'] = {
      ask: (question, terms) =>
        database.state.ask((...given) => (hung++ === 1 ? never : question(...given)), terms),
    }
    await follow({ ...database, state, listen: neverListening }, 50, false)
    await keys.lookup(secret)
    await until(() => hung > 1)
    await disableKey()
    await until(isDisabled)
  })
})

test('a transaction raises the revision once, for all keys that it changes; the next one raises it again', async () => {
  const session = openDatabase(origin.url, { max: 1 })
  try {
    const { sql } = session
    const state = async () =>
      (await sql`SELECT r.keys::int AS now, k.revision::int AS key FROM revision r, keys k`)[0]
    const first = (await state())?.now
    await sql.begin(async (tx) => {
      await tx`UPDATE keys SET strict = true`
      await tx`UPDATE keys SET strict = false`
    })
    expect(await state()).toEqual({ now: first + 1, key: first + 1 })
    await sql`UPDATE keys SET strict = true`
    expect(await state()).toEqual({ now: first + 2, key: first + 2 })

    // What a savepoint takes back is raised anew.
    await sql.begin(async (tx) => {
      const givenUp = tx.savepoint(async (inner) => {
        await inner`UPDATE keys SET strict = false`
        throw new Error('given up')
      })
      await expect(givenUp).rejects.toThrow('given up')
      await tx`UPDATE keys SET strict = false`
    })
    expect(await state()).toEqual({ now: first + 3, key: first + 3 })
  } finally {
    await session.close()
  }
})

describe('the first key', () => {
  test('works, and is made only where there is no tenant', async () => {
    expect(secret).toMatch(/^tg-/)
    const identity = await keys.lookup(secret)
    expect(identity).toMatchObject({ keyName: 'first', disabled: false })
    expect(catalog.snapshot.tenants.get(identity?.tenantId ?? '')).toMatchObject({
      name: 'default',
      limited: false,
    })
    expect(catalog.snapshot.groups.get(identity?.groupId ?? '')).toMatchObject({
      models: ['*'],
      channels: ['*'],
    })
    expect(await ensureFirstKey(database, keeper)).toBeUndefined()
  })

  test('is made once even if several processes start together', async () => {
    await others.sql`TRUNCATE tenants, accounts, key_groups, keys CASCADE`
    const made = await Promise.all(Array.from({ length: 4 }, () => ensureFirstKey(database, keeper)))
    expect(made.filter((key) => key !== undefined)).toHaveLength(1)
  })
})
