import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { prepareDatabase, whenReachable } from '../../src/db/migrate.ts'
import { knownMigrations } from '../../src/db/schema-version.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { callAnew } from '../support/fresh-connection.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { laterMigrations, ownMigrations } from '../support/later-migrations.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'

const known = knownMigrations(ownMigrations).count

test('a release starts on the schema of a later one that keeps what it needs, and changes nothing there', async () => {
  const { url, database } = await aDatabase()
  await prepareDatabase(url, undefined, undefined, laterMigrations('CREATE TABLE expanded ();'))
  await prepareDatabase(url)
  const [counts] = await database.sql`SELECT count(*)::int AS applied FROM drizzle.__drizzle_migrations`
  expect(counts).toEqual({ applied: known + 1 })
})

test('a running process goes on when a later release contracts its schema; a start of it ends with one line and exit code 1', async () => {
  const { url, database } = await aDatabase()
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const start = () =>
    startTollgate({
      databaseUrl: url,
      gatewayYaml: gatewayYaml(upstream.url),
      env: { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20' },
    })
  const running = await start()
  onTestFinished(() => running.kill9())
  await prepareDatabase(
    url,
    undefined,
    undefined,
    laterMigrations(`DROP TABLE gateway_file; UPDATE schema_state SET compatible_from = ${known + 1};`),
  )

  const problem =
    `Tollgate cannot start: the database has the schema of a later release (${known + 1} migrations), which requires a release ` +
    `with at least ${known + 1} migrations. This release has ${known}: start the later release\n`
  await expect(start()).rejects.toThrow(problem)
  const [counts] = await database.sql`SELECT to_regclass('gateway_file') AS "table"`
  expect(counts).toEqual({ table: null })

  const headers = { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ model: 'priced', messages: [{ role: 'user', content: 'x' }] })
  const call = () => callAnew(`${running.url}/v1/chat/completions`, { method: 'POST', headers, body })
  expect((await call()).status).toBe(200)
  const rows = () => database.sql`SELECT 1 FROM requests`
  await expect.poll(rows, { timeout: patienceMs }).toHaveLength(1)
  expect(await running.stop()).toBe(0)
})

test('a process that may not migrate waits for one that may, says so once, and then starts', async () => {
  const { url, database, guest } = await withGuest()
  const folder = laterMigrations('CREATE TABLE expanded ();')
  const lines: string[] = []
  const log = relayLog((_level, _fields, line) => void lines.push(line))
  const waiting = whenReachable(guest, 60_000, log, () =>
    prepareDatabase(guest, undefined, undefined, folder),
  )
  await expect.poll(() => lines, { timeout: patienceMs }).toHaveLength(1)
  await prepareDatabase(url, undefined, undefined, folder)
  await waiting
  expect(lines).toEqual([
    expect.stringContaining(
      `the schema is older than this release (${known} of ${known + 1} migrations), and this user may not change it`,
    ),
  ])
  expect(await database.sql`SELECT to_regclass('expanded') IS NULL AS missing`).toEqual([{ missing: false }])
})

test('it ends when no one migrates in time, with the same line', async () => {
  const { guest } = await withGuest()
  const folder = laterMigrations('CREATE TABLE expanded ();')
  const waiting = whenReachable(guest, 300, silentLog, () =>
    prepareDatabase(guest, undefined, undefined, folder),
  )
  await expect(waiting).rejects.toThrow(/^cannot use the database .*the schema is older than this release/)
})

test('two releases that start at once: the older one finds its schema or a newer one, whichever is first', async () => {
  const { url, database } = await aDatabase()
  const folder = laterMigrations('CREATE TABLE expanded ();')
  await Promise.all(
    Array.from({ length: 6 }, (_, turn) =>
      prepareDatabase(url, () => setImmediate(), undefined, turn % 2 === 0 ? folder : ownMigrations),
    ),
  )
  const [counts] = await database.sql`SELECT count(*)::int AS applied FROM drizzle.__drizzle_migrations`
  expect(counts).toEqual({ applied: known + 1 })
})

async function aDatabase(): Promise<{ url: string; database: Database }> {
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url, { max: 1 })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  return { url, database }
}

/** A database, and the address of a user who may read and write all rows and change no table. */
async function withGuest() {
  const { url, database } = await aDatabase()
  const address = new URL(url)
  const role = `guest_${address.pathname.slice(1)}`
  await database.sql.unsafe(`CREATE ROLE "${role}" LOGIN PASSWORD 'guest'`)
  await database.sql.unsafe(`GRANT USAGE ON SCHEMA public, drizzle TO "${role}"`)
  await database.sql.unsafe(
    `GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public, drizzle TO "${role}"`,
  )
  onTestFinished(async () => {
    await database.sql.unsafe(`DROP OWNED BY "${role}" CASCADE`)
    await database.sql.unsafe(`DROP ROLE "${role}"`)
  })
  address.username = role
  address.password = 'guest'
  return { url, database, guest: address.href }
}
