import { expect, test } from 'vitest'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { applyYaml } from '../support/apply-yaml.ts'
import { runImport } from '../support/run-import.ts'
import { importBed, secretKey } from './import-bed.ts'

/** An import into a database whose keys and prices admins, or a gateway.yaml, look after. */

const bed = importBed()
const { files } = bed

const config = () =>
  files.write(
    'config.yaml',
    'model_list: [{ model_name: gpt-4o, litellm_params: { model: openai/gpt-4o, api_key: k } }]\n',
  )
const keys = () =>
  files.write(
    'keys.json',
    JSON.stringify({
      keys: ['a', 'b', 'c'].map((alias) => ({
        token: alias.repeat(64),
        key_alias: alias,
        team_alias: 'shop',
      })),
    }),
  )
const importAll = (...more: string[]) => runImport(['litellm', config(), '--keys', keys(), ...more], bed.env)
const library = async () => [
  ...(await bed.database.sql`SELECT version, renew_url, managed_by FROM price_library`),
  ...(await bed.database
    .sql`SELECT provider, model, price_id FROM library_prices ORDER BY provider, ordinal`),
]

test("an import without prices leaves the library's prices of gateway.yaml, and its channels have them too", async () => {
  await applyYaml(
    bed.database,
    `prices: { library: true, renew: daily }
models: [{ id: claude }]
channels: [{ name: theirs, vendor: anthropic, protocols: { anthropic-messages: "https://a.example" }, api_keys: [k], models: { claude: claude-haiku-4-5 } }]`,
    new SecretKeeper(secretKey),
  )
  const before = await library()
  expect(before.length).toBeGreaterThan(1)
  expect(await importAll('--yes')).toMatchObject({ code: 0 })
  const after = await library()
  expect(after).toEqual(expect.arrayContaining(before))
  expect(after[0]).toMatchObject({ managed_by: 'file' })
  expect(after).toContainEqual(expect.objectContaining({ provider: 'openai', model: 'gpt-4o' }))
  await bed.database.sql`UPDATE channels SET priority = 3 WHERE managed_by = 'admin'`
  const again = await importAll('--yes', '--library-prices')
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('Written. Running gateways') })
  expect(await library()).toEqual(after)
  const channels = await bed.database.sql`SELECT library_providers, managed_by FROM channels ORDER BY name`
  expect([...channels]).toMatchObject([
    { managed_by: 'admin', library_providers: ['openai'] },
    { managed_by: 'file', library_providers: ['anthropic'] },
  ])
})

test('a key that an admin has rotated since stays as it is', async () => {
  await bed.database
    .sql`UPDATE keys SET former_secret_hash = ${Buffer.alloc(32, 7)}, former_secret_until = now() + interval '1 day'
    WHERE name = 'a'`
  const again = await importAll('--yes')
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to write') })
  const [row] = await bed.database.sql`SELECT former_secret_hash FROM keys WHERE name = 'a'`
  expect(row?.former_secret_hash).toEqual(Buffer.alloc(32, 7))
})

test('the name of a revoked key, or of a sub-key, is a conflict, and stays with --keep-existing', async () => {
  await bed.database.sql`UPDATE keys SET revoked_at = now(), disabled_at = now() WHERE name = 'b'`
  await bed.database.sql`UPDATE keys SET parent_id = (SELECT id FROM keys WHERE name = 'a') WHERE name = 'c'`
  const before = [...(await bed.database.sql`SELECT * FROM keys ORDER BY name`)]
  const run = await importAll('--yes')
  expect(run.code).toBe(1)
  expect(run.stdout).toMatch(/! conflict shop\/b +a key with this name was revoked permanently/)
  expect(run.stdout).toMatch(/! conflict shop\/c +a sub-key already has this name/)
  const kept = await importAll('--yes', '--keep-existing')
  expect(kept).toMatchObject({ code: 0, stderr: expect.stringContaining('nothing to write') })
  expect([...(await bed.database.sql`SELECT * FROM keys ORDER BY name`)]).toEqual(before)
})
