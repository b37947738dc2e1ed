import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Journal } from '../../src/journal/journal.ts'
import { ownLayout, writeLayout } from '../../src/journal/layout.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { Shipment } from '../../src/shipping/shipment.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase } from '../support/database.ts'
import { aClose, anAttempt, anOpen } from '../support/records.ts'

/** A journal that a process of another release wrote, and that this release finds after an upgrade, or after a step back. */

const tenantId = '01890a5d-ac96-774b-bcce-b302099a8057'
const instanceId = '019aaaaa-0000-7000-8000-000000000000'

let home: string
let directory: string
let client: Client
let drop: () => Promise<void>
beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'tollgate-journal-'))
  directory = join(home, instanceId)
  mkdirSync(directory)
  const fresh = await freshDatabase()
  drop = fresh.drop
  client = new Client({ connectionString: fresh.url })
  await client.connect()
  await client.query(
    `INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state) VALUES ($1, 'h', 1, now(), now(), 'live')`,
    [instanceId],
  )
  await client.query(`INSERT INTO tenants (id, name, managed_by) VALUES ($1, 'old', 'admin')`, [tenantId])
  await client.query(`INSERT INTO accounts (id, limited, balance_nano) VALUES ($1, true, 10000)`, [tenantId])
})
afterEach(async () => {
  await client.end()
  await drop()
  rmSync(home, { recursive: true, force: true })
})

/** Ships and adopts the whole journal. Returns the number of orphans. */
async function adopt(): Promise<number> {
  const shipment = new Shipment({
    directory,
    instanceId,
    growing: false,
    batchBytes: 1024 * 1024,
    clock: systemClock,
    log: silentLog,
  })
  await shipment.resume(client)
  while (await shipment.shipNext(client));
  const orphans = await shipment.adopt(client)
  shipment.close()
  return orphans.length
}

test('columns that a later release has renamed and reordered are shipped by the names in its journal', async () => {
  const journal = new Journal({
    directory,
    sync: 'process',
    segmentBytes: 1024 * 1024,
    bytesMax: 1024 * 1024,
    onTrouble: () => {},
  })
  const [ended, running] = [anOpen({ tenantId }), anOpen({ tenantId })]
  for (const open of [ended, running]) await journal.open(open)
  await journal.close(ended, aClose({ attempts: [anAttempt({ reason: 'because' })] }))
  await journal.end()
  // A later release: two columns have the names of two others, and one has a new name.
  const renamed = (name: string) =>
    ({ user_agent: 'idempotency_key', idempotency_key: 'user_agent', finish_reason: 'of_later' })[name] ??
    name
  const { open, close, attempts } = ownLayout
  writeLayout(directory, { open: open.map(renamed), close: close.map(renamed), attempts })
  await client.query('ALTER TABLE requests ADD COLUMN of_later text')
  expect(await adopt()).toBe(1)
  const { rows } = await client.query(
    'SELECT id, user_agent, idempotency_key, finish_reason, of_later, outcome FROM requests ORDER BY outcome DESC',
  )
  const swapped = { user_agent: null, idempotency_key: 'test', finish_reason: null }
  expect(rows).toEqual([
    { id: ended.id, outcome: 'succeeded', of_later: 'stop', ...swapped },
    { id: running.id, outcome: 'orphaned', of_later: null, ...swapped },
  ])
  expect((await client.query('SELECT reason FROM attempts')).rows).toEqual([{ reason: 'because' }])
})
