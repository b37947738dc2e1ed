import { randomUUIDv7 } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { Journal } from '../../src/ledger/journal.ts'
import { Ledger } from '../../src/ledger/ledger.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { aClose, anOpen } from '../support/records.ts'

let url: string
let drop: () => Promise<void>
let database: Database

beforeEach(async () => {
  ;({ url, drop } = await freshDatabase())
  database = openDatabase(url)
})
afterEach(async () => {
  await database.close()
  await drop()
})

test('the money that a process held is released when it has been silent for a day, and not before', async () => {
  const account = await anAccount()
  const [lost, silent, live, caller] = [30, 23, 0, 30].map((hours) => ({ id: randomUUIDv7(), hours }))
  for (const { id, hours } of [lost, silent, live, caller].flatMap((one) => one ?? [])) {
    await anInstance(id, hours)
    await database.sql`SELECT reserve_money(${id}, ${[randomUUIDv7()]}::uuid[], ${[account]}::uuid[], ${[randomUUIDv7()]}::uuid[], ${[randomUUIDv7()]}::uuid[], ${['100']}::bigint[])`
  }
  const retire = () => database.sql`SELECT retire_lost_instances(${caller?.id ?? ''}) AS id`
  expect(await retire()).toMatchObject([{ id: lost?.id }])
  expect(await retire()).toEqual([])
  expect(await database.sql`SELECT id FROM instances WHERE state = 'lost'`).toMatchObject([{ id: lost?.id }])
  expect(await database.sql`SELECT reserved_nano FROM accounts`).toMatchObject([{ reserved_nano: '300' }])
  expect(await brokenRules()).toMatchObject([
    { rule: 'every live process was heard of within the last hour', differences: 2 },
  ])
})

test('the journal of a lost process is still shipped completely when it returns', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-lost-'))
  const instance = randomUUIDv7()
  const directory = join(home, 'journal', instance)
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'owner.json'), JSON.stringify({ host: 'elsewhere', pid: 1 }))
  const journal = new Journal({
    directory,
    sync: 'process',
    segmentBytes: 1024 * 1024,
    bytesMax: 1024 * 1024,
    onTrouble: () => {},
  })
  const [ended, running] = [anOpen(), anOpen()]
  await journal.open(ended)
  await journal.close(ended, aClose())
  await journal.open(running)
  await journal.end()
  await anInstance(instance, 30)
  await database.sql`SELECT retire_lost_instances(${randomUUIDv7()})`

  const { bounds } = readConfig({ INSTANCE_DEAD_MS: '1000', JOURNAL_KEEP_MS: '0' })
  const ledger = Ledger.start({
    dataDir: home,
    databaseUrl: url,
    instanceId: randomUUIDv7(),
    durability: 'journal',
    sync: 'process',
    bounds,
    log: silentLog,
    onFenced: () => {},
  })
  try {
    const state = async () =>
      (await database.sql`SELECT state FROM instances WHERE id = ${instance}`)[0]?.state
    await expect.poll(state, { timeout: 10_000 }).toBe('adopted')
    expect(await database.sql`SELECT id, outcome FROM requests ORDER BY outcome DESC`).toMatchObject([
      { id: ended.id, outcome: 'succeeded' },
      { id: running.id, outcome: 'orphaned' },
    ])
  } finally {
    await ledger.end(5_000)
    rmSync(home, { recursive: true, force: true })
  }
})

test('ledger:verify reports a tag without its note, and a note without its request', async () => {
  const tagged = async () => {
    const id = randomUUIDv7()
    await database.sql`
      INSERT INTO requests (id, created_at, tenant_id, endpoint, stream, status, outcome, usage_source, attempt_count, tags)
      VALUES (${id}, uuid_moment(${id}), ${id}, '/', false, 200, 'succeeded', 'none', 0, '{a,b}')`
    return id
  }
  const [unnoted, gone] = [await tagged(), await tagged()]
  expect(await brokenRules()).toEqual([])
  await database.sql`DELETE FROM request_tags WHERE request_id = ${unnoted} AND tag = 'a'`
  await database.sql`DELETE FROM requests WHERE id = ${gone}`
  const [finding, ...others] = await brokenRules()
  expect(others).toEqual([])
  expect(finding?.rule).toBe('every request is found by its tags, and by no others')
  expect(finding?.samples.sort()).toEqual([`${unnoted} tag a`, `${gone} tag a`, `${gone} tag b`].sort())
})

async function anAccount(): Promise<string> {
  const id = randomUUIDv7()
  await database.sql`INSERT INTO tenants (id, name, managed_by) VALUES (${id}, ${id}, 'admin')`
  await database.sql`INSERT INTO accounts (id, limited, balance_nano) VALUES (${id}, true, 1000)`
  await database.sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano) VALUES (${randomUUIDv7()}, ${id}, now(), 'opening', 1000)`
  return id
}

async function anInstance(id: string, silentHours: number): Promise<void> {
  await database.sql`
    INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${id}, 'elsewhere', 1, now() - interval '2 days', now() - make_interval(hours => ${silentHours}), 'live')`
}

async function brokenRules() {
  const { findings } = await verifyLedger(database.sql)
  return findings.filter(({ differences }) => differences > 0)
}
