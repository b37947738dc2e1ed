import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { embeddedUrl } from '../../src/db/embedded.ts'
import { findPostmaster } from '../../src/db/postmaster.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { amount } from '../support/amount.ts'
import { openDatabase } from '../support/database.ts'
import { clusterOf } from '../support/embedded.ts'
import { repository } from '../support/former-release.ts'
import { freeKey, plentifulYaml } from '../support/gateway-yaml.ts'
import { startLoad } from '../support/marked-load.ts'
import { adminToken, operatorClient } from '../support/operator-client.ts'
import { seeded } from '../support/random.ts'
import { runTollgate } from '../support/run-tollgate.ts'
import { startTollgate } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'
import { loggedRows } from './logged-rows.ts'

const answers = amount('BACKUP_ANSWERS', { test: 80, chaos: 5_000 })

/** A folder that the user of Postgres can enter. It goes with the test, and the database with it. */
function home(): string {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-backup-'))
  chmodSync(path, 0o711)
  onTestFinished(async () => {
    for (const name of ['data', 'restored']) {
      const cluster = clusterOf(join(path, name))
      if (cluster === '') continue
      await until(() => findPostmaster(cluster) === undefined)
      if (!cluster.startsWith(path)) rmSync(dirname(cluster), { recursive: true, force: true })
    }
    rmSync(path, { recursive: true, force: true })
  })
  return path
}

test('a backup that is made under load, of a deployment that is then destroyed, has its rows, money and keys of that moment', async () => {
  const upstream = await startUpstream({ keepBodies: false })
  onTestFinished(() => upstream.close())
  upstream.script(planByModel)
  const path = home()
  const [dataDir, restored, folder] = ['data', 'restored', 'backup'].map((name) => join(path, name)) as [
    string,
    string,
    string,
  ]
  for (const made of [dataDir, restored]) mkdirSync(made, { mode: 0o711 })
  const start = async (at: string) => {
    const tollgate = await startTollgate({
      dataDir: at,
      gatewayYaml: plentifulYaml(upstream.url),
      // Its own key is in DATA_DIR, and is a part of the backup.
      env: { SECRET_KEY: '', ADMIN_TOKEN: adminToken, SHIP_INTERVAL_MS: '500', INSTANCE_DEAD_MS: '3000' },
    })
    onTestFinished(() => tollgate.kill9())
    return tollgate
  }
  const tollgate = await start(dataDir)
  const admin = operatorClient(tollgate.url)
  const makeKey = async (name: string) => {
    const made = await admin('POST', 'keys', { tenant: 'free', name })
    expect(made.status, made.text).toBe(201)
    return String(made.body.secret)
  }
  const before = await makeKey('made-before')
  const load = startLoad(seeded(57), () => [{ name: 'gateway', url: tollgate.url }])
  await load.more(answers)

  // One that is killed is not a backup, and is in no one's way.
  const drafts = () => readdirSync(path).filter((name) => name.startsWith('.backup.'))
  const killed = spawn(process.execPath, [join(repository, 'tollgate.cjs'), 'backup', folder], {
    env: { ...process.env, DATA_DIR: dataDir },
  })
  await until(() => drafts().length > 0)
  killed.kill('SIGKILL')
  expect(existsSync(folder)).toBe(false)
  const begun = Date.now()
  const made = await runTollgate(['backup', folder], { DATA_DIR: dataDir })
  const ended = Date.now()
  expect(made, made.errors).toMatchObject({
    code: 0,
    output: expect.stringContaining('with copy from Postgres 18'),
  })
  const after = await makeKey('made-after')
  await load.more(answers / 4)
  await load.stop()
  const calls = [...load.calls.values()]
  // All rows of the deployment, before it is destroyed.
  expect(await tollgate.stop()).toBe(0)
  const again = await start(dataDir)
  const original = await loggedRows(embeddedUrl(dataDir) ?? '')
  await again.stop()
  const cluster = clusterOf(dataDir)
  rmSync(dataDir, { recursive: true })
  rmSync(cluster, { recursive: true, force: true })

  const drill = performance.now()
  const back = await runTollgate(['restore', folder, '--json'], { DATA_DIR: restored })
  expect(back, back.errors + back.output).toMatchObject({ code: 0 })
  expect(JSON.parse(back.output)).toMatchObject({ differences: [], secret_key: 'opens' })
  const second = await start(restored)
  const tookMs = performance.now() - drill
  const status = async (key: string) => {
    const answer = await fetch(`${second.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    await answer.arrayBuffer()
    return answer.status
  }
  expect([await status(freeKey), await status(before), await status(after)]).toEqual([200, 200, 401])
  const url = embeddedUrl(restored) ?? ''
  // Rows that Postgres did not have yet stood in the journal, which is adopted.
  const expected = calls.filter(({ isAnswered, ended }) => isAnswered && ended < begun)
  await until(async () => {
    const rows = await loggedRows(url)
    return expected.every(({ marker }) => rows.has(marker))
  })
  const rows = await loggedRows(url)
  for (const [marker, row] of rows) {
    if (row.outcome === 'orphaned') continue
    expect(row, marker).toEqual(original.get(marker))
  }
  const late = calls.filter(({ begun }) => begun > ended)
  expect(late.length).toBeGreaterThan(0)
  expect(late.filter(({ marker }) => rows.has(marker))).toEqual([])
  const database = openDatabase(url)
  const { findings } = await verifyLedger(database.sql)
  await database.close()
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  expect(await second.stop()).toBe(0)
  console.log(
    `backup of ${rows.size} rows under load in ${ended - begun} ms; destroyed; restored, verified and serving in ${Math.round(tookMs)} ms`,
  )
}, 600_000)
