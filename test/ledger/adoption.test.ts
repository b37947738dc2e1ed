import { randomUUIDv7 } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { readFrame } from '../../src/journal/frame.ts'
import { Journal } from '../../src/journal/journal.ts'
import {
  claimJournalDirectory,
  journalOwner,
  listSegments,
  segmentName,
} from '../../src/journal/journal-directory.ts'
import { ownLayout } from '../../src/journal/layout.ts'
import type { OpenRecord } from '../../src/journal/record.ts'
import { uuidText } from '../../src/journal/tuple.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { ownerText } from '../../src/runtime/owner.ts'
import { sessionName } from '../../src/shipping/instances.ts'
import { Ledger } from '../../src/shipping/ledger.ts'
import { relayLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { secretKey } from '../support/gateway-yaml.ts'
import { aClose, anOpen } from '../support/records.ts'
import { startTollgate } from '../support/tollgate.ts'
import { patienceMs, until } from '../support/until.ts'

/** Which journals a process adopts, and that nothing which happens to a journal ends a healthy process. */

let home: string
let url: string
let drop: () => Promise<void>
let database: Database
let logged: string[]
let fenced: string[]
const ledgers: Ledger[] = []

const patient = { timeout: patienceMs }

function startLedger(environment: Record<string, string> = {}, instanceId = randomUUIDv7()): Ledger {
  const ledger = Ledger.start({
    dataDir: home,
    databaseUrl: url,
    instanceId,
    durability: 'journal',
    sync: 'process',
    bounds: readConfig({
      SHIP_ON_QUERY_MS: '30000',
      SHIP_INTERVAL_MS: '20',
      INSTANCE_DEAD_MS: '1000',
      JOURNAL_SEGMENT_BYTES: '65536',
      ...environment,
    }).bounds,
    clock: systemClock,
    log: relayLog((_level, fields, message) => void logged.push(`${message} ${JSON.stringify(fields)}`)),
    onCut: (_isCut, { message }) => fenced.push(message),
  })
  ledgers.push(ledger)
  return ledger
}

beforeEach(async () => {
  logged = []
  fenced = []
  home = mkdtempSync(join(tmpdir(), 'tollgate-adoption-'))
  ;({ url, drop } = await freshDatabase())
  database = openDatabase(url)
})
afterEach(async () => {
  await Promise.all(ledgers.splice(0).map((ledger) => ledger.end(2_000)))
  await database.close()
  await drop()
  rmSync(home, { recursive: true, force: true })
})

test('a journal whose process no one knows yet is left alone until that process was silent for its time', async () => {
  const { instance, directory } = await aForeignJournal()
  startLedger({ INSTANCE_DEAD_MS: '2000' })
  const known = () => database.sql`SELECT state, host FROM instances WHERE id = ${instance}`
  // Its own start was slower than the look of its neighbour. The neighbour notes it and waits.
  await expect.poll(known, patient).toEqual([{ state: 'live', host: '(not known)' }])
  for (let beat = 0; beat < 30; beat++) {
    await database.sql`UPDATE instances SET heartbeat_at = now() WHERE id = ${instance}`
    expect(existsSync(directory)).toBe(true)
    expect(await ids()).toEqual([])
    await database.sql`SELECT pg_sleep(0.2)`
  }
  // Now it is silent.
  await expect.poll(known, patient).toMatchObject([{ state: 'adopted' }])
  expect(await ids()).toHaveLength(2)
})

test('a process is known in Postgres before it makes its journal', async () => {
  // It cannot make one: the folder of journals is a file.
  writeFileSync(join(home, 'journal'), '')
  const start = startTollgate({
    databaseUrl: url,
    dataDir: home,
    gatewayYaml: '{}',
    env: { SECRET_KEY: secretKey },
  })
  await expect(start).rejects.toThrow('ENOTDIR')
  expect(await database.sql`SELECT state FROM instances`).toEqual([{ state: 'live' }])
})

test('a journal has its owner from its first moment, and one without an owner is not that of a dead process', () => {
  const directory = claimJournalDirectory(join(home, 'journal'), randomUUIDv7())
  expect(journalOwner(directory)).toBe('alive')
  rmSync(join(directory, 'owner.json'))
  expect(journalOwner(directory)).toBe('elsewhere')
})

test('a Postgres that lost its last commits gets them again, and no one ends', async () => {
  const ledger = startLedger()
  const requests = await someRows(ledger, 40)
  await ledger.shipNow()
  // As after a failover to a standby that was behind: rows and positions are of an earlier moment.
  const before = await database.sql`SELECT instance_id, segment, position FROM journal_positions`
  requests.push(...(await someRows(ledger, 80)))
  await ledger.shipNow()
  expect(await ids()).toEqual(idsOf(requests))
  await database.sql.begin(async (sql) => {
    const lost = requests.slice(40).map(({ id }) => id)
    await sql`DELETE FROM request_payloads WHERE request_id = ANY (${lost}::uuid[])`
    await sql`DELETE FROM attempts WHERE request_id = ANY (${lost}::uuid[])`
    await sql`DELETE FROM requests WHERE id = ANY (${lost}::uuid[])`
    await sql`DELETE FROM journal_positions`
    await sql`INSERT INTO journal_positions ${sql(before)}`
  })
  requests.push(...(await someRows(ledger, 5)))
  await ledger.shipNow()
  expect(await ids()).toEqual(idsOf(requests))

  // The same when even the rows of the process and of its positions are gone.
  await database.sql.begin(async (sql) => {
    for (const table of ['request_payloads', 'attempts', 'requests', 'journal_positions', 'instances']) {
      await sql`DELETE FROM ${sql(table)}`
    }
  })
  // Enough for a new segment.
  requests.push(...(await someRows(ledger, 80)))
  await ledger.shipNow()
  expect(await ids()).toEqual(idsOf(requests))
  expect(fenced).toEqual([])
  expect((await verifyLedger(database.sql)).findings.filter(({ differences }) => differences > 0)).toEqual([])
})

test('a fence in the journal of another process ends that adoption, not the process that adopts', async () => {
  const { instance, journal } = await aForeignJournal({ rows: 300 })
  await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instance}, 'elsewhere', 1, now(), now() - interval '1 hour', 'live')`
  // Its owner, which was only paused, goes on to ship at the same moment.
  await database.sql.unsafe(`CREATE FUNCTION in_between() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF new.instance_id = '${instance}' AND new.position > 40000 THEN RETURN NULL; END IF;
      RETURN new;
    END $$`)
  await database.sql`CREATE TRIGGER in_between BEFORE INSERT OR UPDATE ON journal_positions
    FOR EACH ROW EXECUTE FUNCTION in_between()`
  const ledger = startLedger({ SHIP_BATCH_BYTES: '65536' })
  await until(() => logged.some((line) => line.includes('cannot be adopted now')))
  const own = await someRows(ledger, 3)
  await ledger.shipNow()
  expect(
    await database.sql`SELECT id FROM requests WHERE id = ANY (${own.map(({ id }) => id)}::uuid[])`,
  ).toHaveLength(3)
  expect(fenced).toEqual([])
  expect(journal.bytes).toBeGreaterThan(40_000)
})

test('a process that freezes in the middle of a transaction keeps its adopter waiting for nothing', async () => {
  const { instance } = await aForeignJournal()
  await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instance}, 'elsewhere', 1, now(), now() - interval '1 hour', 'live')`
  const still = new Client({ connectionString: url, application_name: sessionName(instance) })
  still.on('error', () => {})
  await still.connect()
  await still.query('BEGIN')
  await still.query('INSERT INTO journal_positions (instance_id, segment, position) VALUES ($1, 0, 1)', [
    instance,
  ])
  startLedger()
  await until(() => logged.some((line) => line.startsWith('adopted the journal')))
  expect(await ids()).toHaveLength(2)
  await still.end().catch(() => {})
})

test('a request that began long before its journal was deleted has its beginning in the new one', async () => {
  const ledger = startLedger({ JOURNAL_KEEP_MS: '0' })
  const running = anOpen()
  await ledger.open(running)
  // Over several segments, which are shipped and deleted.
  await someRows(ledger, 100)
  await ledger.shipNow()
  rmSync(join(home, 'journal'), { recursive: true })
  await until(() => logged.some((line) => line.includes('the journal directory was deleted')))
  await until(() => opensOnDisk().includes(running.id))
  await ledger.close(running, aClose())
  const later = await someRows(ledger, 3)
  await ledger.shipNow()
  expect(await database.sql`SELECT DISTINCT endpoint, outcome FROM requests`).toEqual([
    { endpoint: running.endpoint, outcome: 'succeeded' },
  ])
  expect(await ids()).toEqual(expect.arrayContaining(idsOf([running, ...later])))
  expect(await ids()).toHaveLength(104)
})

/** The ids of the open frames in all journals. */
function opensOnDisk(): string[] {
  const root = join(home, 'journal')
  return readdirSync(root).flatMap((name) =>
    listSegments(join(root, name)).flatMap((segment) => {
      const bytes = readFileSync(join(root, name, segmentName(segment)))
      const opens: string[] = []
      for (let at = 0; at < bytes.length; ) {
        const frame = readFrame(bytes, at)
        if (typeof frame === 'string') break
        if (frame.kind === 'open') opens.push(uuidText(bytes.subarray(frame.idAt, frame.idAt + 16)))
        at += frame.bytes
      }
      return opens
    }),
  )
}

test('journals that cannot be read wait on disk, and those behind them are adopted', async () => {
  const later = { ...ownLayout, open: [...ownLayout.open, 'a_column_of_a_later_release'] }
  const columns = ['{"open":', 'null', '{"open":[]}', JSON.stringify(later), undefined]
  // The good one comes last.
  const names = await Promise.all(columns.map(() => aForeignJournal()))
  names.sort((a, b) => (a.directory < b.directory ? -1 : 1))
  for (const [i, { instance, directory }] of names.entries()) {
    const text = columns[i]
    if (text !== undefined) writeFileSync(join(directory, 'columns.json'), text)
    await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
      VALUES (${instance}, 'elsewhere', 1, now(), now() - interval '1 hour', 'live')`
  }
  startLedger()
  const adopted = () => database.sql`SELECT id FROM instances WHERE state = 'adopted'`
  await expect.poll(adopted, patient).toEqual([{ id: names.at(-1)?.instance }])
  for (const { directory } of names) expect(existsSync(directory)).toBe(true)
  expect(logged.filter((line) => line.includes('cannot be adopted now'))).toHaveLength(4)
})

test('a segment that is not a file, and a folder that cannot be changed, are named once and block their own journal alone', async () => {
  const [folder, damaged, good] = (await Promise.all([1, 2, 3].map(() => aForeignJournal()))).toSorted(
    (a, b) => (a.directory < b.directory ? -1 : 1),
  )
  if (folder === undefined || damaged === undefined || good === undefined) throw new Error('no journals')
  for (const { instance } of [folder, damaged, good]) {
    await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
      VALUES (${instance}, 'elsewhere', 1, now(), now() - interval '1 hour', 'live')`
  }
  rmSync(join(folder.directory, '00000000.log'))
  mkdirSync(join(folder.directory, '00000000.log'))
  // Bytes that are not a frame, and no place to set them aside: a file has the name of the folder.
  writeFileSync(join(damaged.directory, '00000000.log'), Buffer.alloc(100, 7))
  writeFileSync(join(home, 'journal', `set-aside-${damaged.instance}-0-0`), '')
  const ledger = startLedger({ SHIP_BATCH_BYTES: '65536' })
  const adopted = () => database.sql`SELECT id FROM instances WHERE state = 'adopted'`
  await expect.poll(adopted, patient).toEqual([{ id: good.instance }])
  const [own] = await someRows(ledger, 1)
  expect(await ledger.shipNow()).toBe(true)
  expect(await database.sql`SELECT id FROM requests WHERE id = ${own?.id ?? ''}`).toHaveLength(1)
  await until(() => logged.filter((line) => line.includes('cannot be adopted now')).length === 2)
  expect(logged.filter((line) => line.includes('cannot be shipped'))).toEqual([])
})

test('a journal that was shipped so long ago that its process is forgotten is deleted, not shipped again', async () => {
  const journals = await Promise.all([1, 2].map(() => aForeignJournal()))
  const [forgotten, recent] = journals
  if (forgotten === undefined || recent === undefined) throw new Error('no journals')
  for (const [{ directory }, days] of [
    [forgotten, 31],
    [recent, 29],
  ] as const) {
    const mark = join(directory, 'shipped')
    writeFileSync(mark, '')
    const moment = new Date(Date.now() - days * 24 * 60 * 60_000)
    utimesSync(mark, moment, moment)
  }
  startLedger()
  await until(() => !existsSync(forgotten.directory))
  // Postgres may have lost the other process with its last commits: it is noted, and adopted after its time.
  await until(() => logged.some((line) => line.startsWith('adopted the journal')))
  expect(await ids()).toHaveLength(2)
  expect(existsSync(join(recent.directory, 'shipped'))).toBe(true)
  expect(await database.sql`SELECT id FROM instances WHERE id = ${forgotten.instance}`).toEqual([])
})

test('a long journal of a dead process keeps no row of the living one waiting', async () => {
  const { instance } = await aForeignJournal({ rows: 3_000 })
  await database.sql`INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${instance}, 'elsewhere', 1, now(), now() - interval '1 hour', 'live')`
  const ledger = startLedger({ SHIP_BATCH_BYTES: '65536', INSTANCE_DEAD_MS: '1000' })
  const position = () => database.sql`SELECT 1 FROM journal_positions WHERE instance_id = ${instance}`
  await expect.poll(async () => (await position()).length, patient).toBeGreaterThan(0)
  const [own] = await someRows(ledger, 1)
  await ledger.shipNow()
  expect(await database.sql`SELECT id FROM requests WHERE id = ${own?.id ?? ''}`).toHaveLength(1)
  expect(await database.sql`SELECT state FROM instances WHERE id = ${instance}`).toEqual([{ state: 'live' }])
  await until(() => logged.some((line) => line.startsWith('adopted the journal')))
})

test('the journal of an ended process stays for its time, and is shipped again when Postgres loses the end', async () => {
  const first = startLedger({ JOURNAL_KEEP_MS: '60000' })
  const ended = await someRows(first, 10)
  await first.end(5_000)
  const [directory = ''] = readdirSync(join(home, 'journal'))

  expect(readdirSync(join(home, 'journal', directory))).toContain('shipped')
  await database.sql`DELETE FROM request_payloads`
  await database.sql`DELETE FROM attempts`
  await database.sql`DELETE FROM requests`
  await database.sql`DELETE FROM journal_positions`
  await database.sql`UPDATE instances SET state = 'live', heartbeat_at = now() - interval '1 hour'`
  // The owner of this test's journals lives. As that of a process that has ended:
  writeFileSync(join(home, 'journal', directory, 'owner.json'), JSON.stringify({ host: 'elsewhere' }))
  const second = startLedger({ JOURNAL_KEEP_MS: '60000' })
  await until(() => logged.some((line) => line.startsWith('adopted the journal')))
  expect(await ids()).toEqual(idsOf(ended))
  await second.end(5_000)
  startLedger({ JOURNAL_KEEP_MS: '0' })
  await until(() => readdirSync(join(home, 'journal')).length === 1)
})

test('the journal of a dead process of this machine is adopted once, also if Postgres does not know the process', async () => {
  const { instance, directory } = await aForeignJournal()
  // It had this pid, and began before the process that has it now.
  writeFileSync(
    join(directory, 'owner.json'),
    JSON.stringify({ ...JSON.parse(ownerText()), startTicks: '1' }),
  )
  startLedger({ JOURNAL_KEEP_MS: '0' })
  await until(() => !existsSync(directory))
  expect(logged.filter((line) => line.startsWith('adopted the journal'))).toHaveLength(1)
  expect(await ids()).toHaveLength(2)
  expect(await database.sql`SELECT state FROM instances WHERE id = ${instance}`).toEqual([
    { state: 'adopted' },
  ])
})

const ids = async () => {
  const rows = await database.sql<{ id: string }[]>`SELECT id FROM requests ORDER BY id`
  return rows.map(({ id }) => id)
}
const idsOf = (requests: readonly OpenRecord[]) => requests.map(({ id }) => id).toSorted()

async function someRows(ledger: Ledger, count: number): Promise<OpenRecord[]> {
  const opens = Array.from({ length: count }, () => anOpen({ body: Buffer.alloc(2_000, 'x') }))
  for (const open of opens) {
    await ledger.open(open)
    await ledger.close(open, aClose())
  }
  return opens
}

/** A journal of a process on another host, which has no row in Postgres. */
async function aForeignJournal({ rows: count = 2 } = {}) {
  const instance = randomUUIDv7()
  const directory = join(home, 'journal', instance)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'owner.json'), JSON.stringify({ host: 'elsewhere', pid: 1 }))
  const journal = new Journal({
    directory,
    sync: 'process',
    segmentBytes: 2 ** 24,
    bytesMax: 2 ** 30,
    onTrouble: () => {},
  })
  for (let i = 0; i < count; i++) {
    const open = anOpen()
    await journal.open(open)
    await journal.close(open, aClose())
  }
  await journal.end()
  return { instance, directory, journal }
}
