import type { TransactionSql } from 'postgres'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import { relayLog, silentLog } from '../../src/telemetry/relay-log.ts'
import { keepPartitions, rollPartitions } from '../../src/usage/partitions.ts'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const plan = {
  partitionsAheadDays: 4,
  requestRetentionDays: 90,
  payloadRetentionDays: 30,
  answerRetentionDays: 10,
}
const tables = ['requests', 'request_tags', 'attempts', 'request_payloads', 'request_answers']
const minuteMs = 60_000
const dayMs = 86_400_000
const nothing = { made: 0, dropped: 0, postponed: 0 }

let database: Database
let fresh: Awaited<ReturnType<typeof freshDatabase>>
beforeEach(async () => {
  fresh = await freshDatabase()
  database = openDatabase(fresh.url, { max: 3 })
  // Fresh databases are copies of one from the start of the test run, which may have been yesterday.
  for (const table of tables) {
    for (const day of await partitions(table)) {
      if (!day.endsWith('_default')) await database.sql`DROP TABLE ${database.sql(day)}`
    }
  }
  await rollPartitions(database.sql, { ...plan, partitionsAheadDays: 1 })
})
afterEach(async () => {
  await database.close()
  await fresh.drop()
})

test('a pass makes the partitions of the next days for all five tables once', async () => {
  await rollPartitions(database.sql, plan)
  for (const table of tables) {
    expect(await partitions(table)).toEqual([
      ...[0, 1, 2, 3, 4].map((n) => `${table}_${stamp(n)}`),
      `${table}_default`,
    ])
  }
  expect(await rollPartitions(database.sql, plan)).toEqual(nothing)
})

test('rows without a partition move to a new one unchanged', async () => {
  await insert(3, 'a')
  await insert(3, 'b')
  await insert(-5, 'c')
  await insert(0, 'd')
  expect(await tablesOf()).toEqual({
    a: 'requests_default',
    b: 'requests_default',
    c: 'requests_default',
    d: `requests_${stamp(0)}`,
  })
  const before = await database.sql`select * from requests order by user_agent`
  await rollPartitions(database.sql, plan)
  expect(await tablesOf()).toEqual({
    a: `requests_${stamp(3)}`,
    b: `requests_${stamp(3)}`,
    c: `requests_${stamp(-5)}`,
    d: `requests_${stamp(0)}`,
  })
  expect(await database.sql`select * from requests order by user_agent`).toEqual(before)
  await insert(3, 'e')
  expect((await tablesOf()).e).toBe(`requests_${stamp(3)}`)
})

test('rows can arrive while their partition is made', async () => {
  await insert(3, 'first')
  const writer = openDatabase(fresh.url, { max: 2 })
  onTestFinished(() => writer.close())
  const names = Array.from({ length: 40 }, (_, n) => `w${n}`)
  await Promise.all([rollPartitions(database.sql, plan), ...names.map((name) => insert(3, name, writer))])
  await rollPartitions(database.sql, plan)
  const tables = await tablesOf()
  expect(Object.keys(tables)).toHaveLength(41)
  expect(new Set(Object.values(tables))).toEqual(new Set([`requests_${stamp(3)}`]))
})

test('retention drops whole days, and payloads sooner than rows', async () => {
  for (const [days, name] of [
    [-100, 'ancient'],
    [-91, 'expired'],
    [-90, 'last'],
    [-31, 'bodiless'],
    [-30, 'whole'],
  ] as const) {
    await insert(days, name)
  }
  await rollPartitions(database.sql, plan)
  expect(Object.keys(await tablesOf()).sort()).toEqual(['bodiless', 'last', 'whole'])
  const payloads = await database.sql<{ body: string }[]>`select body from request_payloads`
  expect(payloads.map((row) => row.body)).toEqual(['whole'])
  expect(await partitions('request_payloads')).not.toContain(`request_payloads_${stamp(-31)}`)
})

test('while one process makes a pass, another one skips it', async () => {
  await database.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(7023912)`
    expect(await rollPartitions(database.sql, plan)).toEqual(nothing)
  })
})

test('a long reader keeps neither a pass nor writers waiting, and what was left is done after it', async () => {
  await insert(-100, 'expired')
  expect(
    await rollPartitions(database.sql, { ...plan, partitionsAheadDays: 1, requestRetentionDays: 365 }),
  ).toMatchObject({
    made: 2,
  })
  const writer = openedForTest()
  // As a pg_dump, which holds the locks of all tables until its end.
  await database.sql.begin(async (tx) => {
    await tx`select count(*) from requests`
    let passed = false
    const pass = rollPartitions(database.sql, plan).finally(() => {
      passed = true
    })
    let written = 0
    while (!passed) {
      await writer.sql.begin(async (write) => {
        // A writer that waits for as long as the reader reads would fail.
        await write`set local lock_timeout = '2s'`
        await insertRow(write, 0, `w${written++}`)
      })
    }
    // The other tables have no reader.
    expect(await pass).toEqual({ made: 12, dropped: 0, postponed: 4 })
    expect(written).toBeGreaterThan(0)
    expect(await partitions('requests')).not.toContain(`requests_${stamp(4)}`)
  })
  expect(await rollPartitions(database.sql, plan)).toEqual({ made: 3, dropped: 1, postponed: 0 })
  expect(await partitions('requests')).toContain(`requests_${stamp(4)}`)
  expect(await tablesOf()).not.toHaveProperty('expired')
})

test('a start does not wait for a long reader, and its rows wait in the DEFAULT partition', async () => {
  await database.sql`DROP TABLE ${database.sql(`requests_${stamp(0)}`)}`
  await database.sql.begin(async (tx) => {
    await tx`select count(*) from requests`
    await prepareDatabase(fresh.url)
    await insert(0, 'waits', openedForTest())
  })
  expect(await tablesOf()).toEqual({ waits: 'requests_default' })
  await rollPartitions(database.sql, plan)
  expect(await tablesOf()).toEqual({ waits: `requests_${stamp(0)}` })
})

test('the upkeep of partitions begins with a pass and reports what it did', async () => {
  const lines: string[] = []
  const keeper = keepPartitions(
    database,
    { ...plan, entryRetentionMonths: 0 },
    systemClock,
    relayLog((_level, _fields, line) => void lines.push(line)),
  )
  onTestFinished(() => keeper.stop())
  await until(() => lines.length > 0)
  expect(lines[0]).toBe('usage log: 15 daily partitions created, 0 dropped')
})

test('a pass over the entries that another process has claimed is made up for within a minute: that process may end undone', async () => {
  await database.sql`SELECT claim_sweep('entries', 20000)`
  const timers = vi.spyOn(globalThis, 'setTimeout')
  onTestFinished(() => timers.mockRestore())
  const keeper = keepPartitions(database, { ...plan, entryRetentionMonths: 0 }, systemClock, silentLog)
  onTestFinished(() => keeper.stop())
  const untilNextMs = await until(() => timers.mock.calls.find(([then]) => then.name === 'pass')?.[1])
  expect(untilNextMs).toBeLessThanOrEqual(minuteMs)
})

/** Writes a row of the usage log with a payload, `days` from now (UTC). user_agent and body contain `name`. */
async function insert(days: number, name: string, { sql }: Database = database): Promise<void> {
  await sql.begin((tx) => insertRow(tx, days, name))
}

function openedForTest(): Database {
  const other = openDatabase(fresh.url, { max: 1 })
  onTestFinished(() => other.close())
  return other
}

async function insertRow(tx: TransactionSql, days: number, name: string): Promise<void> {
  const createdAt = new Date(Date.now() + days * dayMs)
  const [row] = await tx<{ id: string }[]>`
    insert into requests (id, created_at, endpoint, stream, status, outcome, usage_source, attempt_count, user_agent)
    values (gen_random_uuid(), ${createdAt}, '/v1/messages', false, 200, 'ok', 'upstream', 1, ${name}) returning id`
  await tx`insert into request_payloads (request_id, created_at, capture, body)
    values (${row?.id ?? ''}, ${createdAt}, 'content', ${name})`
}

async function tablesOf(): Promise<Record<string, string>> {
  const rows = await database.sql<{ name: string; place: string }[]>`
    select user_agent as name, tableoid::regclass::text as place from requests order by 1`
  return Object.fromEntries(rows.map((row) => [row.name, row.place]))
}

async function partitions(table: string): Promise<string[]> {
  const rows = await database.sql<{ name: string }[]>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = ${table}::regclass order by 1`
  return rows.map((row) => row.name)
}

function stamp(days: number): string {
  return new Date(Date.now() + days * dayMs).toISOString().slice(0, 10).replaceAll('-', '')
}
