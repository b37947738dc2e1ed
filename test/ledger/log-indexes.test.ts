import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/runtime/clock.ts'
import { keepLogIndexes, logIndexes } from '../../src/usage/log/indexes.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'

/** The indexes of closed days. */

const dayMs = 86_400_000
const stamp = (days: number) =>
  new Date(Date.now() + days * dayMs).toISOString().slice(0, 10).replaceAll('-', '')

async function aLog(): Promise<{ database: Database; url: string }> {
  const fresh = await freshDatabase()
  const database = openDatabase(fresh.url, { max: 1 })
  onTestFinished(async () => {
    await database.close()
    await fresh.drop()
  })
  for (const days of [-3, -2]) {
    await database.sql`drop table if exists ${database.sql(`requests_${stamp(days)}`)}`
    await database.sql`select make_partition('requests', ${stamp(days)}::text::date)`
  }
  return { database, url: fresh.url }
}

async function indexesOf({ sql }: Pick<Database, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select c.relname::text as name from pg_class c join pg_index i on i.indexrelid = c.oid
    where c.relname like 'requests\\_%\\_log\\_%' and i.indisvalid order by 1`
  return rows.map(({ name }) => name)
}

test('closed days get all of them once, the days that rows are written to none', async () => {
  const { database } = await aLog()
  const expected = [-3, -2]
    .flatMap((days) => logIndexes.map(({ name }) => `requests_${stamp(days)}_${name}`))
    .sort()
  const first = await keepLogIndexes(database.sql, systemClock)
  const built = await indexesOf(database)
  expect(built).toEqual(expect.arrayContaining(expected))
  expect(built.filter((name) => name.includes(stamp(0)))).toEqual([])
  expect(first).toEqual({ built: built.length, left: 0, without: undefined })
  expect(await keepLogIndexes(database.sql, systemClock)).toMatchObject({ built: 0, left: 0 })
})

test('an index whose build was interrupted is built again', async () => {
  const { database } = await aLog()
  await keepLogIndexes(database.sql, systemClock)
  const before = await indexesOf(database)
  const broken = `requests_${stamp(-2)}_log_channel`
  await database.sql`update pg_index set indisvalid = false where indexrelid = ${broken}::regclass`
  expect(await keepLogIndexes(database.sql, systemClock)).toMatchObject({ built: 1, left: 0 })
  expect(await indexesOf(database)).toEqual(before)
})

test('where the user may not create the extension, all others are built, and the pass says why', async () => {
  const { database, url } = await aLog()
  const role = `plain_${process.pid}_${Date.now()}`
  await database.sql.unsafe(`create role ${role} login password 'plain'`)
  for (const name of ['requests', ...(await partitionsOf(database))])
    await database.sql.unsafe(`alter table ${name} owner to ${role}`)
  await database.sql.unsafe(`grant create, usage on schema public to ${role}`)
  const own = new URL(url)
  own.username = role
  own.password = 'plain'
  const sql = postgres(own.href, { max: 1, onnotice: () => {} })
  onTestFinished(async () => {
    await sql.end()
    await database.sql.unsafe(
      `reassign owned by ${role} to current_user; drop owned by ${role}; drop role ${role}`,
    )
  })
  const pass = await keepLogIndexes(sql, systemClock)
  expect(pass).toMatchObject({ left: 0, without: expect.stringContaining('pg_trgm') })
  const built = await indexesOf(database)
  expect(built).toHaveLength(pass.built)
  expect(built).toContain(`requests_${stamp(-2)}_log_channel`)
  expect(built.filter((name) => name.endsWith('log_error_text'))).toEqual([])
})

async function partitionsOf({ sql }: Pick<Database, 'sql'>): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'requests'::regclass`
  return rows.map(({ name }) => name)
}

test('a long transaction keeps no other upkeep waiting', async () => {
  const { url } = await aLog()
  const connect = () => postgres(url, { max: 1, onnotice: () => {} })
  const [long, sql] = [connect(), connect()]
  onTestFinished(async () => {
    await Promise.all([long.end({ timeout: 0 }), sql.end({ timeout: 0 })])
  })
  await long`begin isolation level repeatable read`
  await long`select 1`
  const missing = (await keepLogIndexes(sql, systemClock, { waitMs: 300 })).left
  expect(missing).toBeGreaterThan(logIndexes.length)
  // By now the transaction is known to be long: nothing is built that could not be finished.
  const before = await sql`select indexrelid, indisvalid from pg_index order by 1`
  expect(await keepLogIndexes(sql, systemClock, { waitMs: 300 })).toMatchObject({ built: 0, left: missing })
  expect(await sql`select indexrelid, indisvalid from pg_index order by 1`).toEqual(before)
  await long`commit`
  expect(await keepLogIndexes(sql, systemClock, { waitMs: 300 })).toMatchObject({ left: 0 })
})

test('of processes that begin at once, one builds', async () => {
  const { url } = await aLog()
  const sessions = [1, 2, 3].map(() => postgres(url, { max: 1, onnotice: () => {} }))
  onTestFinished(async () => {
    await Promise.all(sessions.map((sql) => sql.end()))
  })
  const passes = await Promise.all(sessions.map((sql) => keepLogIndexes(sql, systemClock)))
  expect(passes.filter(({ built }) => built > 0)).toHaveLength(1)
  const [sql] = sessions
  expect(sql === undefined ? undefined : await keepLogIndexes(sql, systemClock)).toMatchObject({
    built: 0,
    left: 0,
  })
})
