import { randomUUIDv7 } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFrame } from '../../src/journal/frame.ts'
import { Journal } from '../../src/journal/journal.ts'
import { segmentName } from '../../src/journal/journal-directory.ts'
import type { OpenRecord } from '../../src/journal/record.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { Shipment } from '../../src/shipping/shipment.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { manualClock } from '../support/manual-clock.ts'
import { seeded } from '../support/random.ts'
import { aClose, anAttempt, anOpen } from '../support/records.ts'

/** Damaged bytes and refused frames cost their own request, and no other. */

let home: string
let client: Client
let database: Database
let drop: () => Promise<void>
let logged: string[]
const clock = manualClock()

beforeEach(async () => {
  logged = []
  home = mkdtempSync(join(tmpdir(), 'tollgate-damage-'))
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openDatabase(fresh.url)
  client = new Client({ connectionString: fresh.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await database.close()
  await drop()
  rmSync(home, { recursive: true, force: true })
})

test('a flipped bit anywhere in a dead journal costs one request at most, and its bytes are set aside', async () => {
  const whole = await aJournal('whole', 30)
  const bytes = readFileSync(join(whole.directory, segmentName(0)))
  const random = seeded(14)
  for (let round = 0; round < 60; round++) {
    const { directory, instanceId } = copyOf(whole.directory, `round-${round}`)
    const at = random.upTo(bytes.length - 1)
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ (1 << random.upTo(7))
    writeFileSync(join(directory, segmentName(0)), flipped)
    const shipment = shipmentOf(directory, instanceId)
    await shipAll(shipment)
    expect(shipment.isBefore(shipment.end())).toBe(false)
    await shipment.adopt(client)
    shipment.close()
    const { rows } = await client.query<{ id: string; outcome: string; endpoint: string }>(
      'SELECT id, outcome, endpoint FROM requests',
    )
    const good = rows.filter(({ outcome, endpoint }) => outcome === 'succeeded' && endpoint !== '(lost)')
    expect({ at, rows: rows.length, good: good.length }).toEqual({ at, rows: rows.length, good: 29 })
    expect(rows.length).toBeGreaterThanOrEqual(29)
    expect(rows.length).toBeLessThanOrEqual(30)
    const [aside = ''] = readdirSync(home).filter((name) => name.startsWith(`set-aside-${instanceId}`))
    expect(readdirSync(join(home, aside)).sort()).toEqual(['damaged.bin', 'reason.json'])
    await client.query('TRUNCATE requests, request_payloads, attempts, entries')
  }
})

test('a damaged frame in the segment that its process still writes costs itself only', async () => {
  const { directory, instanceId } = await aJournal('living', 10)
  const path = join(directory, segmentName(0))
  const bytes = readFileSync(path)
  const first = readFrame(bytes, 0)
  if (typeof first === 'string') throw new Error(first)
  // In the length of the second frame: it seems to be longer than the segment.
  bytes[first.bytes + 2] = 0xff
  writeFileSync(path, bytes)
  const shipment = shipmentOf(directory, instanceId, true)
  const rows = async () => (await client.query('SELECT id FROM requests')).rowCount
  await shipAll(shipment)
  clock.pass(999)
  await shipAll(shipment)
  expect(await rows()).toBe(0)
  clock.pass(1)
  await shipAll(shipment)
  expect(await rows()).toBe(9)
  shipment.close()
})

test('the torn tail of a crash is read to its end and costs no other frame', async () => {
  const { directory, instanceId } = await aJournal('torn', 5)
  const path = join(directory, segmentName(0))
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.subarray(0, bytes.length - 10))
  const shipment = shipmentOf(directory, instanceId)
  await shipAll(shipment)
  expect(shipment.isBefore(shipment.end())).toBe(false)
  expect(await shipment.adopt(client)).toHaveLength(1)
  shipment.close()
  expect((await client.query('SELECT id FROM requests')).rowCount).toBe(5)
})

test('a request whose row Postgres refuses has a row without texts, its charge, and its frame set aside', async () => {
  const tenantId = randomUUIDv7()
  await client.query(`INSERT INTO tenants (id, name, managed_by) VALUES ($1, 'some', 'admin')`, [tenantId])
  await client.query(`INSERT INTO accounts (id, limited, balance_nano) VALUES ($1, true, 5000)`, [tenantId])
  await client.query(
    `INSERT INTO entries (id, account_id, created_at, kind, amount_nano) VALUES ($1, $2, now(), 'opening', 5000)`,
    [randomUUIDv7(), tenantId],
  )
  await client.query(`ALTER TABLE requests ADD CHECK (served_model <> 'poison')`)
  const poison = anOpen({ tenantId })
  const { directory, instanceId } = await aJournal('refused', 3, async (journal) => {
    await journal.open(poison)
    const charge = { accountId: tenantId, costNano: 2_000n, attempts: [anAttempt()] }
    await journal.close(poison, aClose({ ...charge, servedModel: 'poison' }))
  })
  const shipment = shipmentOf(directory, instanceId)
  await shipAll(shipment)
  expect(shipment.openCount).toBe(0)
  shipment.close()
  const { rows } = await client.query(
    'SELECT tenant_id, endpoint, outcome, served_model, cost_nano, attempt_count FROM requests WHERE id = $1',
    [poison.id],
  )
  expect(rows).toEqual([
    {
      tenant_id: tenantId,
      endpoint: '/v1/chat/completions',
      outcome: 'succeeded',
      served_model: null,
      cost_nano: '2000',
      attempt_count: 0,
    },
  ])
  expect((await client.query('SELECT balance_nano FROM accounts')).rows).toEqual([{ balance_nano: '3000' }])
  expect((await client.query('SELECT id FROM requests')).rowCount).toBe(4)
  const { findings } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  const [aside = ''] = readdirSync(home).filter((name) => name.startsWith('set-aside-'))
  expect(readFileSync(join(home, aside, 'reason.json'), 'utf8')).toContain('violates check constraint')
})

async function aJournal(name: string, count: number, more?: (journal: Journal) => Promise<void>) {
  const directory = join(home, name)
  mkdirSync(directory)
  const bounds = { segmentBytes: 2 ** 24, bytesMax: 2 ** 30 }
  const journal = new Journal({ directory, sync: 'process', ...bounds, onTrouble: () => {} })
  const requests: OpenRecord[] = []
  for (let i = 0; i < count; i++) {
    const open = anOpen({ body: Buffer.alloc(200, 'x') })
    requests.push(open)
    await journal.open(open)
    await journal.close(open, aClose())
  }
  await more?.(journal)
  await journal.end()
  return { directory, instanceId: randomUUIDv7(), requests }
}

function copyOf(directory: string, name: string) {
  const copy = join(home, name)
  cpSync(directory, copy, { recursive: true })
  return { directory: copy, instanceId: randomUUIDv7() }
}

function shipmentOf(directory: string, instanceId: string, growing = false): Shipment {
  const log = relayLog((_level, fields, message) => void logged.push(`${message} ${JSON.stringify(fields)}`))
  return new Shipment({ directory, instanceId, growing, batchBytes: 4_096, clock, log })
}

async function shipAll(shipment: Shipment): Promise<void> {
  await shipment.resume(client)
  while (await shipment.shipNext(client));
}
