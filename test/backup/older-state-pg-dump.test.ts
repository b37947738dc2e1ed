import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { administer } from '../support/administer.ts'
import { amount } from '../support/amount.ts'
import { openDatabase } from '../support/database.ts'
import { startDebianPostgres } from '../support/debian-postgres.ts'
import { startLoad } from '../support/marked-load.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { seeded } from '../support/random.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { freeKey, plentifulYaml, secretKey } from '../support/testbed.ts'
import { startTollgate } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'

const answers = amount('RESTORE_ANSWERS', { test: 80, chaos: 3_000 })

/** A Postgres of an operator's own, with `pg_dump` beside it. */
async function aServer() {
  const server = await startDebianPostgres({ fsync: 'off', max_connections: '150' })
  onTestFinished(() => server.stop())
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const urlOf = (name: string) => {
    const url = new URL(server.url)
    url.pathname = `/${name}`
    return url.href
  }
  const administrate = (statement: string) => administer(server.url, statement)
  return { server, folder, urlOf, administrate }
}

test('an older state that is restored under running gateways loses no row that their journals still have, and no money', async () => {
  const { server, folder, urlOf, administrate } = await aServer()
  const upstream = await startUpstream({ keepBodies: false })
  onTestFinished(() => upstream.close())
  upstream.script(planByModel)
  await administrate('create database live')
  const env = {
    ADMIN_TOKEN: adminToken,
    SECRET_KEY: secretKey,
    SHIP_INTERVAL_MS: '20',
    JOURNAL_KEEP_MS: '3600000',
    // So that shipped segments would be deleted without it.
    JOURNAL_SEGMENT_BYTES: '65536',
  }
  const start = () =>
    startTollgate({
      databaseUrl: urlOf('live'),
      gatewayYaml: plentifulYaml(upstream.url),
      env,
    })
  const gateways = [await start(), await start()]
  onTestFinished(async () => void (await Promise.all(gateways.map((each) => each.kill9()))))
  const load = startLoad(seeded(58), () => gateways.map(({ url }, at) => ({ name: `${at}`, url })))
  await load.more(answers)

  const at = join(folder, 'older')
  const made = await runTollgate(['backup', at, '--database-only', '--json'], {
    ...env,
    DATABASE_URL: urlOf('live'),
  })
  expect(made, made.errors).toMatchObject({ code: 0 })
  const { to } = JSON.parse(made.output)
  await load.more(answers)
  const key = await operatorClient(gateways[0]?.url ?? '')('POST', 'keys', { tenant: 'free', name: 'later' })
  expect(key.status, key.text).toBe(201)
  const statusesOf = (secret: string) =>
    Promise.all(
      gateways.map(async ({ url }) => {
        const answer = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })
        await answer.arrayBuffer()
        return answer.status
      }),
    )
  await until(async () => (await statusesOf(String(key.body.secret))).every((status) => status === 200))

  // The runbook's steps: restore beside, look, swap the names.
  const drill = performance.now()
  await administrate('create database older')
  const back = await runTollgate(['restore', at, '--database-only', '--json'], {
    ...env,
    DATABASE_URL: urlOf('older'),
  })
  expect(back, back.errors + back.output).toMatchObject({ code: 0 })
  expect(JSON.parse(back.output)).toMatchObject({ differences: [], facts: to.facts, secret_key: 'opens' })
  await administrate('alter database live allow_connections false')
  const sql = postgres(server.url, { max: 1, onnotice: () => {} })
  await sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'live'`
  await until(async () => (await sql`SELECT FROM pg_stat_activity WHERE datname = 'live'`).length === 0)
  await sql.end()
  await administrate('alter database live rename to lost')
  await administrate('alter database older rename to live')
  const swapMs = performance.now() - drill

  await load.more(answers)
  await load.stop()
  expect(await statusesOf(freeKey)).toEqual([200, 200])
  // The restored state has not heard of it.
  expect(await statusesOf(String(key.body.secret))).toEqual([401, 401])
  expect(await Promise.all(gateways.map((each) => each.stop()))).toEqual([0, 0])

  const database = openDatabase(urlOf('live'))
  onTestFinished(() => database.close())
  const rows = await database.sql<{ marker: string }[]>`
    SELECT end_user AS marker FROM requests WHERE endpoint = '/v1/chat/completions'`
  const markers = new Set(rows.map(({ marker }) => marker))
  expect(markers.size).toBe(rows.length)
  const answered = [...load.calls.values()].filter(({ isAnswered }) => isAnswered)
  expect(answered.filter(({ marker }) => !markers.has(marker))).toEqual([])
  const { findings } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  console.log(
    `${answered.length} answered requests; an older state was restored and swapped in ${Math.round(swapMs)} ms`,
  )
}, 600_000)

test('a dump goes only into a database without tables, and a cluster of pg_basebackup into a folder that is not there', async () => {
  const { folder, urlOf, administrate } = await aServer()
  await administrate('create database own')
  const env = { DATABASE_URL: urlOf('own'), SECRET_KEY: secretKey }
  const none = await runTollgate(['backup', join(folder, 'none')], env)
  expect(none).toMatchObject({ code: 2, errors: expect.stringContaining('has no tables of Tollgate') })
  await prepareDatabase(urlOf('own'))
  const lacking = await runTollgate(['backup', join(folder, 'lacking'), '--with', 'copy'], env)
  expect(lacking).toMatchObject({ code: 2, errors: expect.stringContaining('is not copied file by file') })

  const dump = join(folder, 'dump')
  expect(await runTollgate(['backup', dump, '--database-only'], env)).toMatchObject({ code: 0 })
  const taken = await runTollgate(['restore', dump, '--database-only'], env)
  expect(taken).toMatchObject({ code: 2, errors: expect.stringContaining('the database has tables already') })
  expect(await runTollgate(['restore', dump], { DATA_DIR: join(folder, 'data') })).toMatchObject({
    code: 2,
    errors: expect.stringContaining('set DATABASE_URL to an empty database'),
  })

  const base = join(folder, 'base')
  const cluster = join(folder, 'cluster')
  const whole = await runTollgate(['backup', base, '--database-only', '--with', 'pg_basebackup'], env)
  expect(whole, whole.errors).toMatchObject({ code: 0 })
  const into = (place: string) => runTollgate(['restore', base, '--database-only', '--cluster', place], env)
  expect(await into(folder)).toMatchObject({ code: 2, errors: expect.stringContaining('is there already') })
  expect(await into(cluster)).toMatchObject({ code: 0, output: expect.stringContaining('Start Postgres 15') })
  const copy = await startDebianPostgres({ fsync: 'off' }, cluster)
  onTestFinished(() => copy.stop())
  const database = openDatabase(new URL('/own', copy.url).href)
  onTestFinished(() => database.close())
  expect((await database.sql`SELECT FROM requests`).length).toBe(0)
}, 300_000)
