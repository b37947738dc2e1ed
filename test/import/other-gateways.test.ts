import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { startGateway } from '../support/gateway.ts'
import { runImport } from '../support/run-import.ts'
import { startUpstream } from '../support/upstream.ts'
import { importBed, secretKey } from './import-bed.ts'

const bed = importBed()
const { files } = bed

const countRows = async () => {
  const [row] = await bed.database.sql`SELECT (SELECT count(*) FROM models) + (SELECT count(*) FROM channels)
    + (SELECT count(*) FROM keys) + (SELECT count(*) FROM tenants) + (SELECT count(*) FROM audit_log) AS rows`
  return Number(row?.rows)
}

test('a file that cannot be read gets a reason and exit code 2, and writes nothing', async () => {
  const cases: [string[], RegExp][] = [
    [['new-api', files.write('broken.json', '{"channels": [')], /broken\.json is not valid JSON/],
    [
      ['new-api', files.write('large.json', `{"channels": [${'{"id":1},'.repeat(1_000_000)}3]}`)],
      /expected a map of columns/,
    ],
    [['new-api', files.write('empty.sql', '')], /is empty/],
    [['new-api', files.write('other.sql', 'SELECT 1;')], /none of the tables/],
    [['new-api', files.write('nul.sql', "INSERT INTO channels (a) VALUES ('\0')")], /NUL bytes/],
    [['new-api', files.write('sqlite.db', 'SQLite format 3\0 and no more')], /SQLite file cannot be read/],
    [
      ['new-api', files.write('number.json', '{"users": [{"id": 1, "quota": "many"}]}')],
      /quota: expected a whole number/,
    ],
    [['new-api', join(files.folder, 'absent')], /the file does not exist/],
    [['elsewhere', 'x'], /FORMAT must be one of new-api, litellm, gateway-yaml/],
    [['litellm', files.write('no.yaml', 'a: 1')], /has no model_list/],
  ]
  for (const [args, message] of cases) {
    const run = await runImport([...args, '--yes'], bed.env)
    expect(run, args.join(' ')).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toMatch(message)
  }
  expect(await countRows()).toBe(0)
})

test('LiteLLM becomes a gateway whose master key goes on, by rows and by a gateway.yaml', async () => {
  const upstream = await startUpstream()
  const config = files.write(
    'config.yaml',
    `model_list:
  - model_name: chat
    litellm_params: { model: openai/upstream-chat, api_base: "${upstream.url}", api_key: os.environ/UPSTREAM_KEY }
general_settings: { master_key: sk-the-old-master-key }
`,
  )
  const yaml = join(files.folder, 'made.yaml')
  expect(await runImport(['litellm', config, '--to-yaml', yaml], bed.env)).toMatchObject({ code: 0 })
  expect(statSync(`${yaml}.env`).mode & 0o777).toBe(0o600)
  expect(readFileSync(`${yaml}.env`, 'utf8')).toBe('LITELLM_MASTER_KEY=sk-the-old-master-key\n')
  expect(readFileSync(yaml, 'utf8')).not.toContain('sk-the-old-master-key')
  expect(await countRows()).toBe(0)

  const missing = await runImport(['litellm', config, '--yes'], bed.env)
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('not set: UPSTREAM_KEY') })
  const run = await runImport(['litellm', config, '--yes'], {
    ...bed.env,
    UPSTREAM_KEY: 'upstream-key-of-litellm',
  })
  expect(run).toMatchObject({ code: 0, stderr: expect.stringContaining('Written. Running gateways') })
  const tollgate = await startGateway({
    databaseUrl: bed.env.DATABASE_URL ?? '',
    gatewayYaml: 'models: []',
    env: { SECRET_KEY: bed.env.SECRET_KEY ?? '' },
  })
  const answer = await fetch(`${tollgate.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer sk-the-old-master-key' },
    body: JSON.stringify({ model: 'chat', messages: [{ role: 'user', content: 'hello' }] }),
  })
  expect(answer.status).toBe(200)
  expect(upstream.requests.at(-1)).toMatchObject({
    model: 'upstream-chat',
    headers: expect.objectContaining({ authorization: 'Bearer upstream-key-of-litellm' }),
  })
  await tollgate.stop()
  await upstream.close()
})

const ours = `
models: [{ id: mine, price: { input: "1", output: "2" } }]
channels:
  - { name: mine, protocols: { openai-chat: "https://a.example" }, api_keys: [k-1], models: [mine] }
groups: [{ name: mine }]
tenants: [{ name: mine, balance_usd: "3", keys: [{ name: mine, group: mine, secret: a-secret-of-sixteen-characters }] }]
`

test('gateway.yaml leaves its rows to admins, with the same ids; others may not change its rows', async () => {
  await applyYaml(bed.database, ours, new SecretKeeper(secretKey))
  const before = await bed.database.sql`SELECT id FROM keys WHERE name = 'mine'`
  const dump = files.write(
    'conflict.json',
    JSON.stringify({
      channels: [{ id: 1, type: 1, name: 'mine', key: 'x', models: 'm', group: 'default', status: 1 }],
      users: [{ id: 1, username: 'thief', quota: 1, status: 1 }],
      tokens: [{ id: 1, user_id: 1, name: 'same', key: 'sk-of-other', status: 1, unlimited_quota: true }],
    }),
  )
  const conflict = await runImport(['new-api', dump, '--yes'], bed.env)
  expect(conflict).toMatchObject({ code: 1, stderr: expect.stringContaining('because there are conflicts') })
  expect(conflict.stdout).toMatch(/! conflict mine +the row is managed by gateway\.yaml/)
  expect((await bed.database.sql`SELECT 1 FROM tenants WHERE name = 'thief'`).length).toBe(0)

  const file = files.write('gateway.yaml', ours)
  expect(await runImport(['gateway-yaml', file, '--yes'], bed.env)).toMatchObject({ code: 0 })
  const [row] = await bed.database.sql`SELECT id, managed_by FROM keys WHERE name = 'mine'`
  expect(row).toEqual({ id: before[0]?.id, managed_by: 'admin' })
  const channel = await bed.database.sql`SELECT managed_by FROM channels WHERE name = 'mine'`
  expect(channel[0]).toMatchObject({ managed_by: 'admin' })
  const again = await runImport(['gateway-yaml', file, '--yes'], bed.env)
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to write') })
})

test('a secret that another key has is a conflict, and is left out with --keep-existing', async () => {
  const config = files.write(
    'taken.yaml',
    `model_list: [{ model_name: other, litellm_params: { model: openai/o, api_key: k } }]
general_settings: { master_key: a-secret-of-sixteen-characters }
`,
  )
  await bed.database.sql`DELETE FROM keys WHERE name = 'master'`
  const run = await runImport(['litellm', config, '--yes'], bed.env)
  expect(run).toMatchObject({ code: 1 })
  expect(run.stdout).toContain('has the same secret')
  const kept = await runImport(['litellm', config, '--yes', '--keep-existing'], bed.env)
  expect(kept).toMatchObject({ code: 0 })
  expect((await bed.database.sql`SELECT 1 FROM models WHERE id = 'other'`).length).toBe(1)
  expect((await bed.database.sql`SELECT 1 FROM keys WHERE name = 'master'`).length).toBe(0)
})
