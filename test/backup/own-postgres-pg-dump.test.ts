import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { openDatabase } from '../support/database.ts'
import { startDebianPostgres } from '../support/debian-postgres.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { beginTollgate, runTollgate } from '../support/run-tollgate.ts'
import { until } from '../support/until.ts'
import { ownServer } from './own-server.ts'

/** Backups of a Postgres of an operator's own: what is refused, what fails, and what is interrupted. */

/** A server with the database `own`, which has the tables. */
async function ownDatabase() {
  const bed = await ownServer()
  await bed.administrate('create database own')
  await prepareDatabase(bed.urlOf('own'))
  /** One connection. */
  const open = (name: string) => {
    const database = openDatabase(bed.urlOf(name), { max: 1 })
    onTestFinished(() => database.close())
    return database.sql
  }
  return { ...bed, open, env: { DATABASE_URL: bed.urlOf('own'), SECRET_KEY: secretKey } }
}

test('a dump goes only into a database without tables, and a cluster of pg_basebackup into a folder that is not there', async () => {
  const { folder, urlOf, administrate } = await ownServer()
  await administrate('create database own')
  const env = { DATABASE_URL: urlOf('own'), SECRET_KEY: secretKey }
  const none = await runTollgate(['backup', join(folder, 'none')], env)
  expect(none).toMatchObject({
    code: 2,
    errors: expect.stringContaining('does not contain the Tollgate tables'),
  })
  await prepareDatabase(urlOf('own'))
  const lacking = await runTollgate(['backup', join(folder, 'lacking'), '--with', 'copy'], env)
  expect(lacking).toMatchObject({
    code: 2,
    errors: expect.stringContaining('only the embedded Postgres can be copied file by file'),
  })

  const dump = join(folder, 'dump')
  expect(await runTollgate(['backup', dump, '--database-only'], env)).toMatchObject({ code: 0 })
  const taken = await runTollgate(['restore', dump, '--database-only'], env)
  expect(taken).toMatchObject({
    code: 2,
    errors: expect.stringContaining('the database already contains tables'),
  })
  expect(await runTollgate(['restore', dump], { DATA_DIR: join(folder, 'data') })).toMatchObject({
    code: 2,
    errors: expect.stringContaining('set DATABASE_URL to an empty database'),
  })

  const base = join(folder, 'base')
  const cluster = join(folder, 'cluster')
  const whole = await runTollgate(['backup', base, '--database-only', '--with', 'pg_basebackup'], env)
  expect(whole, whole.errors).toMatchObject({ code: 0 })
  const into = (place: string, ...more: string[]) =>
    runTollgate(['restore', base, '--database-only', '--cluster', place, ...more], env)
  expect(await into(folder)).toMatchObject({ code: 2, errors: expect.stringContaining('already exists') })
  expect(await into(join(folder, 'first'))).toMatchObject({
    code: 0,
    output: expect.stringContaining('start Postgres 15'),
  })
  const json = await into(cluster, '--json')
  expect(JSON.parse(json.output)).toMatchObject({
    cluster,
    postgres: expect.stringMatching(/^15/),
    parts: [],
  })
  const copy = await startDebianPostgres({ fsync: 'off' }, cluster)
  onTestFinished(() => copy.stop())
  const database = openDatabase(new URL('/own', copy.url).href)
  onTestFinished(() => database.close())
  expect((await database.sql`SELECT FROM requests`).length).toBe(0)
}, 300_000)

test('a backup of a server that is down is exit code 3, one into a folder that is there is 2, and neither leaves anything', async () => {
  const { folder, env } = await ownDatabase()
  const away = await runTollgate(['backup', join(folder, 'one'), '--database-only'], {
    ...env,
    DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:9/none',
  })
  expect(away).toMatchObject({
    code: 3,
    output: '',
    errors: expect.stringContaining('nothing was backed up'),
  })
  expect(away.errors).not.toContain('hunter2')
  mkdirSync(join(folder, 'empty'))
  expect(await runTollgate(['backup', join(folder, 'empty'), '--database-only'], env)).toMatchObject({
    code: 2,
    errors: expect.stringMatching(
      /already exists: name a folder that does not exist yet, such as .*\/empty\/\d{4}-/,
    ),
  })
  expect(readdirSync(folder)).toEqual(['empty'])
})

test('a backup has no file that another user may read', async () => {
  const { folder, env } = await ownDatabase()
  const made = await runTollgate(['backup', join(folder, 'dump'), '--database-only'], env)
  expect(made, made.errors).toMatchObject({ code: 0 })
  for (const name of ['', ...readdirSync(join(folder, 'dump'))])
    expect(statSync(join(folder, 'dump', name)).mode & 0o077, name).toBe(0)
})

test('a dump of a database with an extension of a superuser goes into a database of a plain user', async () => {
  const { folder, urlOf, administrate, open, env } = await ownDatabase()
  await administrate('create extension pg_stat_statements', 'own')
  await administrate("create role plain login password 'plain'")
  await administrate('create database theirs owner plain')
  const dump = join(folder, 'dump')
  expect(await runTollgate(['backup', dump, '--database-only'], env)).toMatchObject({ code: 0 })
  const theirs = new URL(urlOf('theirs'))
  theirs.username = theirs.password = 'plain'
  const back = await runTollgate(['restore', dump, '--database-only'], { ...env, DATABASE_URL: theirs.href })
  expect(back, back.errors + back.output).toMatchObject({ code: 0 })
  expect(await open('theirs')`SELECT tableowner FROM pg_tables WHERE tablename = 'requests'`).toEqual([
    { tableowner: 'plain' },
  ])
})

test('pg_basebackup of a cluster with tablespaces is refused, because it would leave them out', async () => {
  const { server, folder, administrate, env } = await ownDatabase()
  const place = join(server.cluster, '..', 'elsewhere')
  mkdirSync(place)
  const { uid, gid } = statSync(server.cluster)
  chownSync(place, uid, gid)
  await administrate(`create tablespace elsewhere location '${place}'`)
  const base = join(folder, 'base')
  const run = await runTollgate(['backup', base, '--database-only', '--with', 'pg_basebackup'], env)
  expect(run).toMatchObject({ code: 2, errors: expect.stringContaining('tablespaces (elsewhere)') })
  expect(readdirSync(folder)).toEqual([])
})

test('a backup of an older release is restored, and says what is to be done before the ledger is verified', async () => {
  const { folder, urlOf, administrate, open, env } = await ownDatabase()
  await open(
    'own',
  )`DELETE FROM drizzle.__drizzle_migrations WHERE created_at = (SELECT max(created_at) FROM drizzle.__drizzle_migrations)`
  const dump = join(folder, 'dump')
  expect(await runTollgate(['backup', dump, '--database-only'], env)).toMatchObject({ code: 0 })
  await administrate('create database older')
  const back = await runTollgate(['restore', dump, '--database-only'], {
    ...env,
    DATABASE_URL: urlOf('older'),
  })
  expect(back).toMatchObject({
    code: 1,
    output: expect.stringContaining('Run tollgate migrate or start a gateway'),
  })
  expect(back.output).toMatch(/^Restored in /)
})

describe('SIGTERM', () => {
  test('ends a backup and its pg_dump, and leaves no draft', async () => {
    const { folder, open, env } = await ownDatabase()
    const lock = open('own')
    await lock`BEGIN`
    // pg_dump waits for it, and nothing before pg_dump does.
    await lock`LOCK TABLE models IN ACCESS EXCLUSIVE MODE`
    const watch = open('own')
    const running = beginTollgate(['backup', join(folder, 'dump'), '--database-only'], env)
    await until(
      async () => (await watch`SELECT FROM pg_stat_activity WHERE application_name = 'pg_dump'`).length > 0,
    )
    expect(programsAt(folder)).toHaveLength(1)
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(143)
    expect(readdirSync(folder)).toEqual([])
    expect(programsAt(folder)).toEqual([])
    await lock`ROLLBACK`
  })

  test('ends a restore and its pg_restore: the database stays empty, and so does DATA_DIR', async () => {
    const { folder, urlOf, administrate, open, env } = await ownDatabase()
    const dump = join(folder, 'dump')
    expect(await runTollgate(['backup', dump, '--database-only'], env)).toMatchObject({ code: 0 })
    await administrate('create database target')
    // Each CREATE of the restore waits for us.
    await administrate('create schema held', 'target')
    await administrate(
      "create function held.wait() returns event_trigger language plpgsql as 'begin perform pg_advisory_xact_lock_shared(7); end'",
      'target',
    )
    await administrate(
      'create event trigger held on ddl_command_start execute function held.wait()',
      'target',
    )
    const holder = open('target')
    await holder`SELECT pg_advisory_lock(7)`
    const waiting = () =>
      holder`SELECT FROM pg_stat_activity WHERE application_name = 'pg_restore' AND wait_event_type = 'Lock'`
    const dataDir = join(folder, 'data')
    const running = beginTollgate(['restore', dump], {
      ...env,
      DATABASE_URL: urlOf('target'),
      DATA_DIR: dataDir,
    })
    await until(async () => (await waiting()).length > 0)
    expect(existsSync(dataDir)).toBe(true)
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(143)
    expect(readdirSync(dataDir)).toEqual([])
    expect(programsAt(folder)).toEqual([])
    await holder`SELECT pg_advisory_unlock(7)`
    await until(
      async () =>
        (await holder`SELECT FROM pg_stat_activity WHERE application_name = 'pg_restore'`).length === 0,
    )
    const left = await holder`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`
    expect(left.map(({ tablename }) => tablename)).toEqual([])
  })
})

/** Programs of Postgres that work on a backup below this folder. */
function programsAt(folder: string): string[] {
  const commandLines = readdirSync('/proc').flatMap((pid) => {
    try {
      return /^\d+$/.test(pid) ? [readFileSync(`/proc/${pid}/cmdline`, 'utf8')] : []
    } catch {
      return []
    }
  })
  return commandLines.filter((line) => /pg_(dump|restore)\0/.test(line) && line.includes(folder))
}
