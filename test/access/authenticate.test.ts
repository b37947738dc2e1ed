import { describe, expect, test } from 'vitest'
import { authenticate, tokenFrom } from '../../src/access/authenticate.ts'
import type { Identity } from '../../src/access/identity.ts'
import { hashKeySecret, makeKeySecret } from '../../src/access/key-secret.ts'
import { Keys } from '../../src/access/keys.ts'
import { KnownHashes } from '../../src/access/known-hashes.ts'
import { GatewayError } from '../../src/canonical/error.ts'
import { ringOf } from '../../src/canonical/key-ring.ts'
import { unlimited } from '../../src/catalog/limit-columns.ts'
import type { Snapshot } from '../../src/catalog/snapshot.ts'
import { openConnections } from '../../src/db/connections.ts'
import { Pool } from '../../src/db/pool.ts'
import { settingsOfParents } from '../../src/db/settings/key-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { seeded } from '../support/random.ts'

const pepper = Buffer.from('pepper')
const secret = makeKeySecret()
const anna: Identity = {
  keyId: 'key-1',
  keyName: 'anna',
  tenantId: 'tenant-1',
  groupId: 'group-1',
  ...defaultsOf(settingsOfParents),
  usageScope: 'tenant',
  allowedModels: undefined,
  allowedCidrs: undefined,
  expiresAt: undefined,
  disabled: false,
  limits: undefined,
  budgeted: false,
  parent: undefined,
  blocked: false,
  subKeysMax: 0,
}
const snapshot: Snapshot = {
  revision: 1,
  models: new Map(),
  anyModel: undefined,
  channels: new Map(),
  groups: new Map(),
  soleTenants: new Map(),
  tenants: new Map([
    ['tenant-1', { id: 'tenant-1', name: 'acme', disabled: false, limited: false, limits: unlimited }],
    ['tenant-2', { id: 'tenant-2', name: 'gone', disabled: true, limited: false, limits: unlimited }],
  ]),
}

/** Keys over a list of secrets, with a count of the reads. */
function fakeKeys(rows: Record<string, Identity>, read?: (hash: Buffer) => Promise<Identity | undefined>) {
  const byHash = new Map(Object.entries(rows).map(([text, row]) => [hashOf(text), row]))
  const hashes: string[] = []
  const keys = new Keys({
    pool,
    async read(_, hash) {
      hashes.push(hash.toString('hex'))
      return read === undefined ? byHash.get(hash.toString('hex')) : read(hash)
    },
    peppers: ringOf(pepper),
    cacheMax: 3,
    negativeMs: 60_000,
    knownKeysMax: 1_000,
  })
  return { keys, hashes, byHash }
}
/** No test uses its connections. */
const pool = new Pool({
  open: () => openConnections('postgres://nobody@127.0.0.1:9/none'),
  atOnce: 1_000,
  withinMs: 50,
})
const hashOf = (text: string) => hashKeySecret(text, pepper).toString('hex')

describe('the token', () => {
  test.each([
    [{ authorization: 'Bearer abc' }, 'abc'],
    [{ authorization: 'bearer   abc ' }, 'abc'],
    [{ 'x-api-key': ' abc ' }, 'abc'],
    [{ 'x-api-key': ['abc', 'def'] }, 'abc'],
    [{ authorization: 'Bearer abc', 'x-api-key': 'def' }, 'abc'],
    [{ authorization: 'Bearer ', 'x-api-key': 'def' }, 'def'],
    [{ authorization: 'Basic YTpi', 'x-api-key': 'def' }, 'def'],
    [{ authorization: 'Basic YTpi' }, undefined],
    [{ 'x-api-key': '' }, undefined],
    [{}, undefined],
  ])('of %j is %s', (headers, token) => {
    expect(tokenFrom(headers)).toBe(token)
  })
})

describe('a caller', () => {
  const nowMs = Date.parse('2026-11-21T12:00:00Z')
  const call = (identity: Partial<Identity>, token: string, address: string | undefined = '192.0.2.1') => {
    const { keys } = fakeKeys({ [secret]: { ...anna, ...identity } })
    return (async () => authenticate(keys, snapshot, { authorization: `Bearer ${token}` }, address, nowMs))()
  }

  test('with a good key is identified, and without a promise from the second call on', async () => {
    const { keys, hashes } = fakeKeys({ [secret]: anna })
    const headers = { authorization: `Bearer ${secret}` }
    expect(await authenticate(keys, snapshot, headers, '192.0.2.1', nowMs)).toEqual(anna)
    expect(authenticate(keys, snapshot, headers, '192.0.2.1', nowMs)).toEqual(anna)
    expect(hashes).toHaveLength(1)
  })

  test('without a key gets an error that names the headers to use', () => {
    const { keys } = fakeKeys({})
    const refused = expect(() => authenticate(keys, snapshot, {}, '192.0.2.1', nowMs))
    refused.toThrow(expect.objectContaining({ reason: 'key_missing' }))
    refused.toThrow(/authorization: Bearer KEY.*x-api-key: KEY/)
  })

  const mistyped = `${secret.slice(0, -1)}${secret.endsWith('x') ? 'y' : 'x'}`
  test.each([
    ['an unknown key', {}, 'sk-proj-of-some-provider-0001', 'key_unknown'],
    ['a mistyped key', {}, mistyped, 'key_mistyped'],
    ['a blocked key', { blocked: true, disabled: true }, secret, 'key_blocked'],
    ['a disabled key', { disabled: true }, secret, 'key_disabled'],
    ['an expired key', { expiresAt: nowMs }, secret, 'key_expired'],
    ['a key of a disabled tenant', { tenantId: 'tenant-2' }, secret, 'tenant_disabled'],
    ['a key from elsewhere', { allowedCidrs: ['10.0.0.0/8'] }, secret, 'key_address_refused'],
    ['a key of a tenant not loaded yet', { tenantId: 'tenant-3' }, secret, 'tenant_not_loaded'],
  ] as const)(
    'with %s gets an error that says so and does not show the key',
    async (_, identity, token, reason) => {
      const error = await call(identity, token).catch((reason: unknown) => reason)
      if (!(error instanceof GatewayError)) throw new Error('expected a GatewayError')
      expect(error.reason).toBe(reason)
      expect(error.message).not.toContain(token.slice(0, 9))
      expect(error.message).toContain(`${token.slice(0, 4)}`)
    },
  )

  test('is let in a moment before the key expires', async () => {
    expect(await call({ expiresAt: nowMs + 1 }, secret)).toMatchObject({ keyId: 'key-1' })
  })

  test.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['::ffff:10.1.2.3', ['10.0.0.0/8'], true],
    ['10.1.2.3', ['::ffff:10.0.0.0/104'], true],
    ['11.1.2.3', ['10.0.0.0/8', '192.0.2.0/24'], false],
    ['192.0.2.7', ['10.0.0.0/8', '192.0.2.0/24'], true],
    ['2001:db8::5', ['2001:db8::/32'], true],
    ['2001:db9::5', ['2001:db8::/32'], false],
    ['10.1.2.3', ['::/0'], false],
    ['2001:db8::5', ['0.0.0.0/0'], false],
    ['fe80::1%eth0', ['fe80::/10'], true],
    ['not an address', ['0.0.0.0/0', '::/0'], false],
  ])('from %s with blocks %j: let in is %s', async (address, allowedCidrs, isLetIn) => {
    const outcome = await call({ allowedCidrs }, secret, address).then(
      () => true,
      (error: GatewayError) => (error.kind === 'permission_denied' ? false : error),
    )
    expect(outcome).toBe(isLetIn)
  })
})

describe('cached keys', () => {
  test('share one read between concurrent misses', async () => {
    const { keys, hashes } = fakeKeys({ [secret]: anna })
    const found = await Promise.all(Array.from({ length: 20 }, () => keys.lookup(secret)))
    expect(new Set(found.map((identity) => identity?.keyId))).toEqual(new Set(['key-1']))
    expect(hashes).toHaveLength(1)
  })

  test('remember an unknown secret until any key changes', async () => {
    const { keys, hashes, byHash } = fakeKeys({})
    expect(await keys.lookup(secret)).toBeUndefined()
    expect(keys.lookup(secret)).toBeUndefined()
    expect(hashes).toHaveLength(1)
    byHash.set(hashOf(secret), anna)
    keys.evict(new Set(['key-1']))
    expect(await keys.lookup(secret)).toEqual(anna)
  })

  test('are not pushed out by a flood of guesses', async () => {
    const { keys, hashes } = fakeKeys({ [secret]: anna })
    await keys.lookup(secret)
    for (let guess = 0; guess < 500; guess++) await keys.lookup(`a guess of many, number ${guess}`)
    expect(keys.lookup(secret)).toEqual(anna)
    expect(hashes).toHaveLength(501)
  })

  test('forget only the keys that changed', async () => {
    const other = 'another secret of bert'
    const { keys } = fakeKeys({ [secret]: anna, [other]: { ...anna, keyId: 'key-2' } })
    await keys.lookup(secret)
    await keys.lookup(other)
    keys.evict(new Set(['key-2']))
    expect(keys.lookup(secret)).toEqual(anna)
    expect(keys.lookup(other)).toBeInstanceOf(Promise)
  })

  test('are not filled with a row that was read while the key changed', async () => {
    const release = Promise.withResolvers<void>()
    let row = anna
    const { keys } = fakeKeys({}, async () => {
      const read = row
      await release.promise
      return read
    })
    const first = keys.lookup(secret)
    row = { ...anna, disabled: true }
    keys.evict(new Set(['key-1']))
    release.resolve()
    await first
    expect(await keys.lookup(secret)).toMatchObject({ disabled: true })
  })

  test('never look up a secret that is too short or too long to be a key', () => {
    const { keys, hashes } = fakeKeys({})
    expect(keys.lookup('short')).toBeUndefined()
    expect(keys.lookup('x'.repeat(513))).toBeUndefined()
    expect(hashes).toEqual([])
  })
})

describe('guessed keys', () => {
  const minuteMs = 60_000
  const loaded = async (keys: Keys, ...secrets: string[]) => {
    const hashes = secrets.map((text) => hashKeySecret(text, pepper))
    await keys.hashes.load(async () => ({ hashes, next: undefined }))
  }
  const guessesOf = (keys: Keys, count: number) =>
    Array.from({ length: count }, (_, index) => keys.lookup(`one of many guesses ${index}`))

  test('are refused without a query to Postgres while all hashes are known, and a good key is looked up', async () => {
    const answer = Promise.withResolvers<Identity>()
    const { keys, hashes } = fakeKeys({}, () => answer.promise)
    await loaded(keys, secret)
    keys.hashes.confirm(performance.now() + minuteMs)
    expect(new Set(guessesOf(keys, 5_000))).toEqual(new Set([undefined]))
    expect(hashes).toEqual([])
    const good = keys.lookup(secret)
    expect(hashes).toEqual([hashOf(secret)])
    answer.resolve(anna)
    expect(await good).toEqual(anna)
  })

  test('that Postgres must be asked about have a bound of their own, and a good cold key is looked up beside them', async () => {
    const { keys, hashes } = fakeKeys({}, () => new Promise(() => {}))
    await loaded(keys, secret)
    const guesses = guessesOf(keys, 5_000)
    expect(guesses.filter((guess) => guess instanceof Promise)).toHaveLength(5_000)
    const settled = Promise.allSettled(guesses)
    expect(hashes).toHaveLength(100)
    const good = keys.lookup(secret)
    expect(hashes.at(-1)).toBe(hashOf(secret))
    await expect(good).rejects.toMatchObject({ kind: 'unavailable' })
    await settled
  })

  test('a key that was made since is found when its hash is noted, and when the hashes may be old', async () => {
    const { keys, byHash } = fakeKeys({})
    await loaded(keys)
    keys.hashes.confirm(performance.now() + minuteMs)
    byHash.set(hashOf(secret), anna)
    expect(keys.lookup(secret)).toBeUndefined()
    keys.hashes.add([hashKeySecret(secret, pepper)])
    expect(await keys.lookup(secret)).toEqual(anna)

    const other = 'another secret of bert'
    byHash.set(hashOf(other), anna)
    expect(keys.lookup(other)).toBeUndefined()
    keys.hashes.confirm(performance.now())
    expect(await keys.lookup(other)).toEqual(anna)
  })

  test('with more keys than the bound, Postgres is asked about every unknown key', async () => {
    const { keys, hashes } = fakeKeys({})
    const all = Array.from({ length: 1_001 }, (_, index) => `the secret number ${index} of many`)
    await loaded(keys, ...all)
    keys.hashes.confirm(performance.now() + minuteMs)
    expect(keys.hashes.isTooMany).toBe(true)
    expect(await keys.lookup('one of many guesses 1')).toBeUndefined()
    expect(hashes).toHaveLength(1)
  })
})

test('the set of hashes has every hash that was added, and no other', async () => {
  const known = new KnownHashes(100_000)
  const random = seeded(5)
  const hashes = Array.from({ length: 30_000 }, () =>
    Buffer.from(Array.from({ length: 8 }, () => random.upTo(255))),
  )
  const [added, others] = [hashes.slice(0, 20_000), hashes.slice(20_000)]
  const pages = [added.slice(0, 15_000), added.slice(15_000)]
  await known.load(async (after) => ({
    hashes: pages[Number(after ?? 0)] ?? [],
    next: after === undefined ? '1' : undefined,
  }))
  known.confirm(Number.POSITIVE_INFINITY)
  expect(added.filter((hash) => known.find(hash) !== 'known')).toEqual([])
  expect(others.filter((hash) => known.find(hash) !== 'none')).toEqual([])
  expect(known.find(Buffer.alloc(32))).toBe('none')
  known.add([Buffer.from([0])])
  expect(known.find(Buffer.alloc(32))).toBe('known')
})

describe('while the database is down', () => {
  const unavailable = { kind: 'unavailable', retryAfterSeconds: 1 }

  test('let cached keys in; other keys get an error that says to try again', async () => {
    let away = false
    const { keys } = fakeKeys({}, async () => {
      if (away) throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
      return anna
    })
    await keys.lookup(secret)
    away = true
    expect(keys.lookup(secret)).toEqual(anna)
    await expect(keys.lookup('another secret of bert')).rejects.toMatchObject(unavailable)
    away = false
    expect(await keys.lookup('another secret of bert')).toEqual(anna)
  })

  test('end a look-up that gets no answer, and the next call looks the key up again', async () => {
    let answers = false
    const { keys } = fakeKeys({}, () => (answers ? Promise.resolve(anna) : new Promise(() => {})))
    await expect(keys.lookup(secret)).rejects.toMatchObject(unavailable)
    answers = true
    expect(await keys.lookup(secret)).toEqual(anna)
  })

  test('refuse look-ups beyond a bound at once', async () => {
    const { keys, hashes } = fakeKeys({}, () => new Promise(() => {}))
    const calls = Array.from({ length: 1100 }, (_, index) => keys.lookup(`one of many secrets ${index}`))
    const results = await Promise.allSettled(calls)
    const reasons = results.map((result) => (result.status === 'rejected' ? result.reason.reason : ''))
    expect(reasons.filter((reason) => reason === 'database_away')).toHaveLength(1000)
    expect(reasons.filter((reason) => reason === 'key_checks_full')).toHaveLength(100)
    expect(hashes).toHaveLength(1000)
  })
})

test.each(['api-key', 'x-goog-api-key'])(
  'a key in the header %s is not read, and the error says so',
  (name) => {
    const { keys } = fakeKeys({ [secret]: anna })
    const headers = { [name]: secret }
    expect(tokenFrom(headers)).toBeUndefined()
    expect(() => authenticate(keys, snapshot, headers, '192.0.2.1', 0)).toThrow(
      `No API key was sent: the header ${name} is not read. Send it as`,
    )
  },
)
