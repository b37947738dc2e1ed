import { randomBytes, randomUUIDv7 } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { readFrame } from '../../src/journal/frame.ts'
import { ownLayout } from '../../src/journal/layout.ts'
import type { OpenRecord } from '../../src/journal/record.ts'
import { momentOf } from '../../src/journal/tuple.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { Ledger } from '../../src/shipping/ledger.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { aClose, anOpen } from '../support/records.ts'
import { columnsIn } from '../support/tuples.ts'
import { patienceMs, until } from '../support/until.ts'
import { startWire } from '../support/wire.ts'

let home: string
let url: string
let drop: () => Promise<void>
let database: Database
let ledger: Ledger
const logged: string[] = []

const log = relayLog((level, fields, message) => {
  logged.push(level === 'info' ? message : `${message} ${JSON.stringify(fields)}`)
})

function startLedger(environment: Record<string, string> = {}): Ledger {
  return Ledger.start({
    dataDir: home,
    databaseUrl: url,
    instanceId: randomUUIDv7(),
    durability: 'journal',
    sync: 'process',
    // A slow machine must not fail the tests.
    bounds: readConfig({ SHIP_ON_QUERY_MS: '30000', JOURNAL_KEEP_MS: '0', ...environment }).bounds,
    clock: systemClock,
    log,
    onCut: () => {},
  })
}

beforeEach(async () => {
  logged.length = 0
  home = mkdtempSync(join(tmpdir(), 'tollgate-ledger-'))
  ;({ url, drop } = await freshDatabase())
  database = openDatabase(url)
})

afterEach(async () => {
  await ledger.end(2_000)
  await database.close()
  await drop()
  rmSync(home, { recursive: true, force: true })
})

test('a request that is opened and closed becomes one row with every column, its body, its attempt and its charge', async () => {
  ledger = startLedger()
  const tenantId = await anAccount(1_000_000_000_000n)
  const open = anOpen({
    tenantId,
    keyId: randomUUIDv7(),
    userAgent: 'snow\u2603 \0 man',
    body: Buffer.from('{"a":"\u00e9"}'),
  })
  await ledger.open(open)
  await ledger.close(
    open,
    aClose({
      accountId: tenantId,
      error: { kind: 'internal', reason: 'internal_fault', message: 'broke', upstreamStatus: 500 },
    }),
  )
  const shipped = await ledger.shipNow()
  expect(logged).toEqual([])
  expect(shipped).toBe(true)

  const [row] = await database.sql`SELECT * FROM requests`
  expect(row).toMatchObject({
    id: open.id,
    tenant_id: tenantId,
    user_agent: 'snow\u2603 \\u0000 man',
    requested_model: 'gpt-main',
    served_model: 'gpt-main-2026',
    status: 200,
    outcome: 'succeeded',
    error_kind: 'internal',
    error_upstream_status: 500,
    input_tokens: 10,
    reasoning_tokens: 3,
    cost_nano: '123456789012',
    attempt_count: 1,
    stream: false,
    folded: 1,
  })
  expect(row?.created_at.getTime()).toBe(momentOf(open.id))
  expect(await database.sql`SELECT request_id, body FROM request_payloads`).toMatchObject([
    { request_id: open.id, body: '{"a":"\u00e9"}' },
  ])
  expect(await database.sql`SELECT ordinal, channel, status FROM attempts`).toMatchObject([
    { ordinal: 1, channel: 'main', status: 200 },
  ])
  expect(await database.sql`SELECT id, kind, amount_nano FROM entries WHERE kind = 'charge'`).toMatchObject([
    { id: open.id, amount_nano: '-123456789012' },
  ])
  expect(await database.sql`SELECT balance_nano FROM accounts`).toMatchObject([
    { balance_nano: '876543210988' },
  ])
})

test('ten thousand rows over many segments are all there once, and the segments are deleted', async () => {
  ledger = startLedger({ JOURNAL_SEGMENT_BYTES: '65536', SHIP_BATCH_BYTES: '65536' })
  for (let round = 0; round < 100; round++) {
    const opens = Array.from({ length: 100 }, () => anOpen())
    await Promise.all(opens.map((open) => ledger.open(open)))
    await Promise.all(opens.map((open) => ledger.close(open, aClose())))
  }
  while (!(await ledger.shipNow()));
  const [found] =
    await database.sql`SELECT count(*)::int AS rows, count(DISTINCT id)::int AS ids FROM requests`
  expect(found).toMatchObject({ rows: 10_000, ids: 10_000 })
  await until(() => segments().length <= 2)
})

test('a long request keeps only its own open frame: its segment is compacted, and the row is complete in the end', async () => {
  ledger = startLedger({ JOURNAL_SEGMENT_BYTES: '65536', SHIP_INTERVAL_MS: '10' })
  const long = anOpen()
  await ledger.open(long)
  for (let round = 0; round < 30; round++) {
    const opens = Array.from({ length: 20 }, () => anOpen())
    await Promise.all(opens.map((open) => ledger.open(open)))
    await Promise.all(opens.map((open) => ledger.close(open, aClose())))
  }
  await ledger.shipNow()
  await until(() => ledger.health().journalBytes < 140_000)
  await ledger.close(long, aClose({ finishReason: 'length' }))
  await ledger.shipNow()
  expect(await database.sql`SELECT finish_reason FROM requests WHERE id = ${long.id}`).toMatchObject([
    { finish_reason: 'length' },
  ])
  expect(
    await database.sql`SELECT count(*)::int AS n FROM request_payloads WHERE request_id = ${long.id}`,
  ).toMatchObject([{ n: 1 }])
})

test('a frame that Postgres refuses is set aside, and all others arrive', async () => {
  ledger = startLedger()
  const bad = anOpen()
  const opens = [
    ...Array.from({ length: 10 }, () => anOpen()),
    bad,
    bad,
    ...Array.from({ length: 10 }, () => anOpen()),
  ]
  for (const open of opens) {
    await ledger.open(open)
    await ledger.close(open, aClose())
  }
  await ledger.shipNow()
  expect(await database.sql`SELECT count(*)::int AS n FROM requests`).toMatchObject([{ n: 21 }])
  expect(logged.filter((line) => line.includes('set aside')).length).toBeGreaterThan(0)
})

test('an ended ledger leaves no journal, and its instance is closed', async () => {
  ledger = startLedger()
  const open = anOpen()
  await ledger.open(open)
  await ledger.close(open, aClose())
  await ledger.end(5_000)
  expect(readdirSync(join(home, 'journal'))).toEqual([])
  expect(await database.sql`SELECT state FROM instances`).toMatchObject([{ state: 'closed' }])
  expect(await database.sql`SELECT count(*)::int AS n FROM journal_positions`).toMatchObject([{ n: 0 }])
  ledger = startLedger()
})

test('rows that are written while a batch is on its way are shipped too if the ledger ends then', async () => {
  ledger = startLedger()
  expect(await ledger.shipNow()).toBe(true)
  const { awaited, release } = await lockRequests()
  await aRow()
  await awaited()
  await aRow()
  const ended = await endIsAsked(5_000)
  await release()
  await ended()
  expect(await database.sql`SELECT count(*)::int AS n FROM requests`).toEqual([{ n: 2 }])
  expect(readdirSync(join(home, 'journal'))).toEqual([])
  ledger = startLedger()
})

test('rows that are not shipped before the deadline of the end stay on disk', async () => {
  ledger = startLedger({ SHIP_BATCH_BYTES: '65536' })
  expect(await ledger.shipNow()).toBe(true)
  const { awaited, release } = await lockRequests()
  for (let i = 0; i < 20; i++) await aRow(randomBytes(10_000))
  await awaited()
  const ended = await endIsAsked(0)
  await release()
  await ended()
  const [found] = await database.sql`SELECT count(*)::int AS n FROM requests`
  const [left] = readdirSync(join(home, 'journal'))
  expect(found?.n).toBeLessThan(20)
  expect(left).toBeDefined()
  expect(await database.sql`SELECT state FROM instances`).toMatchObject([{ state: 'live' }])
  ledger = startLedger()
})

test('many requests of unknown callers from one address become counted rows that add up', async () => {
  ledger = startLedger({ UNAUTHENTICATED_ROWS_PER_MINUTE: '5' })
  const unknown = aClose({
    status: 401,
    error: { kind: 'unauthenticated', reason: 'internal_fault', message: 'no', upstreamStatus: null },
    attempts: [],
  })
  for (let i = 0; i < 500; i++) await ledger.refuseUnknown(anOpen({ body: null }), unknown)
  await ledger.refuseUnknown(anOpen({ body: null, clientAddress: '10.0.0.1' }), unknown)
  await ledger.end(5_000)
  const [found] = await database.sql`SELECT count(*)::int AS rows, sum(folded)::int AS calls FROM requests`
  expect(found?.calls).toBe(501)
  expect(found?.rows).toBeLessThan(30)
  ledger = startLedger()
})

test('a process that was taken for dead goes on under another id, with all that no one has shipped', async () => {
  ledger = startLedger({ INSTANCE_DEAD_MS: '3000', SHIP_INTERVAL_MS: '20' })
  const running = anOpen()
  await ledger.open(running)
  await ledger.shipNow()
  const before = ledger.instance.id
  await database.sql`UPDATE instances SET state = 'adopted'`
  const requests = await someRows(ledger, 20)
  await until(() => logged.some((line) => line.includes('was taken for dead')))
  await until(() => logged.some((line) => line.includes('this process continues')))
  expect(ledger.instance.id).not.toBe(before)
  requests.push(...(await someRows(ledger, 5)))
  // No one has recorded it as orphaned.
  await ledger.close(running, aClose())
  await ledger.shipNow()
  const rows = await database.sql`SELECT id, outcome, endpoint FROM requests ORDER BY id`
  expect(rows.map(({ id }) => id)).toEqual([running, ...requests].map(({ id }) => id).toSorted())
  expect(new Set(rows.map(({ outcome, endpoint }) => `${outcome} ${endpoint}`))).toEqual(
    new Set([`${aClose().outcome} ${running.endpoint}`]),
  )
  expect(await database.sql`SELECT state FROM instances ORDER BY state`).toEqual([
    { state: 'adopted' },
    { state: 'live' },
  ])
})

async function someRows(ledger: Ledger, count: number): Promise<OpenRecord[]> {
  const opens = Array.from({ length: count }, () => anOpen())
  for (const open of opens) {
    await ledger.open(open)
    await ledger.close(open, aClose())
  }
  return opens
}

test('a usage query learns when the log is behind', async () => {
  const elsewhere = url
  url = url.replace(/:\d+\//, ':9/')
  ledger = startLedger({ SHIP_ON_QUERY_MS: '200' })
  await ledger.open(anOpen())
  expect(await ledger.shipNow()).toBe(false)
  await expect.poll(() => ledger.health().postgresAway, { timeout: patienceMs }).toContain('ECONNREFUSED')
  url = elsewhere
})

test('a shipper thread that ends during an outage is followed by one that reports the end of it', async () => {
  const wire = await startWire(url)
  url = wire.url
  const posts = vi.spyOn(Worker.prototype, 'postMessage')
  onTestFinished(() => posts.mockRestore())
  ledger = startLedger({ SHIP_INTERVAL_MS: '20' })
  expect(await ledger.shipNow()).toBe(true)
  const [thread] = posts.mock.contexts as Worker[]
  await wire.cut()
  await until(() => ledger.health().postgresAway !== undefined)
  await thread?.terminate()
  expect(ledger.health().postgresAway).toBeDefined()
  await wire.mend()
  await until(() => ledger.health().postgresAway === undefined)
  expect(logged.filter((line) => line.startsWith('Postgres accepts'))).toHaveLength(1)
})

test('a journal that cannot be shipped grows to about twice its bound, and still counts every refusal', async () => {
  const journalBytesMax = 100_000
  const bounds = { ...readConfig({}).bounds, journalBytesMax }
  const away = { databaseUrl: 'postgres://nobody@127.0.0.1:9/none', instanceId: randomUUIDv7() }
  ledger = Ledger.start({
    dataDir: home,
    durability: 'journal',
    sync: 'process',
    bounds,
    clock: systemClock,
    log,
    onCut: () => {},
    ...away,
  })
  const keyId = randomUUIDv7()
  const refused = aClose({ status: 503, attempts: [] })
  for (let i = 0; i < 2_000; i++) await ledger.refuse(anOpen({ keyId }), refused)
  const reached = ledger.health().journalBytes
  expect(reached).toBeGreaterThan(journalBytesMax)
  expect(reached).toBeLessThan(2 * journalBytesMax + 2_000)
  expect(() => ledger.requireRoom()).toThrow(expect.objectContaining({ reason: 'journal_full' }))
  for (let i = 0; i < 2_000; i++) await ledger.refuse(anOpen({ keyId }), refused)
  expect(ledger.health().journalBytes).toBe(reached)
  // A row that releases a reservation is not folded.
  await ledger.refuse(anOpen({ keyId, reservedAccountId: randomUUIDv7() }), refused)
  expect(ledger.health().journalBytes).toBeGreaterThan(reached)
  await ledger.end(0)
  expect(foldedOnDisk().reduce((sum, folded) => sum + folded, 0)).toBe(4_001)
  ledger = startLedger()
})

async function aRow(body = Buffer.from('{}')): Promise<void> {
  const open = anOpen({ body })
  await ledger.open(open)
  await ledger.close(open, aClose())
}

/** Locks the usage log against writes until `release`. `awaited` resolves when somebody tries to write it. */
async function lockRequests(): Promise<{ awaited(): Promise<void>; release(): Promise<unknown> }> {
  let unlock = () => {}
  const unlocked = new Promise<void>((resolve) => {
    unlock = resolve
  })
  let held: Promise<unknown> = Promise.resolve()
  await new Promise<void>((locked) => {
    held = database.sql.begin(async (sql) => {
      await sql`LOCK TABLE requests`
      locked()
      await unlocked
    })
  })
  const waiting = () => database.sql`SELECT 1 FROM pg_locks WHERE NOT granted`
  return {
    awaited: () => expect.poll(waiting, { timeout: patienceMs }).not.toEqual([]),
    release() {
      unlock()
      return held
    },
  }
}

/** Resolves once the ledger has asked its shipper to end. The returned function waits for that end. */
async function endIsAsked(deadlineMs: number): Promise<() => Promise<void>> {
  const posted = vi.spyOn(Worker.prototype, 'postMessage')
  const ended = ledger.end(deadlineMs)
  await expect
    .poll(() => posted.mock.calls, { timeout: patienceMs })
    .toContainEqual([{ type: 'end', deadlineMs }])
  posted.mockRestore()
  return () => ended
}

/** The number of requests that each row in the journal counts. */
function foldedOnDisk(): number[] {
  return segments().flatMap((name) => {
    const bytes = readFileSync(join(home, 'journal', name))
    const folded: number[] = []
    for (let at = 0; ; ) {
      const frame = readFrame(bytes, at)
      if (typeof frame === 'string') return folded
      if (frame.kind === 'close') {
        folded.push(columnsIn(bytes, frame.halfAt, ownLayout.close).folded?.readInt32BE() ?? 0)
      }
      at += frame.bytes
    }
  })
}

function segments(): string[] {
  return readdirSync(join(home, 'journal'), { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.log'))
}

async function anAccount(balance: bigint): Promise<string> {
  const id = randomUUIDv7()
  await database.sql`INSERT INTO tenants (id, name, managed_by) VALUES (${id}, ${id}, 'admin')`
  await database.sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${id}, true, ${balance.toString()})`
  return id
}
