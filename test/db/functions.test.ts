import { createHash } from 'node:crypto'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { type FunctionFolder, functionsVersion, readFunctions } from '../../src/db/apply-functions.ts'
import { clientSettings, openConnections } from '../../src/db/connections.ts'
import { drizzle, migrate } from '../../src/db/drizzle.cjs'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { emptyDatabase, freshDatabase } from '../support/database.ts'

const root = resolve(import.meta.dirname, '../..')

test("every file holds one function with the file's name, and every function of a database has a file", async () => {
  const files = readFunctions()
  for (const { name, text } of files) {
    const created = [...text.matchAll(/^CREATE .*?FUNCTION (\w+)/gm)].map((found) => found[1])
    expect(created, `${name}.sql`).toEqual([name])
  }
  const { sql } = await aDatabase()
  const functions = await sql<{ name: string }[]>`
    SELECT proname AS name FROM pg_proc WHERE pronamespace = current_schema()::regnamespace ORDER BY 1`
  expect(functions.map(({ name }) => name)).toEqual(files.map(({ name }) => name))
})

test('the version rises with every change: test/fixtures/functions.json has the hash of each', () => {
  const hashes: Record<string, string> = JSON.parse(
    readFileSync(join(root, 'test/fixtures/functions.json'), 'utf8'),
  )
  const hash = createHash('sha256')
  for (const file of readFunctions()) hash.update(file.hash)
  // A released version keeps its hash: add a new one, and raise functionsVersion in src/db/apply-functions.ts.
  expect(hashes[functionsVersion]).toBe(hash.digest('hex'))
  expect(Math.max(...Object.keys(hashes).map(Number))).toBe(functionsVersion)
})

test('a database that migrations alone have made gets the functions of a new one', async () => {
  const fresh = await aDatabase()
  const upgraded = await aDatabase(emptyDatabase)
  await migrateOnly(upgraded.url)
  const { sql } = upgraded
  expect(await definitions(sql)).not.toEqual(await definitions(fresh.sql))
  await prepareDatabase(upgraded.url)
  expect(await definitions(sql)).toEqual(await definitions(fresh.sql))
})

test('a changed file is applied at the next start, and only that one', async () => {
  const { url, sql } = await aDatabase()
  const before = await rowsOf(sql)
  await prepareDatabase(url)
  expect(await rowsOf(sql)).toEqual(before)
  await prepareDatabase(url, undefined, changed(functionsVersion))
  expect(await turnOf(sql)).toBe(-7)
  const after = await rowsOf(sql)
  expect(after.filter(({ xmin }, index) => xmin !== before[index]?.xmin)).toMatchObject([
    { name: 'take_image_turn' },
  ])
})

test('an old process that starts after a new one does not change the functions', async () => {
  const { url, sql } = await aDatabase()
  await prepareDatabase(url, undefined, changed(functionsVersion + 1))
  await prepareDatabase(url)
  expect(await turnOf(sql)).toBe(-7)
  // The next version restores our functions.
  await prepareDatabase(url, undefined, own(functionsVersion + 2))
  expect(await turnOf(sql)).toBe(-1)
})

test('several new processes that start at once apply a change once, and old ones among them do not undo it', async () => {
  const { url, sql } = await aDatabase()
  const newer = changed(functionsVersion + 1)
  await Promise.all(
    Array.from({ length: 6 }, (_, turn) =>
      prepareDatabase(url, undefined, turn % 2 === 0 ? newer : undefined),
    ),
  )
  expect(await turnOf(sql)).toBe(-7)
})

test('if one file is wrong, no file is applied', async () => {
  const { url, sql } = await aDatabase()
  const folder = changed(functionsVersion + 1)
  writeFileSync(join(folder.path, 'uuid_moment.sql'), 'CREATE OR REPLACE FUNCTION uuid_moment(nothing')
  await expect(prepareDatabase(url, undefined, folder)).rejects.toThrow('syntax error')
  expect(await turnOf(sql)).toBe(-1)
})

test('Postgres checks the body of every function, and Postgres 15 refuses what it does not know', async () => {
  const { sql } = await aDatabase()
  await sql.begin(async (tx) => {
    await tx`SET LOCAL check_function_bodies = on`
    for (const { text } of readFunctions()) await tx.unsafe(text)
  })
})

async function aDatabase(make = freshDatabase) {
  const { url, drop } = await make()
  const { sql, end } = openConnections(url, { max: 2, connectSeconds: 30 })
  onTestFinished(async () => {
    await end()
    await drop()
  })
  return { url, sql }
}

/** Leaves a database without the bodies of functions/. */
async function migrateOnly(url: string): Promise<void> {
  const session = postgres(url, clientSettings({ max: 1 }))
  await session`SET check_function_bodies = off`
  await migrate(drizzle({ client: session }), { migrationsFolder: join(root, 'migrations') })
  await session.end()
}

const own = (version: number): FunctionFolder => ({ path: join(root, 'src/db/functions'), version })

/** Our functions, except take_image_turn, which here returns -7. */
function changed(version: number): FunctionFolder {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-functions-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  cpSync(own(version).path, path, { recursive: true })
  const file = join(path, 'take_image_turn.sql')
  const text = readFileSync(file, 'utf8')
  expect(text).toContain('RETURN -1')
  writeFileSync(file, text.replace('RETURN -1', 'RETURN -7'))
  return { path, version }
}

/** The answer of take_image_turn for an unknown job. */
async function turnOf(sql: postgres.Sql): Promise<number | undefined> {
  const [row] = await sql<{ turn: number }[]>`
    SELECT take_image_turn(gen_random_uuid(), 1, gen_random_uuid(), NULL, NULL) AS turn`
  return row?.turn
}

const definitions = (sql: postgres.Sql) => sql`
  SELECT proname AS name, pg_get_functiondef(oid) AS definition, obj_description(oid, 'pg_proc') AS note
  FROM pg_proc WHERE pronamespace = current_schema()::regnamespace ORDER BY 1`

/** A replaced function has a new xmin. */
const rowsOf = (sql: postgres.Sql) => sql<{ name: string; xmin: string }[]>`
  SELECT proname AS name, xmin::text FROM pg_proc WHERE pronamespace = current_schema()::regnamespace ORDER BY 1`
