import { join } from 'node:path'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { openDatabase } from '../support/database.ts'
import { freeKey, plentifulYaml, secretKey } from '../support/gateway-yaml.ts'
import { startLoad } from '../support/marked-load.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { seeded } from '../support/random.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { startTollgate } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'
import { ownServer } from './own-server.ts'

const answers = amount('RESTORE_ANSWERS', { test: 80, chaos: 3_000 })

test('an older state that is restored under running gateways loses no row that their journals still have, and no money', async () => {
  const { server, folder, urlOf, administrate } = await ownServer()
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
