import { randomUUIDv7 } from 'node:crypto'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { Commits } from '../../src/journal/commits.ts'
import { Journal } from '../../src/journal/journal.ts'
import { claimJournalDirectory } from '../../src/journal/journal-directory.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { Disk } from '../../src/runtime/disk.ts'
import { Adopter } from '../../src/shipping/adopter.ts'
import { runWithCopies } from '../../src/shipping/copy-query.ts'
import { endLost } from '../../src/shipping/end-lost.ts'
import { registerInstance, registration, sendHeartbeat, sessionName } from '../../src/shipping/instances.ts'
import { Ledger } from '../../src/shipping/ledger.ts'
import { Ownership } from '../../src/shipping/ownership.ts'
import { Succession } from '../../src/shipping/succession.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { aClose, anOpen } from '../support/records.ts'
import { patienceMs, until } from '../support/until.ts'

/** What may go wrong while a journal, or the money of a process, passes from one id to another. */

const patient = { timeout: patienceMs }
let home: string
let root: string
let url: string
let drop: () => Promise<void>
let database: Database
let clients: Client[]

beforeEach(async () => {
  home = fs.mkdtempSync(join(tmpdir(), 'tollgate-hand-over-'))
  root = join(home, 'journal')
  clients = []
  ;({ url, drop } = await freshDatabase())
  database = openDatabase(url)
})
afterEach(async () => {
  await Promise.all(clients.map((client) => client.end().catch(() => {})))
  await database.close()
  await drop()
  fs.rmSync(home, { recursive: true, force: true })
})

async function connect(options: object = {}): Promise<Client> {
  const client = new Client({ connectionString: url, ...options })
  client.on('error', () => {})
  clients.push(client)
  await client.connect()
  return client
}

function journalIn(directory: string, disk: Partial<Disk> = {}): Journal {
  const bounds = { segmentBytes: 2 ** 20, bytesMax: 2 ** 20 }
  return new Journal({ directory, sync: 'process', ...bounds, onTrouble: () => {}, disk: { ...fs, ...disk } })
}

/** A disk that takes nothing while `full` is set. */
function fillableDisk() {
  const state = { full: false }
  const writeSync = ((...parts: Parameters<typeof fs.writeSync>) => {
    if (state.full) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
    return fs.writeSync(...parts)
  }) as typeof fs.writeSync
  return { state, disk: { writeSync } }
}

function startLedger(durability: 'journal' | 'postgres'): Ledger {
  return Ledger.start({
    dataDir: home,
    databaseUrl: url,
    instanceId: randomUUIDv7(),
    durability,
    sync: 'process',
    bounds: readConfig({ SHIP_INTERVAL_MS: '20', INSTANCE_DEAD_MS: '3000' }).bounds,
    clock: systemClock,
    log: silentLog,
    onCut: () => {},
  })
}

test('a process that is heard of again while its journal is read is not adopted', async () => {
  const instanceId = randomUUIDv7()
  const directory = claimJournalDirectory(root, instanceId)
  fs.writeFileSync(join(directory, 'owner.json'), '{"host":"elsewhere"}')
  await journalIn(directory).open(anOpen())
  const client = await connect()
  const owner = { instanceId, pid: 1, durability: 'journal' } as const
  await client.query(registerInstance, registration(owner))
  await client.query(`UPDATE instances SET heartbeat_at = now() - interval '1 hour'`)
  const logged: string[] = []
  const adopter = new Adopter({
    root,
    instanceId: randomUUIDv7(),
    instanceDeadMs: 1,
    keepMs: 1000,
    batchBytes: 65_536,
    clock: systemClock,
    log: relayLog((_level, fields) => void logged.push(JSON.stringify(fields))),
    onAdopted: () => {},
    onChange: () => {},
  })
  await database.sql`SELECT pg_sleep(0.01)`
  expect(await adopter.step(client)).toBe(true)
  // A clock that is an hour ahead stands for a heartbeat that is young throughout.
  expect(await sendHeartbeat(client, owner)).toBe('live')
  await client.query(`UPDATE instances SET heartbeat_at = now() + interval '1 hour'`)
  while (await adopter.step(client));
  expect(await database.sql`SELECT outcome FROM requests`).toEqual([])
  expect(await database.sql`SELECT state FROM instances`).toEqual([{ state: 'live' }])
  expect(logged.join()).toContain('has been heard from again')
})

test('after a hand-over the session in Postgres has the name of the new id', async () => {
  const ledger = startLedger('journal')
  try {
    // Before that, Postgres may not know the process yet.
    await expect.poll(() => ledger.shipNow(), patient).toBe(true)
    const { id } = ledger.instance
    await database.sql`UPDATE instances SET state = 'adopted' WHERE id = ${id}`
    await expect.poll(() => ledger.instance.id, patient).not.toBe(id)
    const names = async () =>
      (
        await database.sql`SELECT application_name AS name FROM pg_stat_activity WHERE application_name LIKE 'tollgate shipper%'`
      ).map(({ name }) => name)
    await expect.poll(names, patient).toContain(sessionName(ledger.instance.id))
  } finally {
    await ledger.end(3_000)
  }
})

test('a journal that could not be begun is begun when the disk takes it', () => {
  vi.useFakeTimers()
  try {
    const posted: object[] = []
    const instanceId = randomUUIDv7()
    let fails = 0
    const ownership = new Ownership({
      root,
      directory: claimJournalDirectory(root, instanceId),
      instanceId,
      instanceDeadMs: 30_000,
      waitMs: 1_000,
      journalIn: (directory) => {
        const journal = journalIn(directory)
        if (fails-- > 0) throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC' })
        return journal
      },
      post: (message) => posted.push(message),
      onBegin: () => {},
      onCut: () => {},
      onTrouble: () => {},
      clock: systemClock,
      log: silentLog,
    })
    fails = 1
    ownership.begin(randomUUIDv7())
    expect(posted).toEqual([])
    vi.advanceTimersByTime(1_500)
    expect(posted).toEqual([expect.objectContaining({ type: 'tail' })])
  } finally {
    vi.useRealTimers()
  }
})

test('a journal is carried over when the one that followed it has its frames, not when a later one has none', async () => {
  const posted: object[] = []
  const { state, disk } = fillableDisk()
  const ids = [randomUUIDv7(), randomUUIDv7(), randomUUIDv7()] as const
  const ownership = new Ownership({
    root,
    directory: claimJournalDirectory(root, ids[0]),
    instanceId: ids[0],
    instanceDeadMs: 30_000,
    waitMs: 60_000,
    journalIn: (directory) => journalIn(directory, directory.includes(ids[1]) ? disk : {}),
    post: (message) => message.type === 'carried' && posted.push(message),
    onBegin: () => {},
    onCut: () => {},
    onTrouble: () => {},
    clock: systemClock,
    log: silentLog,
  })
  ownership.begin(ids[1])
  state.full = true
  ownership.carry(Buffer.from('some frames'))
  ownership.decide([])
  await until(() => ownership.journal.progress.kept > 0)
  // It is adopted before the disk has taken the frames.
  ownership.begin(ids[2])
  ownership.decide([])
  await until(() => posted.length > 0)
  expect(posted).toEqual([{ type: 'carried', instanceId: ids[1] }])
  await ownership.end()
})

test('a row that waits in memory for a full disk does not count as committed', async () => {
  const { state, disk } = fillableDisk()
  const journal = journalIn(claimJournalDirectory(root, randomUUIDv7()), disk)
  const commits = new Commits({ progress: () => journal.progress, ask: () => {}, admitMs: 50, durableMs: 50 })
  const open = anOpen()
  await journal.open(open)
  journal.shippedTo({ segment: 0, at: journal.progress.written })
  await commits.opened(open)
  state.full = true
  await journal.close(open, aClose())
  expect(journal.progress.kept).toBeGreaterThan(0)
  await commits.closed(open)
  expect(commits.late).toBe(1)
})

test('frames are carried over once, also when the folder for late ones cannot be made at first', async () => {
  const instanceId = randomUUIDv7()
  const journal = journalIn(claimJournalDirectory(root, instanceId))
  const [orphaned, other] = [anOpen(), anOpen()]
  for (const open of [orphaned, other]) await journal.open(open)
  for (const open of [orphaned, other]) await journal.close(open, aClose())
  await database.sql`
    INSERT INTO requests (id, created_at, endpoint, outcome, usage_source, stream, status, attempt_count, total_ms)
    VALUES (${orphaned.id}, uuid_moment(${orphaned.id}), '/x', 'orphaned', 'none', false, 500, 0, 0)`
  const folder = join(home, 'a-file')
  fs.writeFileSync(folder, '')
  const carried: number[] = []
  const client = await connect()
  const succession = new Succession({
    root: folder,
    instanceId,
    newInstanceId: randomUUIDv7(),
    pid: 1,
    durability: 'journal',
    batchBytes: 65_536,
    position: { segment: 0, at: 0 },
    open: new Map(),
    clock: systemClock,
    log: silentLog,
    begin: () => {},
    carry: (frames) => carried.push(frames.length),
  })
  succession.setTail({ segments: journal.leave().segments })
  for (let turn = 0; turn < 3; turn++) await expect(succession.run(client)).rejects.toThrow()
  expect(carried).toEqual([])
  fs.rmSync(folder)
  fs.mkdirSync(folder)
  await succession.run(client)
  expect(carried).toHaveLength(1)
  expect(fs.readdirSync(folder)).toHaveLength(1)
})

test('an answer whose request was orphaned while it waited for its commit ends with an error', async () => {
  const ledger = startLedger('postgres')
  try {
    const open = anOpen()
    await ledger.open(open)
    await ledger.opened(open)
    const [blocker, other] = [await connect(), await connect()]
    await blocker.query('BEGIN')
    await blocker.query('LOCK TABLE journal_positions IN EXCLUSIVE MODE')
    const ended = ledger.close(open, aClose()).then(
      () => 'good',
      (error) => String(error),
    )
    await expect
      .poll(
        () =>
          database.sql`SELECT FROM pg_stat_activity WHERE query LIKE 'BEGIN; SELECT move%' AND wait_event_type = 'Lock'`,
        patient,
      )
      .toHaveLength(1)
    await database.sql`UPDATE instances SET heartbeat_at = now() - interval '1 hour'`
    const lost: number[] = []
    await endLost(other, {
      instanceId: randomUUIDv7(),
      instanceDeadMs: 3_000,
      log: silentLog,
      onLost: (orphans) => lost.push(orphans.length),
    })
    expect(lost).toEqual([1])
    expect(await database.sql`SELECT state FROM instances`).toEqual([{ state: 'lost' }])
    await blocker.query('ROLLBACK')
    expect(await ended).toContain('recorded this request as lost')
    expect(await database.sql`SELECT outcome FROM requests`).toEqual([{ outcome: 'orphaned' }])
  } finally {
    await ledger.end(3_000)
  }
})

test('a shipment waits for each answer of Postgres, not for all of them together', async () => {
  const client = await connect({ query_timeout: 2_000 })
  const inputs = Array.from({ length: 50 }, () => Buffer.alloc(1))
  // pg alone would wait two seconds for each of them.
  const given = runWithCopies(client, ['SELECT pg_sleep(60)'], inputs)
  await expect(given).rejects.toThrow('Query read timeout')
  expect(
    await database.sql`SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)' AND state = 'active'`,
  ).toHaveLength(1)
})

test('money that a process reserved after it was adopted is released when none of its calls can run', async () => {
  const [instance, account] = [randomUUIDv7(), randomUUIDv7()]
  await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instance}, 'h', 1, now(), now(), 'adopted')`
  await database.sql`INSERT INTO tenants (id, name, managed_by) VALUES (${account}, 'a tenant', 'admin')`
  await database.sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${account}, true, 1000)`
  await database.sql`SELECT reserve_money(${instance}, ${[randomUUIDv7()]}::uuid[], ${[account]}::uuid[], ${[randomUUIDv7()]}::uuid[], ${[randomUUIDv7()]}::uuid[], ${['100']}::bigint[])`
  const held = () => database.sql`SELECT reserved_nano FROM accounts`
  const retire = () => database.sql`SELECT retire_silent_instances(${randomUUIDv7()}, 60000)`
  await retire()
  expect(await held()).toEqual([{ reserved_nano: '100' }])
  await database.sql`UPDATE reservations SET created_at = now() - interval '2 minutes'`
  await retire()
  expect(await held()).toEqual([{ reserved_nano: '0' }])
  expect(await database.sql`SELECT FROM reservations`).toHaveLength(0)
})
