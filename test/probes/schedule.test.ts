import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { startTollgate, type TollgateProcess } from '../support/tollgate.ts'
import { until } from '../support/until.ts'
import { startVendor, type Vendor } from '../support/vendor/vendor.ts'

let vendor: Vendor
let database: Database
let databaseUrl: string
let drop: () => Promise<void>
let tollgate: TollgateProcess

const env = {
  SECRET_KEY: secretKey,
  SHIP_INTERVAL_MS: '20',
  PROBE_INTERVAL_HOURS: '1000',
  REQUEST_RETENTION_DAYS: '1',
  PROBE_SWEEP_MS: '200',
  IMAGE_LEASE_MS: '1000',
}

const start = () =>
  startTollgate({
    databaseUrl,
    gatewayYaml: `
models:
  - { id: one, max_output_tokens: 4096, context_length: 100000, price: { input: "1", output: "5" } }
  - { id: '*' }
channels:
  - { name: vendor, protocols: { openai-chat: "${vendor.url}/v1", anthropic-messages: "${vendor.url}" }, api_keys: ["good"], models: { one: one, '*': '*' }, allow_private_address: true }
groups: [{ name: default }]
`,
    env,
  })

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 30 })
  const fresh = await freshDatabase()
  drop = fresh.drop
  databaseUrl = fresh.url
  database = openDatabase(fresh.url)
  tollgate = await start()
})

afterAll(async () => {
  await tollgate?.stop()
  await database?.close()
  await vendor?.close()
  await drop?.()
})

interface Run {
  protocol: string
  state: string
  key_id: string
  cost_max_nano: string
}

const runs = () =>
  database.sql<Run[]>`SELECT protocol, state, key_id, cost_max_nano FROM probe_runs ORDER BY protocol`

test('a worker that is killed in the middle of a probe leaves it to the next one, with the same key and budget', async () => {
  const [begun] = await until(async () => {
    const rows = await database.sql<Run[]>`SELECT r.* FROM probe_runs r WHERE state = 'running' AND EXISTS (
      SELECT FROM requests q WHERE q.key_id = r.key_id)`
    return rows.length > 0 ? rows : undefined
  })
  await tollgate.kill9()
  tollgate = await start()
  await until(async () => {
    const rows = await runs()
    return rows.length === 2 && rows.every(({ state }) => state === 'ended') ? rows : undefined
  })
  const keys = await database.sql`SELECT name FROM keys WHERE hint = 'probe'`
  expect(keys).toHaveLength(2)
  expect((await runs()).map(({ key_id }) => key_id)).toContain(begun?.key_id)
  for (const { key_id, cost_max_nano } of await runs()) {
    const [spent] =
      await database.sql`SELECT sum(cost_nano)::text AS nano FROM requests WHERE key_id = ${key_id}`
    expect(BigInt(spent?.nano)).toBeLessThanOrEqual(BigInt(cost_max_nano))
  }
})

/** Until sweeps have begun and ended. */
async function sweep(): Promise<void> {
  const claimed = async () => {
    const [row] = await database.sql`SELECT due_at FROM sweeps WHERE name = 'probes'`
    return String(row?.due_at)
  }
  for (let times = 0; times < 3; times++) {
    const before = await claimed()
    await until(async () => (await claimed()) !== before)
  }
}

test('the schedule asks for each offer of a named model once in its interval, and not for any name', async () => {
  await sweep()
  expect((await runs()).map(({ protocol }) => protocol)).toEqual(['anthropic-messages', 'openai-chat'])
})

test('an offer is not asked again before its interval ends, although the usage log forgets earlier', async () => {
  const before = (await runs()).map(({ key_id }) => key_id)
  await database.sql`UPDATE probe_runs SET created_at = now() - interval '40 days'`
  await sweep()
  expect((await runs()).map(({ key_id }) => key_id)).toEqual(before)
  await database.sql`UPDATE probe_runs SET created_at = now() - interval '50 days'`
  await until(async () => {
    const ids = (await runs()).map(({ key_id }) => key_id)
    return ids.length === 2 && ids.every((id) => id !== null && !before.includes(id))
  })
})
