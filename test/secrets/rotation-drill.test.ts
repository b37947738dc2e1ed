import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { readKeeper } from '../../src/secrets/open-masters.ts'
import { amount } from '../support/amount.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { repository } from '../support/former-release.ts'
import { plentifulYaml, secretKey } from '../support/gateway-yaml.ts'
import { startLoad } from '../support/marked-load.ts'
import { seeded } from '../support/random.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'

const nextKey = 'the-next-secret-key-of-32-characters'
const answers = amount('ROTATION_ANSWERS', { test: 60, chaos: 2_000 })

test('SECRET_KEY is rotated while two gateways serve: no request is refused, rows and money are right, the old key opens nothing', async () => {
  const upstream = await startUpstream({ keepBodies: false })
  upstream.script(planByModel)
  const { url, drop } = await freshDatabase()
  const database = openDatabase(url)
  const { sql } = database
  const start = (env: Record<string, string>, dataDir?: string) =>
    startTollgate({
      databaseUrl: url,
      gatewayYaml: plentifulYaml(upstream.url),
      ...(dataDir === undefined ? {} : { dataDir }),
      env: { SHIP_INTERVAL_MS: '20', ADMIT_MS: '60000', ...env },
    })
  const former = { SECRET_KEY: secretKey }
  const gateways = new Map<string, TollgateProcess>()
  onTestFinished(async () => {
    await Promise.all([...gateways.values()].map((each) => each.kill9()))
    await Promise.all([upstream.close(), database.close()])
    await drop()
  })
  for (const name of ['one', 'two']) gateways.set(name, await start(former))
  /** Those to which a balancer sends requests. */
  const serving = new Set(gateways.keys())
  const load = startLoad(seeded(7), () =>
    [...serving].map((name) => ({ name, url: gateways.get(name)?.url ?? '' })),
  )
  const roll = async (env: Record<string, string>) => {
    for (const [name, gateway] of gateways) {
      serving.delete(name)
      const isIdle = () => [...load.calls.values()].every(({ at, ended }) => at !== name || ended > 0)
      await until(isIdle)
      expect(await gateway.stop()).toBe(0)
      gateways.set(name, await start(env, gateway.dataDir))
      serving.add(name)
      await load.more(answers / 3)
    }
  }
  const begun = performance.now()
  await load.more(answers)
  // The steps of docs/reference/secrets.md.
  await roll({ SECRET_KEY: nextKey, SECRET_KEY_PREVIOUS: secretKey })
  expect(await rotate(url)).toMatchObject({ code: 0, said: expect.stringContaining('no longer by') })
  await roll({ SECRET_KEY: nextKey })
  await expect(readKeeper(sql, { secretKey })).rejects.toThrow('wrapped by SECRET_KEY')

  // The first master key is the old SECRET_KEY itself: only a new master key makes that useless.
  const withMaster = await rotate(url, '--new-master')
  expect(withMaster).toMatchObject({
    code: 0,
    said: expect.stringContaining('all processes now seal with it'),
  })
  await load.more(answers)
  const { keyId } = await readKeeper(sql, { secretKey: nextKey })
  expect(await sql`SELECT DISTINCT key_id FROM channel_credentials`).toEqual([{ key_id: keyId }])
  await load.stop()
  const tookMs = performance.now() - begun
  await expect(start(former)).rejects.toThrow('wrapped by SECRET_KEY')

  for (const gateway of gateways.values()) expect(await gateway.stop()).toBe(0)
  const calls = [...load.calls.values()]
  expect(calls.filter(({ isAnswered }) => !isAnswered)).toEqual([])
  const rows = await sql<{ marker: string; outcome: string }[]>`
    SELECT end_user AS marker, outcome FROM requests WHERE endpoint = '/v1/chat/completions' ORDER BY end_user`
  const succeeded = calls.map(({ marker }) => ({ marker, outcome: 'succeeded' }))
  expect([...rows]).toEqual(succeeded.sort((a, b) => (a.marker < b.marker ? -1 : 1)))
  const { findings } = await verifyLedger(sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  console.log(`SECRET_KEY rotated in ${Math.round(tookMs / 1000)} s, with ${calls.length} requests meanwhile`)
}, 600_000)

async function rotate(databaseUrl: string, ...options: string[]) {
  const child = spawn('npm', ['run', '--silent', 'secrets:rotate', '--', ...options], {
    cwd: repository,
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl, SECRET_KEY: nextKey },
  })
  const [said, complaint, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { code: Number(code), said: said + complaint }
}
