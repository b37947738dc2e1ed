import { expect, onTestFinished, test } from 'vitest'
import { prepareDatabase, whenReachable } from '../../src/db/migrate.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { amount } from '../support/amount.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { freeKey, gatewayYaml, paidKey, plentifulYaml, secretKey } from '../support/gateway-yaml.ts'
import { startLoad } from '../support/marked-load.ts'
import { type PgBouncerOptions, startPgBouncer } from '../support/pgbouncer.ts'
import { seeded } from '../support/random.ts'
import { startTollgate } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startUpstream } from '../support/upstream.ts'
import { planByModel } from '../support/upstream-plans.ts'

const answers = amount('POOLER_ANSWERS', { test: 150, chaos: 3_000 })

async function aPooler(options: PgBouncerOptions) {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const pooler = await startPgBouncer(url, options)
  onTestFinished(() => pooler.stop())
  return { url, pooler }
}

const ignored = [
  'ignore_startup_parameters = plan_cache_mode, statement_timeout, max_parallel_workers_per_gather, jit',
]

test('a DATABASE_URL that leads to a pooler in transaction mode is refused in plain words, whatever it ignores', async () => {
  for (const settings of [[], ignored]) {
    const { pooler } = await aPooler({ mode: 'transaction', settings })
    const started = whenReachable(pooler.url, 60_000, silentLog, async () => 'started')
    await expect(started).rejects.toThrow(
      /it is a (PgBouncer|pooler).*set DATABASE_URL to Postgres itself, and DATABASE_POOLER_URL to the pooler$/,
    )
  }
})

test('a pooler in session mode that lets settings pass serves as DATABASE_URL', async () => {
  const { pooler } = await aPooler({ mode: 'session', settings: ignored })
  const prepare = () => prepareDatabase(pooler.url)
  await expect(whenReachable(pooler.url, 60_000, silentLog, prepare)).resolves.toBeUndefined()
})

test('a start waits for its pooler, and refuses one that leads elsewhere', async () => {
  const upstream = await startUpstream()
  onTestFinished(() => upstream.close())
  const { url, pooler } = await aPooler({ mode: 'transaction' })
  const other = await aPooler({ mode: 'transaction' })
  const start = (poolerUrl: string, waitMs: number) =>
    startTollgate({
      databaseUrl: url,
      gatewayYaml: gatewayYaml(upstream.url),
      env: { DATABASE_POOLER_URL: poolerUrl, DATABASE_WAIT_MS: String(waitMs), SECRET_KEY: secretKey },
    })
  await expect(start(other.pooler.url, 1_000)).rejects.toThrow(
    /DATABASE_POOLER_URL \(127\.0\.0\.1:\d+\) leads to a different database than DATABASE_URL/,
  )
  await pooler.kill9()
  const starting = start(pooler.url, 60_000)
  await pooler.restart()
  const tollgate = await starting
  expect(await tollgate.stop()).toBe(0)
})

test('two gateways behind PgBouncer in transaction mode keep rows, money and revisions right, also when it is killed under load', async () => {
  const upstream = await startUpstream({ keepBodies: false })
  onTestFinished(() => upstream.close())
  upstream.script(planByModel)
  const { url, pooler } = await aPooler({ mode: 'transaction', size: 4 })
  const database = openDatabase(url)
  onTestFinished(() => database.close())
  const { sql } = database
  const start = () =>
    startTollgate({
      databaseUrl: url,
      gatewayYaml: plentifulYaml(upstream.url),
      env: { DATABASE_POOLER_URL: pooler.url, SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20' },
    })
  const gateways = [await start(), await start()]
  onTestFinished(async () => void (await Promise.all(gateways.map((each) => each.kill9()))))
  const before = await pooler.transactions()
  const load = startLoad(seeded(56), () => gateways.map(({ url }, at) => ({ name: `${at}`, url })))
  await load.more(answers)
  expect(await pooler.transactions()).toBeGreaterThan(before + answers / 10)
  // Postgres sees the pooler's own connections instead of those for money and keys.
  const [seen] = await sql<{ pooled: number }[]>`
    SELECT count(*)::int AS pooled FROM pg_stat_activity
    WHERE datname = current_database() AND application_name ~ '^tollgate (money|keys|answers|jobs)$'`
  expect(seen?.pooled).toBeLessThanOrEqual(4)
  // Such a statement would stay with a connection of the pooler, and be unknown to the others.
  expect(await pooler.ask('SELECT name FROM pg_prepared_statements')).toEqual([])
  await pooler.kill9()
  // Keys without a limit on money need no Postgres.
  await load.more(answers / 10)
  await pooler.restart()
  await load.more(answers)

  const statusesOf = (key: string) =>
    Promise.all(
      gateways.map(async (gateway) => {
        const headers = { authorization: `Bearer ${key}` }
        const answer = await fetch(`${gateway.url}/v1/models`, { headers })
        await answer.arrayBuffer()
        return answer.status
      }),
    )
  await load.stop()
  expect(await statusesOf(paidKey)).toEqual([200, 200])
  await sql`UPDATE keys SET disabled_at = now() WHERE name = 'paid'`
  // The promise is a second; a busy machine may need a few.
  await until(async () => (await statusesOf(paidKey)).every((status) => status === 401), 6_000)
  expect(await statusesOf(freeKey)).toEqual([200, 200])

  expect(await Promise.all(gateways.map((each) => each.stop()))).toEqual([0, 0])
  const rows = await sql<{ marker: string; outcome: string }[]>`
    SELECT end_user AS marker, outcome FROM requests WHERE endpoint = '/v1/chat/completions'`
  const outcomes = new Map(rows.map(({ marker, outcome }) => [marker, outcome]))
  expect(outcomes.size).toBe(rows.length)
  for (const { marker, isAnswered } of load.calls.values())
    if (isAnswered) expect(outcomes.get(marker), marker).toBe('succeeded')
  const { findings } = await verifyLedger(sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  const [charged] = await sql<{ count: number }[]>`SELECT count(*)::int FROM entries WHERE kind = 'charge'`
  expect(charged?.count).toBeGreaterThan(0)
  const [held] = await sql<{ count: number }[]>`SELECT count(*)::int FROM reservations`
  expect(held?.count).toBe(0)
}, 300_000)
