import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { startDebianPostgres } from '../support/debian-postgres.ts'
import { freeKey, plentifulYaml, secretKey } from '../support/gateway-yaml.ts'
import { startLoad } from '../support/marked-load.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { seeded } from '../support/random.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { startTollgate } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'
import { loggedRows } from './logged-rows.ts'
import { ownServer } from './own-server.ts'

const answers = amount('BASEBACKUP_ANSWERS', { test: 80, chaos: 3_000 })

test('a backup by pg_basebackup that is made under load has the rows, money and keys of its moment, on another server', async () => {
  const { folder, urlOf, administrate } = await ownServer()
  const upstream = await startUpstream({ keepBodies: false })
  onTestFinished(() => upstream.close())
  upstream.script(planByModel)
  await administrate('create database live')
  const env = {
    ADMIN_TOKEN: adminToken,
    SECRET_KEY: secretKey,
    SHIP_INTERVAL_MS: '500',
    INSTANCE_DEAD_MS: '3000',
  }
  const start = async (databaseUrl: string, dataDir: string) => {
    const tollgate = await startTollgate({
      ...{ databaseUrl, dataDir, env },
      gatewayYaml: plentifulYaml(upstream.url),
    })
    onTestFinished(() => tollgate.kill9())
    return tollgate
  }
  const dataDir = join(folder, 'data')
  const tollgate = await start(urlOf('live'), dataDir)
  const makeKey = async (name: string) => {
    const made = await operatorClient(tollgate.url)('POST', 'keys', { tenant: 'free', name })
    expect(made.status, made.text).toBe(201)
    return String(made.body.secret)
  }
  const before = await makeKey('made-before')
  const load = startLoad(seeded(59), () => [{ name: 'gateway', url: tollgate.url }])
  await load.more(answers)

  const base = join(folder, 'base')
  const begun = Date.now()
  const made = await runTollgate(['backup', base, '--with', 'pg_basebackup', '--json'], {
    ...{ DATABASE_URL: urlOf('live'), SECRET_KEY: secretKey, DATA_DIR: dataDir },
  })
  const ended = Date.now()
  expect(made, made.errors).toMatchObject({ code: 0 })
  expect(JSON.parse(made.output)).toMatchObject({
    method: 'pg_basebackup',
    parts: ['journal', 'images', 'files'],
  })
  const after = await makeKey('made-after')
  await load.more(answers / 4)
  await load.stop()
  expect(await tollgate.stop()).toBe(0)
  const original = await loggedRows(urlOf('live'))
  await administrate('drop database live with (force)')
  rmSync(dataDir, { recursive: true })

  const drill = performance.now()
  const [cluster, restored] = [join(folder, 'cluster'), join(folder, 'restored')]
  const back = await runTollgate(['restore', base, '--cluster', cluster, '--json'], { DATA_DIR: restored })
  expect(back, back.errors).toMatchObject({ code: 0 })
  const copy = await startDebianPostgres({ fsync: 'off' }, cluster)
  onTestFinished(() => copy.stop())
  const url = new URL('/live', copy.url).href
  const second = await start(url, restored)
  const tookMs = performance.now() - drill
  const status = async (key: string) => {
    const answer = await fetch(`${second.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    await answer.arrayBuffer()
    return answer.status
  }
  expect([await status(freeKey), await status(before), await status(after)]).toEqual([200, 200, 401])
  const calls = [...load.calls.values()]
  const expected = calls.filter(({ isAnswered, ended: at }) => isAnswered && at < begun)
  expect(expected.length).toBeGreaterThanOrEqual(answers)
  // Rows that Postgres did not have yet stood in the journal, which is adopted.
  await until(async () => {
    const rows = await loggedRows(url)
    return expected.every(({ marker }) => rows.has(marker))
  })
  const rows = await loggedRows(url)
  for (const [marker, row] of rows) {
    if (row.outcome !== 'orphaned') expect(row, marker).toEqual(original.get(marker))
  }
  const late = calls.filter((call) => call.begun > ended)
  expect(late.length).toBeGreaterThan(0)
  expect(late.filter(({ marker }) => rows.has(marker))).toEqual([])
  const verify = await runTollgate(['ledger', 'verify'], { DATABASE_URL: url, SECRET_KEY: secretKey })
  expect(verify, verify.output).toMatchObject({ code: 0 })
  expect(await second.stop()).toBe(0)
  console.log(
    `pg_basebackup of ${rows.size} rows under load in ${ended - begun} ms; destroyed; restored and serving in ${Math.round(tookMs)} ms`,
  )
}, 600_000)
