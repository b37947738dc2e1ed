import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { amount } from '../support/amount.ts'
import { emptyDatabase, openDatabase } from '../support/database.ts'
import { checkOut, repository } from '../support/former-release.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startTollgate } from '../support/tollgate.ts'
import { startUpstream } from '../support/upstream.ts'

/** The last release without master keys. */
const formerCommit = '2c685c6'
/** `npm test` starts this release in its place, which needs no history. */
const isUpgrade = amount('UPGRADE', { test: 0, chaos: 1 }) > 0
let checkout = { directory: repository, remove: () => {} }
beforeAll(() => {
  if (isUpgrade) checkout = checkOut(formerCommit)
}, 180_000)
afterAll(() => checkout.remove())

test('a database of the release before changes no sealed byte at the upgrade, and that release runs on beside this one', async () => {
  const [database, upstream] = await Promise.all([emptyDatabase(), startUpstream()])
  const { sql, close } = openDatabase(database.url)
  onTestFinished(async () => {
    await close()
    await upstream.close()
    await database.drop()
  })
  const start = async (directory: string) => {
    const env = { SECRET_KEY: secretKey, SHIP_INTERVAL_MS: '20' }
    const yaml = gatewayYaml(upstream.url)
    const tollgate = await startTollgate({ databaseUrl: database.url, gatewayYaml: yaml, env, directory })
    onTestFinished(async () => void (await tollgate.stop()))
    return tollgate
  }
  const stored = async () => [
    await sql`SELECT channel_id, key_id, sealed FROM channel_credentials ORDER BY channel_id, ordinal`,
    await sql`SELECT id, secret_hash FROM keys ORDER BY id`,
    await sql`SELECT hash FROM gateway_file`,
  ]
  const former = await start(checkout.directory)
  const before = await stored()
  const upgraded = await start(repository)
  expect(await stored()).toEqual(before)
  expect(await sql`SELECT master_id, wrapped_by FROM master_key_wrappings`).toEqual([
    { master_id: '01121222', wrapped_by: '01121222' },
  ])
  const again = await start(checkout.directory)
  expect(await stored()).toEqual(before)
  for (const { url } of [former, upgraded, again]) {
    const answer = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${freeKey}` },
      body: JSON.stringify({ model: 'main', messages: [{ role: 'user', content: 'hello' }] }),
    })
    await answer.arrayBuffer()
    expect(answer.status).toBe(200)
  }
}, 180_000)
