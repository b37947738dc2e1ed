import { createServer } from 'node:net'
import { expect, inject, onTestFinished, test } from 'vitest'
import { prepareDatabase, whenReachable } from '../../src/db/migrate.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { emptyDatabase, openDatabase } from '../support/database.ts'

test('eight processes may start at once on an empty database: each finds it ready, and one migrates at a time', async () => {
  const fresh = await emptyDatabase()
  onTestFinished(fresh.drop)
  let working = 0
  let most = 0
  const applied = Array.from({ length: 8 }, () =>
    prepareDatabase(fresh.url, async ({ sql }) => {
      working += 1
      most = Math.max(most, working)
      const [row] = await sql`select catalog from revision`
      expect(row).toBeDefined()
      working -= 1
    }),
  )
  await Promise.all(applied)
  expect(most).toBe(1)

  const { sql, close } = openDatabase(fresh.url, { max: 1 })
  onTestFinished(close)
  const [counts] = await sql`
    select (select count(*)::int from drizzle.__drizzle_migrations) > 0 as migrated,
      (select count(*)::int from pg_inherits where inhparent = 'requests'::regclass) as partitions`
  expect(counts).toEqual({ migrated: true, partitions: 3 })
})

test('a failing step is reported and leaves no lock behind', async () => {
  const fresh = await emptyDatabase()
  onTestFinished(fresh.drop)
  const step = async () => {
    throw new Error('gateway.yaml: no such model')
  }
  await expect(prepareDatabase(fresh.url, step)).rejects.toThrow('gateway.yaml: no such model')
  await prepareDatabase(fresh.url)
})

test('waiting ends at once with a wrong password, and never shows it', async () => {
  const url = new URL(inject('postgres').url)
  url.password = 'hunter2-wrong'
  const waiting = whenReachable(url.href, 60_000, silentLog, async () => {})
  await expect(waiting).rejects.toThrow(/password authentication failed/)
  await expect(waiting).rejects.not.toThrow(/hunter2/)
})

test('waiting ends at once when the server does not have the database', async () => {
  const url = new URL(inject('postgres').url)
  url.pathname = '/no_such_database'
  await expect(whenReachable(url.href, 60_000, silentLog, async () => {})).rejects.toThrow(
    `cannot use the database "no_such_database" on ${url.hostname}:${url.port}`,
  )
})

test('waiting ends after its limit with an error that names the address without an answer', async () => {
  const lines: string[] = []
  const log = relayLog((_level, _fields, line) => void lines.push(line))
  const waiting = whenReachable('postgres://me:hunter2@127.0.0.1:9/tollgate', 600, log, async () => {})
  await expect(waiting).rejects.toThrow(
    'cannot use the database "tollgate" on 127.0.0.1:9 as me: connect ECONNREFUSED 127.0.0.1:9',
  )
  expect(lines).toHaveLength(1)
})

test('a server that accepts connections and sends nothing does not extend the wait', async () => {
  const mute = createServer(() => {})
  await new Promise<void>((done) => mute.listen(0, '127.0.0.1', () => done()))
  onTestFinished(() => void mute.close())
  const address = mute.address()
  const port = typeof address === 'object' ? address?.port : 0
  await expect(
    whenReachable(`postgres://me@127.0.0.1:${port}/tollgate`, 100, silentLog, async () => {}),
  ).rejects.toThrow('CONNECT_TIMEOUT')
})

test('a start that runs out of connections half-way begins anew when there are more', async () => {
  const fresh = await emptyDatabase()
  const { sql, close } = openDatabase(fresh.url, { max: 1 })
  const url = new URL(fresh.url)
  const [name, role] = [url.pathname.slice(1), `few_${url.pathname.slice(1)}`]
  await sql.unsafe(`CREATE ROLE "${role}" LOGIN PASSWORD 'few' CONNECTION LIMIT 1`)
  await sql.unsafe(`ALTER DATABASE "${name}" OWNER TO "${role}"`)
  onTestFinished(async () => {
    await sql.unsafe(`ALTER DATABASE "${name}" OWNER TO CURRENT_USER`)
    await sql.unsafe(`DROP OWNED BY "${role}" CASCADE`)
    await sql.unsafe(`DROP ROLE "${role}"`)
    await close()
    await fresh.drop()
  })
  url.username = role
  url.password = 'few'
  const said: string[] = []
  const log = relayLog((_level, _fields, line) => {
    said.push(line)
    void sql.unsafe(`ALTER ROLE "${role}" CONNECTION LIMIT 10`).execute()
  })
  // Needs a second connection beside the one that has the lock.
  const prepare = () => prepareDatabase(url.href, async ({ sql }) => void (await sql`select 1`))
  await whenReachable(url.href, 30_000, log, prepare)
  expect(said).toEqual([expect.stringContaining('too many connections for role')])
})
