import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { openConnections } from '../../src/db/connections.ts'
import { prepareDatabase } from '../../src/db/migrate.ts'
import {
  addMaster,
  dropOtherWrappings,
  readMasters,
  useMaster,
} from '../../src/secrets/master-key-queries.ts'
import { prepareKeeper, readKeeper, wrappingsOf } from '../../src/secrets/open-masters.ts'
import { idOfSecret, SecretKeeper } from '../../src/secrets/secret-key.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'

const keyNumber = (digit: number) => `secret-key-number-${digit}-of-32-characters`
const [first, second, third] = [keyNumber(1), keyNumber(2), keyNumber(3)]

async function connect(database: { url: string; drop(): Promise<void> }) {
  const { sql, end } = openConnections(database.url, { connectSeconds: 30 })
  onTestFinished(async () => {
    await end()
    await database.drop()
  })
  return sql
}

let sql: Awaited<ReturnType<typeof connect>>
beforeEach(async () => {
  sql = await connect(await freshDatabase())
})

const wrappers = async () =>
  (await sql`SELECT wrapped_by FROM master_key_wrappings ORDER BY created_at, wrapped_by`).map(
    (row) => row.wrapped_by,
  )

test('the first start wraps SECRET_KEY itself, so that every derived key is that of the release before', async () => {
  const keeper = await prepareKeeper(sql, { secretKey: 'a-secret-key-for-tests-of-32-characters' })
  // These were made by the release that had no master keys.
  expect(keeper.keyId).toBe('01121222')
  expect(keeper.pepper.toString('hex')).toMatch(/^1b7885e2365e455a/)
  expect(keeper.redactionKey.toString('hex')).toMatch(/^4ec1253679621de4/)
  expect(keeper.fileKey.toString('hex')).toMatch(/^65e1928aa00490db/)
  expect(keeper.ring('envelope').current.toString('hex')).toMatch(/^b4f6f428c8e93a06/)
  expect(keeper.ring('link').current.toString('hex')).toMatch(/^210727b37b4d5dd4/)
  expect(keeper.ring('webhook').current.toString('hex')).toMatch(/^840a6e712f3dd7e5/)
  const bytes = (text: string) => Buffer.from(text, 'hex')
  const credential = bytes('96bf57a2138f8da147cb803db99da6aa7f001b838eb870f1a69a6e75a3aba0bb')
  expect(keeper.decryptCredential({ keyId: '01121222', sealed: credential }, 'channel')).toBe('sk-1')
  const job = bytes('9242c17433716461beb3b76d7a9074bb534cab3cfe7260454b209ee993abcf')
  expect(keeper.decryptJob(job, 'owner')).toBe('job')
  const answer = bytes('f69843f3c163919ce14eb12e8f9da4501bfa17b8415d96c794e6d343c27ef6d0f84c')
  expect(keeper.decryptAnswer(answer, 'request').toString()).toBe('answer')
})

test('without its tables, SECRET_KEY is the master key', async () => {
  const unmigrated = await connect(await emptyDatabase())
  expect((await readKeeper(unmigrated, { secretKey: first })).keyId).toBe(idOfSecret(first))
})

test('nothing in the database opens a secret without SECRET_KEY', async () => {
  const keeper = await prepareKeeper(sql, { secretKey: first })
  const [row] = await sql`SELECT wrapped FROM master_key_wrappings`
  expect(row?.wrapped.includes(Buffer.from(first))).toBe(false)
  for (const purpose of ['credential', 'totp'] as const)
    expect(row?.wrapped.includes(keeper.ring(purpose).current)).toBe(false)
  await expect(readKeeper(sql, { secretKey: second })).rejects.toThrow('are wrapped by SECRET_KEY')
})

test('another SECRET_KEY is refused before anything is written, by the ids of both', async () => {
  await prepareKeeper(sql, { secretKey: first })
  const [state] =
    await sql`SELECT masters, (SELECT jsonb_agg(w) FROM master_key_wrappings w) AS w FROM revision`
  for (const work of [readKeeper, prepareKeeper]) {
    const error = `the secrets in this database are wrapped by SECRET_KEY ${idOfSecret(first)}, but this process has SECRET_KEY ${idOfSecret(second)}`
    await expect(work(sql, { secretKey: second })).rejects.toThrow(error)
    const both = work(sql, { secretKey: second, secretKeyPrevious: third })
    await expect(both).rejects.toThrow(`and SECRET_KEY_PREVIOUS ${idOfSecret(third)}`)
  }
  expect(
    await sql`SELECT masters, (SELECT jsonb_agg(w) FROM master_key_wrappings w) AS w FROM revision`,
  ).toEqual([state])
})

test('another SECRET_KEY than the one that sealed the credentials is not a first master key', async () => {
  const { keyId, sealed } = new SecretKeeper(first).encryptCredential('sk-1', 'x')
  await sql`WITH channel AS (
      INSERT INTO channels (id, name, protocols, managed_by) VALUES (gen_random_uuid(), 'main', '{}', 'admin') RETURNING id)
    INSERT INTO channel_credentials (channel_id, ordinal, key_id, sealed) SELECT id, 0, ${keyId}, ${sealed} FROM channel`
  const refusal = `are sealed with SECRET_KEY ${idOfSecret(first)}`
  await expect(readKeeper(sql, { secretKey: second })).rejects.toThrow(refusal)
  await expect(prepareKeeper(sql, { secretKey: second })).rejects.toThrow(refusal)
  expect(await wrappers()).toEqual([])
  // An upgrade and a rotation at once.
  const keeper = await prepareKeeper(sql, { secretKey: second, secretKeyPrevious: first })
  expect(keeper.decryptCredential({ keyId, sealed }, 'x')).toBe('sk-1')
  expect((await readKeeper(sql, { secretKey: second })).keyId).toBe(idOfSecret(first))
})

test('a rotation wraps the same master keys again, also by two starts at once, and both SECRET_KEYs open them', async () => {
  await prepareKeeper(sql, { secretKey: first })
  const keys = { secretKey: second, secretKeyPrevious: first }
  const keepers = await Promise.all([prepareKeeper(sql, keys), prepareKeeper(sql, keys)])
  for (const keeper of keepers) expect(keeper.pepper).toEqual(new SecretKeeper(first).pepper)
  expect(await wrappers()).toEqual([idOfSecret(first), idOfSecret(second)])
  for (const secretKey of [first, second])
    expect((await prepareKeeper(sql, { secretKey })).keyId).toBe(idOfSecret(first))

  expect(await dropOtherWrappings(sql, idOfSecret(third))).toEqual([])
  expect(await dropOtherWrappings(sql, idOfSecret(second))).toEqual([idOfSecret(first)])
  await expect(prepareKeeper(sql, { secretKey: first })).rejects.toThrow(`SECRET_KEY ${idOfSecret(second)}`)
  expect((await prepareKeeper(sql, { secretKey: second })).keyId).toBe(idOfSecret(first))
})

test('a new master key reads at once, and seals once it is in use; the old one then only reads', async () => {
  await prepareKeeper(sql, { secretKey: first })
  const old = await readKeeper(sql, { secretKey: first })
  const sealed = old.seal('totp', 'text', 'me')
  const id = idOfSecret(third)
  await addMaster(sql, { id, used: false, wrappings: wrappingsOf(third, { secretKey: first }) })
  const prepared = await readKeeper(sql, { secretKey: first })
  expect(prepared.keyId).toBe(old.keyId)
  expect(prepared.open('totp', new SecretKeeper(third).seal('totp', 'new', 'me'), 'me').toString()).toBe(
    'new',
  )
  expect(prepared.ring('link').former).toMatchObject([{ retiredMs: Number.POSITIVE_INFINITY }])

  await useMaster(sql, id)
  const keeper = await readKeeper(sql, { secretKey: first })
  expect(keeper.keyId).toBe(id)
  expect(keeper.open('totp', sealed, 'me').toString()).toBe('text')
  const [{ usedFrom } = { usedFrom: null }] = (await readMasters(sql)).masters.filter((one) => one.id === id)
  expect(keeper.ring('link').former).toMatchObject([
    { key: old.ring('link').current, retiredMs: usedFrom?.getTime() },
  ])
})

test('a wrapping that was changed, or belongs to another master key, is damaged', async () => {
  await prepareKeeper(sql, { secretKey: first })
  await sql`UPDATE master_key_wrappings SET wrapped = set_byte(wrapped, 40, get_byte(wrapped, 40) # 1)`
  await expect(readKeeper(sql, { secretKey: first })).rejects.toThrow('is damaged in the database')
})

test('a database that another process wrapped between check and migration is checked again', async () => {
  const database = await emptyDatabase()
  const empty = await connect(database)
  await readKeeper(empty, { secretKey: second })
  await prepareDatabase(
    database.url,
    async ({ sql: own }) => void (await prepareKeeper(own, { secretKey: first })),
  )
  const start = prepareDatabase(
    database.url,
    async ({ sql: own }) => void (await prepareKeeper(own, { secretKey: second })),
  )
  await expect(start).rejects.toThrow('are wrapped by')
})
