import { randomUUIDv7 } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/config/config.ts'
import { Journal } from '../../src/journal/journal.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { Ledger } from '../../src/shipping/ledger.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { aClose, anOpen } from '../support/records.ts'
import { patienceMs } from '../support/until.ts'

const minuteMs = 60_000

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

test('the money that a process held is released when it has been silent for long enough, and not before', async () => {
  const account = await anAccount()
  const [lost, silent, live, caller] = [31, 30, 0, 31].map((minutes) => ({ id: randomUUIDv7(), minutes }))
  for (const { id, minutes } of [lost, silent, live, caller].flatMap((one) => one ?? [])) {
    await anInstance(id, minutes)
    await aHold(id, account)
  }
  const retire = () =>
    database.sql`SELECT retire_silent_instances(${caller?.id ?? ''}, ${30.5 * minuteMs}) AS id`
  expect(await retire()).toMatchObject([{ id: lost?.id }])
  expect(await retire()).toEqual([])
  expect(await database.sql`SELECT id FROM instances WHERE state = 'lost'`).toMatchObject([{ id: lost?.id }])
  expect(await database.sql`SELECT reserved_nano FROM accounts`).toMatchObject([{ reserved_nano: '300' }])
  expect(await brokenRules()).toEqual([])
})

test('what a process held is not released while another one adopts its journal', async () => {
  const account = await anAccount()
  const lost = randomUUIDv7()
  await anInstance(lost, 31)
  await aHold(lost, account)
  const adopter = openDatabase(url, { max: 1 })
  await adopter.sql`SELECT pg_advisory_lock(hashtextextended(${lost}, 7))`
  const retire = () => database.sql`SELECT retire_silent_instances(${randomUUIDv7()}, ${30 * minuteMs}) AS id`
  expect(await retire()).toEqual([])
  expect(await database.sql`SELECT reserved_nano FROM accounts`).toMatchObject([{ reserved_nano: '100' }])
  await adopter.close()
  await expect.poll(retire).toMatchObject([{ id: lost }])
})

test('a process releases what silent ones hold after UPSTREAM_TOTAL_MS and INSTANCE_DEAD_MS, not sooner', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-lost-'))
  const account = await anAccount()
  const [lost, silent] = [randomUUIDv7(), randomUUIDv7()]
  await anInstance(lost, 61)
  await anInstance(silent, 50)
  await aHold(lost, account)
  await aHold(silent, account)
  const ledger = startLedger(home, {
    INSTANCE_DEAD_MS: '1000',
    UPSTREAM_TOTAL_MS: String(60 * minuteMs),
  })
  try {
    const reserved = async () => (await database.sql`SELECT reserved_nano FROM accounts`)[0]?.reserved_nano
    await expect.poll(reserved, { timeout: patienceMs }).toBe('100')
    expect(await database.sql`SELECT id FROM instances WHERE state = 'lost'`).toMatchObject([{ id: lost }])
  } finally {
    await ledger.end(5_000)
    rmSync(home, { recursive: true, force: true })
  }
})

test('a process that was lost for a while goes on: no one has its journal', async () => {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-lost-'))
  const instanceId = randomUUIDv7()
  const state = async () =>
    (await database.sql`SELECT state FROM instances WHERE id = ${instanceId}`)[0]?.state
  await anInstance(instanceId, 0)
  await database.sql`UPDATE instances SET state = 'lost' WHERE id = ${instanceId}`
  const ledger = startLedger(home, {}, instanceId)
  try {
    await expect.poll(state, { timeout: patienceMs }).toBe('live')
    const open = anOpen()
    await ledger.open(open)
    await ledger.close(open, aClose())
    expect(await ledger.shipNow()).toBe(true)
    expect(await database.sql`SELECT id FROM requests`).toMatchObject([{ id: open.id }])
    expect(ledger.instance.id).toBe(instanceId)
  } finally {
    await ledger.end(5_000)
    rmSync(home, { recursive: true, force: true })
  }
})

test('the journal of a lost process is still shipped completely when it returns, charged once, and nothing is released again', async () => {
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
  const account = await anAccount()
  const paid = { tenantId: account, reservedAccountId: account }
  const [ended, running] = [anOpen(paid), anOpen(paid)]
  await journal.open(ended)
  await journal.close(ended, aClose({ accountId: account, costNano: 30n }))
  await journal.open(running)
  await journal.end()
  await anInstance(instance, 31)
  await aHold(instance, account, ended.id)
  await aHold(instance, account, running.id)
  const money = () => database.sql`SELECT reserved_nano, balance_nano FROM accounts`
  expect(await money()).toMatchObject([{ reserved_nano: '200', balance_nano: '1000' }])
  await database.sql`SELECT retire_silent_instances(${randomUUIDv7()}, ${30.5 * minuteMs})`
  expect(await money()).toMatchObject([{ reserved_nano: '0', balance_nano: '1000' }])
  // What another process holds now must stay.
  const other = randomUUIDv7()
  await anInstance(other, 0)
  await aHold(other, account)

  const ledger = startLedger(home, { INSTANCE_DEAD_MS: '1000', JOURNAL_KEEP_MS: '0' })
  try {
    const state = async () =>
      (await database.sql`SELECT state FROM instances WHERE id = ${instance}`)[0]?.state
    await expect.poll(state, { timeout: patienceMs }).toBe('adopted')
    expect(await database.sql`SELECT id, outcome FROM requests ORDER BY outcome DESC`).toMatchObject([
      { id: ended.id, outcome: 'succeeded' },
      { id: running.id, outcome: 'orphaned' },
    ])
    expect(await money()).toMatchObject([{ reserved_nano: '100', balance_nano: '970' }])
    expect(await brokenRules()).toEqual([])
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

/** A reservation of 100. */
async function aHold(instance: string, account: string, request: string = randomUUIDv7()): Promise<void> {
  await database.sql`SELECT reserve_money(${instance}, ${[request]}::uuid[], ${[account]}::uuid[], ${[randomUUIDv7()]}::uuid[], ${[randomUUIDv7()]}::uuid[], ${['100']}::bigint[])`
}

function startLedger(home: string, environment: Record<string, string>, instanceId = randomUUIDv7()): Ledger {
  const { bounds } = readConfig(environment)
  const sync = 'process'
  return Ledger.start({
    dataDir: home,
    databaseUrl: url,
    instanceId,
    durability: 'journal',
    sync,
    bounds,
    clock: systemClock,
    log: silentLog,
    onCut: () => {},
  })
}

async function anInstance(id: string, silentMinutes: number): Promise<void> {
  await database.sql`
    INSERT INTO instances (id, host, pid, started_at, heartbeat_at, state)
    VALUES (${id}, 'elsewhere', 1, now() - interval '2 days', now() - make_interval(mins => ${silentMinutes}), 'live')`
}

async function brokenRules() {
  const { findings } = await verifyLedger(database.sql)
  return findings.filter(({ differences }) => differences > 0)
}
