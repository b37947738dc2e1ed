import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { seeded } from '../support/random.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'
import { midnight, seedDay } from './seeded-log.ts'

test('a gateway with HOT_DAYS archives by itself, and its API goes on to have the old days', async () => {
  const fresh = await freshDatabase()
  const database = openDatabase(fresh.url)
  onTestFinished(async () => {
    await database.close()
    await fresh.drop()
  })
  const start = (env: Record<string, string>) =>
    startTollgate({
      databaseUrl: fresh.url,
      gatewayYaml: gatewayYaml('http://127.0.0.1:9'),
      env: { SECRET_KEY: secretKey, ADMIN_TOKEN: token, ...env },
    })
  const get = async (url: string, path: string, bearer: string) => {
    const answer = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${bearer}` } })
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }

  const without = await start({})
  const [key] = await database.sql<{ tenant_id: string; id: string }[]>`
    SELECT tenant_id, id FROM keys WHERE name = 'free'`
  const refused = await fetch(`${without.url}/admin/v1/archive`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  expect(refused.status).toBe(409)
  expect((await get(without.url, '/admin/v1/archive', token)).body).toMatchObject({ hot_days: 0, totals: [] })
  const seed = { tenants: [key?.tenant_id ?? ''], keys: [key?.id ?? ''], random: seeded(3) }
  for (const day of [3, 9, 10]) await seedDay(database.sql, midnight(day), 30, seed)
  const pathOf = '/v1/usage/requests?limit=200'
  const bearer = freeKey
  const before = await get(without.url, pathOf, bearer)
  expect(before.body.data.length).toBeGreaterThan(60)
  await without.stop()

  const gateway = await start({ HOT_DAYS: '5' })
  await expect
    .poll(
      async () => (await get(gateway.url, '/admin/v1/archive?state=dropped', token)).body.files.data.length,
      {
        timeout: patienceMs,
      },
    )
    .toBe(8)
  const [left] = await database.sql<{ rows: number }[]>`
    SELECT count(*)::integer AS rows FROM requests WHERE created_at < ${new Date(midnight(5))}`
  expect(left?.rows).toBe(0)
  expect((await get(gateway.url, pathOf, bearer)).body).toEqual(before.body)
  const oldest = before.body.data.at(-1)
  const detail = await get(gateway.url, `/v1/usage/requests/${oldest.id}`, bearer)
  expect(detail.body).toMatchObject({ id: oldest.id, created_at: oldest.created_at })
  const now = await fetch(`${gateway.url}/admin/v1/archive`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  expect([now.status, await now.json()]).toEqual([202, { due: true }])
  await gateway.stop()
})

const token = `admin-${randomUUID()}`
