import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { frameHeaderBytes, readFrame } from '../../src/ledger/frame.ts'
import { Journal } from '../../src/ledger/journal.ts'
import { listJournals, segmentName } from '../../src/ledger/journal-directory.ts'
import { ownLayout, writeLayout } from '../../src/ledger/layout.ts'
import { Shipment } from '../../src/ledger/shipment.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase } from '../support/database.ts'
import { aClose, anAttempt, anOpen } from '../support/records.ts'

/**
 * A journal that a process of another release wrote, and that this release finds after an upgrade.
 *
 * The code of 3592f34 wrote the fixture. Request 1 (by the end of its id) has two attempts as earlier releases wrote
 * them, without the last column; 2 has none; 3 has two, a charge and a reservation; 4 is running; 5 was refused.
 */
const oldJournal = readFileSync(join(import.meta.dirname, '../fixtures/journal-3592f34.bin'))
const idOf = (last: number) => `019aaaaa-bbbb-7ccc-8ddd-00000000000${last}`
const tenantId = '01890a5d-ac96-774b-bcce-b302099a8057'
const instanceId = '019aaaaa-0000-7000-8000-000000000000'

let home: string
let directory: string
let client: Client
let drop: () => Promise<void>
let logged: string[]
beforeEach(async () => {
  logged = []
  home = mkdtempSync(join(tmpdir(), 'tollgate-old-journal-'))
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
async function adopt(batchBytes: number): Promise<number> {
  const log = relayLog((_level, _fields, message) => void logged.push(message))
  const shipment = new Shipment({ directory, instanceId, growing: false, batchBytes, log })
  await shipment.resume(client)
  while (await shipment.shipNext(client));
  const orphans = await shipment.adopt(client)
  shipment.close()
  return orphans.length
}

test.each([1024, 1024 * 1024])(
  'the journal of 3592f34 is shipped whole, in batches of %i bytes',
  async (bytes) => {
    writeFileSync(join(directory, segmentName(0)), oldJournal)
    expect(await adopt(bytes)).toBe(1)
    expect(logged).toEqual([])
    expect(readdirSync(home)).toEqual([instanceId])
    const requests = await client.query(
      `SELECT id, tenant_id, requested_model, served_model, user_agent, outcome, input_tokens, cost_nano, folded
     FROM requests ORDER BY id`,
    )
    const common = { tenant_id: tenantId, requested_model: 'gpt-main', user_agent: 'test', folded: 1 }
    expect(requests.rows).toMatchObject([
      { id: idOf(1), outcome: 'succeeded', served_model: 'gpt-main-2026', input_tokens: 10, ...common },
      { id: idOf(2), outcome: 'succeeded', cost_nano: '123456789012', ...common },
      { id: idOf(3), outcome: 'succeeded', cost_nano: '1000', ...common },
      { id: idOf(4), outcome: 'orphaned', served_model: null, cost_nano: null, ...common },
      { id: idOf(5), outcome: 'refused', input_tokens: null, ...common },
    ])
    const payloads = await client.query(
      'SELECT request_id, capture, body FROM request_payloads ORDER BY request_id',
    )
    expect(payloads.rows).toEqual(
      [1, 2, 3, 4].map((n) => ({ request_id: idOf(n), capture: 'content', body: '{"model":"gpt-main"}' })),
    )
    const attempts = await client.query(
      `SELECT request_id, ordinal, channel, status, error_message, total_ms, upstream_request_id, passed_over
     FROM attempts ORDER BY request_id, ordinal`,
    )
    expect(attempts.rows).toMatchObject([
      {
        request_id: idOf(1),
        ordinal: 1,
        status: 503,
        error_message: 'Full \u2603',
        total_ms: null,
        passed_over: false,
      },
      { request_id: idOf(1), ordinal: 2, channel: 'next', upstream_request_id: 'req_1', passed_over: false },
      { request_id: idOf(3), ordinal: 1, passed_over: true },
      { request_id: idOf(3), ordinal: 2, passed_over: false },
    ])
    const entries = await client.query(`SELECT id, account_id, amount_nano FROM entries`)
    expect(entries.rows).toEqual([{ id: idOf(3), account_id: tenantId, amount_nano: '-1000' }])
    expect((await client.query('SELECT balance_nano FROM accounts')).rows).toEqual([{ balance_nano: '9000' }])
  },
)

test('a frame of an old release that was truncated is read only to its end', () => {
  let at = 0
  for (let frame = readFrame(oldJournal, at); ; frame = readFrame(oldJournal, at)) {
    if (typeof frame === 'string') throw new Error('no close frame')
    if (frame.kind === 'old-close') break
    at += frame.bytes
  }
  const frame = readFrame(oldJournal, at)
  if (typeof frame === 'string') throw new Error(frame)
  const torn = Buffer.from(oldJournal.subarray(at, at + frame.bytes - 3))
  torn.writeUInt32LE(torn.length - frameHeaderBytes, 0)
  torn.writeUInt32LE(crc32(torn.subarray(frameHeaderBytes)), 4)
  expect(readFrame(torn, 0)).toMatchObject({ kind: 'old-close', bytes: torn.length })
})

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
  expect(await adopt(1024 * 1024)).toBe(1)
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

test('a release that does not know our frames does not find our journals', () => {
  mkdirSync(join(home, `${instanceId}.2`))
  mkdirSync(join(home, `set-aside-${instanceId}-0-0`))
  // How releases up to 3592f34 recognise a journal.
  expect(readdirSync(home).filter((name) => /^[0-9a-f-]{36}$/.test(name))).toEqual([instanceId])
  expect(listJournals(home)).toEqual([
    { instance: instanceId, directory },
    { instance: instanceId, directory: `${directory}.2` },
  ])
})
