import { randomUUIDv7 } from 'node:crypto'
import * as fs from 'node:fs'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFrame } from '../../src/journal/frame.ts'
import { Journal } from '../../src/journal/journal.ts'
import { segmentName } from '../../src/journal/journal-directory.ts'
import { ownLayout, writeLayout } from '../../src/journal/layout.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { Disk } from '../../src/runtime/disk.ts'
import { Shipment } from '../../src/shipping/shipment.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase } from '../support/database.ts'
import { aClose, anAttempt, anOpen } from '../support/records.ts'

let home: string
let client: Client
let drop: () => Promise<void>
let logged: { message: string; fields: object | undefined }[]
beforeEach(async () => {
  logged = []
  home = mkdtempSync(join(tmpdir(), 'tollgate-shipment-'))
  const fresh = await freshDatabase()
  drop = fresh.drop
  client = new Client({ connectionString: fresh.url })
  await client.connect()
})
afterEach(async () => {
  await client.end()
  await drop()
  rmSync(home, { recursive: true, force: true })
})

function startJournal(name: string, segmentBytes = 1024 * 1024): { directory: string; journal: Journal } {
  const directory = join(home, name)
  mkdirSync(directory)
  const bounds = { segmentBytes, bytesMax: 2 ** 30 }
  return { directory, journal: new Journal({ directory, sync: 'process', ...bounds, onTrouble: () => {} }) }
}

function shipmentOf(directory: string, batchBytes = 1024 * 1024, instanceId: string = randomUUIDv7()) {
  const log = relayLog((_level, fields, message) => void logged.push({ message, fields }))
  return new Shipment({ directory, instanceId, growing: false, batchBytes, clock: systemClock, log })
}

async function shipAll(shipment: Shipment): Promise<void> {
  await shipment.resume(client)
  while (await shipment.shipNext(client));
}

test('a close frame whose open frame is lost becomes a row with the values it has, and is charged', async () => {
  const tenantId = randomUUIDv7()
  await client.query(`INSERT INTO tenants (id, name, managed_by) VALUES ($1, 'some', 'admin')`, [tenantId])
  await client.query(`INSERT INTO accounts (id, limited, balance_nano) VALUES ($1, true, 5000)`, [tenantId])
  const { directory, journal } = startJournal('whole')
  const open = anOpen({ tenantId, keyId: randomUUIDv7() })
  await journal.open(open)
  await journal.close(open, aClose({ accountId: tenantId, costNano: 2_000n, attempts: [anAttempt()] }))
  await journal.end()
  const bytes = readFileSync(join(directory, segmentName(0)))
  const first = readFrame(bytes, 0)
  if (typeof first === 'string') throw new Error(first)
  const rest = join(home, 'rest')
  mkdirSync(rest)
  writeLayout(rest, ownLayout)
  writeFileSync(join(rest, segmentName(0)), bytes.subarray(first.bytes))
  const shipment = shipmentOf(rest)
  await shipAll(shipment)
  shipment.close()
  expect(logged).toEqual([
    {
      message: 'the beginning of a request is missing from the journal: its row contains only the end',
      fields: { id: open.id },
    },
  ])
  const { rows } = await client.query(
    'SELECT id, tenant_id, key_id, endpoint, outcome, cost_nano FROM requests',
  )
  expect(rows).toEqual([
    {
      id: open.id,
      tenant_id: tenantId,
      key_id: null,
      endpoint: '(lost)',
      outcome: 'succeeded',
      cost_nano: '2000',
    },
  ])
  expect((await client.query('SELECT balance_nano FROM accounts')).rows).toEqual([{ balance_nano: '3000' }])
  expect((await client.query('SELECT request_id FROM attempts')).rows).toEqual([{ request_id: open.id }])
})

test('frames that are set aside become a journal of their own, which is shipped when Postgres accepts it', async () => {
  const { directory, journal } = startJournal('whole')
  const [bad, good] = [anOpen(), anOpen()]
  await client.query(
    `INSERT INTO requests (id, created_at, endpoint, stream, status, outcome, usage_source, attempt_count)
     VALUES ($1, uuid_moment($1), 'in the way', false, 200, 'succeeded', 'none', 0)`,
    [bad.id],
  )
  for (const open of [bad, good]) {
    await journal.open(open)
    await journal.close(open, aClose())
  }
  await journal.end()
  const shipment = shipmentOf(directory)
  await shipAll(shipment)
  shipment.close()
  expect(logged.map(({ message }) => message)).toEqual(['Postgres refused a journal frame; it is set aside'])
  const [aside = ''] = readdirSync(home).filter((name) => name.startsWith('set-aside-'))
  expect(readdirSync(join(home, aside)).sort()).toEqual([segmentName(0), 'columns.json', 'reason.json'])

  await client.query(`DELETE FROM requests WHERE endpoint = 'in the way'`)
  const again = shipmentOf(join(home, aside))
  await shipAll(again)
  expect(again.openCount).toBe(0)
  again.close()
  expect(logged).toHaveLength(1)
  const { rows } = await client.query('SELECT id, endpoint, served_model FROM requests ORDER BY id')
  const common = { endpoint: '/v1/chat/completions', served_model: 'gpt-main-2026' }
  expect(rows).toEqual([bad.id, good.id].sort().map((id) => ({ id, ...common })))
})

test('requests that end batches and segments after their start have complete rows, however often shipping is interrupted', async () => {
  const { directory, journal } = startJournal('long', 4_096)
  const instanceId = randomUUIDv7()
  const opens = Array.from({ length: 40 }, (_, i) => anOpen({ userAgent: `agent ${i}` }))
  for (const open of opens) await journal.open(open)
  // The requests that began last end first.
  for (const open of opens.toReversed().slice(0, 30)) await journal.close(open, aClose())
  await journal.end()
  // Each shipper works for a while and then stops, like a failed thread. The next one reads everything again.
  for (let turn = 0; turn < 12; turn++) {
    const shipment = shipmentOf(directory, 2_048, instanceId)
    await shipment.resume(client)
    for (let i = 0; i < 3 + turn; i++) await shipment.shipNext(client)
    await shipment.deleteShipped(client, 0, 0)
    shipment.close()
  }
  const last = shipmentOf(directory, 2_048, instanceId)
  await shipAll(last)
  expect(await last.adopt(client)).toHaveLength(10)
  last.close()
  expect(logged).toEqual([])
  const { rows } = await client.query('SELECT id, user_agent, outcome FROM requests ORDER BY id')
  const expected = opens.map(({ id, userAgent }, i) => ({
    id,
    user_agent: userAgent,
    outcome: i < 10 ? 'orphaned' : 'succeeded',
  }))
  expect(rows).toEqual(expected.sort((a, b) => (a.id < b.id ? -1 : 1)))
  expect((await client.query('SELECT count(*)::int AS n FROM request_payloads')).rows).toEqual([{ n: 40 }])
})

test('a close frame that stands twice in a journal, as after a failed sync, is one row and one charge', async () => {
  const tenantId = randomUUIDv7()
  await client.query(`INSERT INTO tenants (id, name, managed_by) VALUES ($1, 'some', 'admin')`, [tenantId])
  await client.query(`INSERT INTO accounts (id, limited, balance_nano) VALUES ($1, true, 5000)`, [tenantId])
  const { directory, journal } = startJournal('twice')
  const open = anOpen({ tenantId, keyId: randomUUIDv7(), reservedAccountId: tenantId })
  await journal.open(open)
  await journal.close(open, aClose({ accountId: tenantId, costNano: 2_000n, attempts: [anAttempt()] }))
  await journal.end()
  const bytes = readFileSync(join(directory, segmentName(0)))
  const first = readFrame(bytes, 0)
  if (typeof first === 'string') throw new Error('no frame')
  writeFileSync(join(directory, segmentName(1)), bytes.subarray(first.bytes))
  const shipment = shipmentOf(directory)
  await shipAll(shipment)
  shipment.close()
  expect((await client.query('SELECT id, cost_nano FROM requests')).rows).toEqual([
    { id: open.id, cost_nano: '2000' },
  ])
  expect((await client.query('SELECT balance_nano FROM accounts')).rows).toEqual([{ balance_nano: '3000' }])
  expect((await client.query('SELECT amount_nano FROM entries')).rows).toEqual([{ amount_nano: '-2000' }])
})

test('a deleted segment that a power failure brings back is not shipped again', async () => {
  const { directory, journal } = startJournal('whole', 1)
  const ids: string[] = []
  for (let n = 0; n < 3; n++) {
    const open = anOpen()
    await journal.row(open, aClose())
    ids.push(open.id)
  }
  await journal.end()
  const options = {
    directory,
    instanceId: randomUUIDv7(),
    batchBytes: 4096,
    clock: systemClock,
    log: silentLog,
  }
  const isFailing = { now: true }
  const fsync: Disk['fsync'] = (fd, done) =>
    isFailing.now ? setImmediate(() => done(new Error('EIO'))) : fs.fsync(fd, done)
  const own = new Shipment({ ...options, growing: true, disk: { ...fs, fsync } })
  await shipAll(own)
  const deleted = [0, 1, 2].map((segment) => readFileSync(join(directory, segmentName(segment))))
  const positions = async () =>
    (await client.query('SELECT segment FROM journal_positions ORDER BY segment')).rows.map(
      (row: { segment: number }) => row.segment,
    )
  await own.deleteShipped(client, 0, 0)
  expect(readdirSync(directory)).not.toContain(segmentName(0))
  expect(await positions()).toEqual([0, 1, 2])
  for (const [segment, bytes] of deleted.entries())
    writeFileSync(join(directory, segmentName(segment)), bytes)
  const adopter = shipmentOf(directory, undefined, options.instanceId)
  await shipAll(adopter)
  adopter.close()
  expect(logged).toEqual([])
  isFailing.now = false
  await own.deleteShipped(client, 0, 0)
  own.close()
  expect(await positions()).toEqual([2])
  const { rows } = await client.query('SELECT id FROM requests ORDER BY id')
  expect(rows).toEqual(ids.sort().map((id) => ({ id })))
})

test('adoption also ends the running requests that only Postgres has, as after a power failure', async () => {
  const { directory, journal } = startJournal('torn')
  const [kept, lost, ended] = [anOpen(), anOpen(), anOpen()]
  for (const open of [kept, lost, ended]) await journal.open(open)
  await journal.close(ended, aClose())
  await journal.end()
  const instanceId = randomUUIDv7()
  const options = { directory, instanceId, batchBytes: 4096, clock: systemClock, log: silentLog }
  const own = new Shipment({ ...options, growing: true, keepsOpen: true })
  await shipAll(own)
  own.close()
  const path = join(directory, segmentName(0))
  const first = readFrame(readFileSync(path), 0)
  fs.truncateSync(path, typeof first === 'string' ? 0 : first.bytes)
  const adopter = shipmentOf(directory, undefined, instanceId)
  await shipAll(adopter)
  expect((await adopter.adopt(client)).sort()).toEqual([kept.id, lost.id].sort())
  adopter.close()
  const { rows } = await client.query('SELECT id, outcome FROM requests ORDER BY id')
  const outcomes = { [kept.id]: 'orphaned', [lost.id]: 'orphaned', [ended.id]: 'succeeded' }
  expect(Object.fromEntries(rows.map(({ id, outcome }) => [id, outcome]))).toEqual(outcomes)
  expect((await client.query('SELECT FROM open_requests')).rowCount).toBe(0)
})

test('damage that goes over the shipped position keeps nothing behind it from being shipped', async () => {
  const { directory, journal } = startJournal('damaged')
  const instanceId = randomUUIDv7()
  const opens = [anOpen(), anOpen(), anOpen()]
  const path = join(directory, segmentName(0))
  const ends: number[] = []
  for (const open of opens) {
    await journal.row(open, aClose())
    ends.push(fs.statSync(path).size)
    if (ends.length > 1) continue
    const own = shipmentOf(directory, undefined, instanceId)
    await shipAll(own)
    own.close()
  }
  await journal.end()
  const [shipped = 0, damaged = 0] = ends
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, shipped - 10, damaged - 10))
  const adopter = shipmentOf(directory, undefined, instanceId)
  await shipAll(adopter)
  adopter.close()
  const { rows } = await client.query('SELECT id FROM requests')
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([opens[0]?.id, opens[2]?.id]))
  const [aside = ''] = readdirSync(home).filter((name) => name.startsWith('set-aside-'))
  expect(fs.statSync(join(home, aside, 'damaged.bin')).size).toBe(damaged - shipped)
})

test('what is written after the directory was recreated is shipped, also before the shipper knows of it', async () => {
  const { directory, journal } = startJournal('recreated', 1)
  const [before, after] = [anOpen(), anOpen()]
  await journal.row(before, aClose())
  const options = {
    directory,
    instanceId: randomUUIDv7(),
    batchBytes: 4096,
    clock: systemClock,
    log: silentLog,
  }
  const own = new Shipment({ ...options, growing: true })
  await shipAll(own)
  rmSync(directory, { recursive: true })
  journal.restore()
  await journal.row(after, aClose())
  while (await own.shipNext(client));
  own.close()
  await journal.end()
  const { rows } = await client.query('SELECT id FROM requests')
  expect(new Set(rows.map(({ id }) => id))).toEqual(new Set([before.id, after.id]))
})
