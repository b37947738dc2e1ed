import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { freeKey, gatewayYaml, secretKey } from '../support/gateway-yaml.ts'
import { startProcessTestbed } from '../support/process-testbed.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs } from '../support/until.ts'

const adminToken = 'an-admin-token-for-tests'
const marker = 'words of the tenant in a journal'
const patient = { timeout: patienceMs }

const shownErasure = z.looseObject({
  id: z.string(),
  state: z.string(),
  waits_for: z.string().nullable(),
  counts: z.record(z.string(), z.number()),
})

test('an erasure waits for what only the journal of a silent process has, and erases that too', async () => {
  const env = {
    ADMIN_TOKEN: adminToken,
    INSTANCE_DEAD_MS: '10000',
    UPSTREAM_TOTAL_MS: '1000',
    SHIP_INTERVAL_MS: '10000',
  }
  const bed = await startProcessTestbed({ env })
  onTestFinished(bed.close)
  const { database, tollgate: silent } = bed
  // It has a directory of its own, so it cannot adopt the other's journal.
  const other = await startTollgate({
    databaseUrl: bed.databaseUrl,
    gatewayYaml: gatewayYaml(bed.upstream.url),
    env: { SECRET_KEY: secretKey, ...env },
  })
  onTestFinished(async () => {
    await other.stop()
  })
  onTestFinished(() => {
    silent.child.kill('SIGCONT')
  })
  const kept = () => database.sql`SELECT body FROM request_payloads WHERE body LIKE ${`%${marker}%`}`
  let id: string | null = null
  for (let turn = 0; ; turn++) {
    const messages = [{ role: 'user', content: `${marker} ${turn}` }]
    const answer = await bed.chat({ model: 'main', messages })
    expect(answer.status).toBe(200)
    id = answer.headers.get('x-request-id')
    silent.child.kill('SIGSTOP')
    // It may have shipped its journal just before.
    if ((await database.sql`SELECT 1 FROM requests WHERE id = ${id}`).length === 0) break
    silent.child.kill('SIGCONT')
  }

  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(`${other.url}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return shownErasure.parse(await response.json())
  }
  const erasure = await ask('POST', '/erasures', { tenant: 'free', what: 'content' })
  const job = () => ask('GET', `/erasures/${erasure.id}`)
  await expect
    .poll(async () => (await job()).waits_for ?? '', patient)
    .toContain('the journals of silent processes')
  expect((await job()).state).toBe('waiting')

  silent.child.kill('SIGCONT')
  await expect.poll(async () => (await job()).state, patient).toBe('succeeded')
  expect((await job()).counts.bodies ?? 0).toBeGreaterThan(0)
  expect(await kept()).toEqual([])
  expect(await bed.row(id)).toMatchObject({ outcome: 'succeeded' })
  const again = await fetch(`${silent.url}/v1/models`, { headers: { authorization: `Bearer ${freeKey}` } })
  expect(again.status).toBe(200)
})
