import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { importFolder, runImport } from '../support/run-import.ts'
import { until } from '../support/until.ts'
import { type ScriptedUpstream, startUpstream } from '../support/upstream.ts'

/** A dump of new-api becomes a gateway that its clients cannot tell from the old one. */
const secretKey = 'a-secret-key-for-tests-and-nothing-else'
const limitedKey = `${'Limit'.repeat(9)}Lim`
const files = importFolder()
let upstream: ScriptedUpstream
let database: Database
let drop: () => Promise<void>
let env: Record<string, string>
let dump: string
let tollgate: Gateway

beforeAll(async () => {
  upstream = await startUpstream()
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url)
  env = { DATABASE_URL: fresh.url, SECRET_KEY: secretKey }
  const text = readFileSync('test/fixtures/import/new-api.sql', 'utf8')
  dump = files.write('new-api.sql', text.replace('127.0.0.1:9999', `127.0.0.1:${upstream.port}`))
})
afterAll(async () => {
  await tollgate?.stop()
  await upstream.close()
  await database.close()
  await drop()
  files.remove()
})

const planOf = (text: string) =>
  z
    .object({
      written: z.boolean(),
      counts: z.record(z.string(), z.number()),
      rows: z.array(z.object({ kind: z.string(), name: z.string(), action: z.string(), reason: z.string() })),
      problems: z.array(z.object({ level: z.string(), where: z.string(), what: z.string() })),
    })
    .parse(JSON.parse(text))

const rowsOf = async (table: string) => [...(await database.sql`SELECT * FROM ${database.sql(table)}`)]

test('a plan names every row and what is lost, and writes nothing', async () => {
  const run = await runImport(['new-api', dump, '--json'], env)
  expect(run).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Nothing was written. Add --yes'),
  })
  const plan = planOf(run.stdout)
  expect(plan.written).toBe(false)
  expect(plan.counts).toEqual({ create: 18, change: 0, skip: 0, conflict: 0 })
  expect(plan.problems.filter(({ level }) => level === 'lost').map(({ where }) => where)).toEqual(
    expect.arrayContaining([
      'channel "pictures" (id 3)',
      'table redemptions',
      'token "short" (id 5) of root',
    ]),
  )
  for (const table of ['models', 'channels', 'key_groups', 'tenants', 'keys', 'audit_log']) {
    expect(await rowsOf(table), table).toEqual([])
  }
  const shown = await runImport(['new-api', dump], env)
  expect(shown.stdout).toContain('18 to create, 0 to change')
  expect(shown.stdout).toContain('+ create   root/limited')
  expect(shown.stdout).not.toContain('RootRoot')
})

test('after --yes an old key asks the old upstream by its name there, and its user pays the old price', async () => {
  const run = await runImport(['new-api', dump, '--yes', '--max-output-tokens', '1000'], env)
  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('Written. Running gateways') })
  tollgate = await startGateway({
    databaseUrl: env.DATABASE_URL ?? '',
    gatewayYaml: 'models: []',
    env: { SECRET_KEY: secretKey },
  })
  const answer = await chat('Ann'.repeat(16), 'gpt-old')
  expect(answer.status).toBe(200)
  expect(upstream.requests.at(-1)).toMatchObject({ model: 'gpt-new' })
  expect(upstream.requests.at(-1)?.headers.authorization).toMatch(/^Bearer upstream-key-[ab]$/)
  const id = answer.headers.get('x-request-id')
  const row = await until(async () => (await database.sql`SELECT * FROM requests WHERE id = ${id}`)[0])
  expect(row).toMatchObject({
    channel: 'main',
    requested_model: 'gpt-old',
    price_multiplier: '0.8',
    status: 200,
  })
  // 8 new and 3 cached tokens and an answer of 7, for 2.50, 1.25 and 10 USD per million, times 0.8 of the group.
  expect(row).toMatchObject({ input_tokens: 8, cache_read_tokens: 3, output_tokens: 5, reasoning_tokens: 2 })
  expect(row?.cost_nano).toBe('75000')
  const [account] = await database.sql`
    SELECT balance_nano FROM accounts JOIN tenants USING (id) WHERE name = 'ann'`
  expect(account?.balance_nano).toBe(String(10_000_000 - 75_000))
})

test('limits of the old gateway hold: models, balance, disabled keys', async () => {
  expect((await chat(limitedKey, 'small')).status).toBe(200)
  expect((await chat(limitedKey, 'gpt-old')).status).toBe(403)
  expect((await chat('Off'.repeat(16), 'small')).status).toBe(401)
  expect((await chat('Tab'.repeat(16), 'small')).status).toBe(401)
  expect((await chat('Only'.repeat(12), 'small')).status).toBe(401)
  // A cent does not bear an answer of 100,000 tokens.
  expect((await chat('Ann'.repeat(16), 'gpt-old', { max_tokens: 100_000 })).status).toBe(402)
  const [off] = await database.sql`SELECT disabled_at FROM channels WHERE name LIKE 'claude%'`
  expect(off?.disabled_at).toBeInstanceOf(Date)
})

test('the same dump again changes nothing, also after money was spent', async () => {
  const before = await until(async () => {
    const accounts = await rowsOf('accounts')
    return accounts.every(({ reserved_nano: reserved }) => reserved === '0') ? accounts : undefined
  })
  const run = await runImport(['new-api', dump, '--yes', '--max-output-tokens', '1000', '--json'], env)
  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('There is nothing to write') })
  expect(planOf(run.stdout).counts).toEqual({ create: 0, change: 0, skip: 18, conflict: 0 })
  expect(await rowsOf('accounts')).toEqual(before)
  const audit = await rowsOf('audit_log')
  expect(audit.filter(({ action }) => action !== 'file.apply')).toMatchObject([
    { action: 'import.write', actor_kind: 'system', resource_name: 'new-api.sql' },
  ])
  expect(JSON.stringify(audit)).not.toContain('RootRoot')
})

test('a row that an admin has changed is shown as a change, and stays with --keep-existing', async () => {
  await database.sql`UPDATE channels SET priority = 3 WHERE name = 'main'`
  const args = ['new-api', dump, '--max-output-tokens', '1000', '--json']
  const change = { kind: 'channels', name: 'main', action: 'change', reason: 'priority' }
  expect(planOf((await runImport(args, env)).stdout).rows).toContainEqual(change)
  const kept = planOf((await runImport([...args, '--keep-existing', '--yes'], env)).stdout)
  expect(kept.counts).toEqual({ create: 0, change: 0, skip: 18, conflict: 0 })
  expect((await database.sql`SELECT priority FROM channels WHERE name = 'main'`)[0]).toMatchObject({
    priority: 3,
  })
})

function chat(key: string, model: string, more: object = {}): Promise<Response> {
  return fetch(`${tollgate.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer sk-${key}` },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hello' }], ...more }),
  })
}
