import { randomUUIDv7 } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { expect, onTestFinished, test } from 'vitest'
import { openBalance } from '../../src/access/queries.ts'
import { keepEntryMonths } from '../../src/db/entry-months.ts'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { idAt, moneyOf } from '../ledger/money-bed.ts'
import { type Database, emptyDatabase, openDatabase } from '../support/database.ts'
import { entryTables, midMonth, monthAt, tableOf } from '../support/entry-months.ts'
import { formerDatabase } from '../support/former-database.ts'
import { patienceMs } from '../support/until.ts'
import { wholeReads } from '../support/whole-reads.ts'

const before = 'entries_before'
const other = 'entries_default'

test('a new database has months from its first start on', async () => {
  const { database } = await opened(emptyDatabase)
  expect(Object.keys(await entryTables(database.sql))).toEqual([tableOf(0), tableOf(1), before, other])
  expect(await brokenRules(database)).toEqual([])
})

test('the table of the former release becomes the first month while its processes write, and no charge waits or is lost', {
  timeout: 180_000,
}, async () => {
  const { database, url } = await opened(formerDatabase)
  const { sql } = database
  const accounts = await anAccountEach(database, 3)
  await manyEntries(database, accounts[0] ?? '', 20_000)
  const writers = await Promise.all(accounts.map((account) => aFormerProcess(url, account)))
  let going = true
  const writing = writers.map(async (writer) => {
    while (going) {
      await writer.write()
      // Without a break, writers on a busy machine may leave no 50 ms in which a lock is free.
      await sql`SELECT pg_sleep(0.02)`
    }
  })
  const atLeast = (rounds: number) =>
    expect
      .poll(() => Math.min(...writers.map(({ rounds }) => rounds)), { timeout: patienceMs })
      .toBeGreaterThan(rounds)
  await atLeast(3)
  // The new process starts. A table with entries is left to the upkeep.
  await prepareDatabase(url)
  expect(await entryTables(sql)).toEqual({})
  await expect
    .poll(async () => (await keepEntryMonths(sql, 0)).moved, { timeout: patienceMs, interval: 20 })
    .toBe(true)
  await atLeast(Math.max(...writers.map(({ rounds }) => rounds)) + 3)
  going = false
  await Promise.all(writing)

  const rounds = writers.reduce((sum, writer) => sum + writer.rounds, 0)
  const tables = await entryTables(sql)
  expect(Object.keys(tables)).toEqual([before, other])
  expect(tables).toEqual({ [before]: 20_000 + accounts.length + 2 * rounds, [other]: 0 })
  for (const [at, account] of accounts.entries()) {
    const [row] = await sql`SELECT balance_nano::integer AS balance FROM accounts WHERE id = ${account}`
    expect(row?.balance).toBe(1_000_000 + 2 * (writers[at]?.rounds ?? 0) - (at === 0 ? 20_000 : 0))
  }
  const broken = await brokenRules(database)
  // These entries have no requests.
  expect(broken.filter((rule) => !rule.includes('request'))).toEqual([])
  // The bound of the move binds nobody afterwards.
  expect(
    await sql`SELECT 1 FROM pg_constraint WHERE conname LIKE 'entries_before_20%' AND contype = 'c'`,
  ).toEqual([])
})

test('the move reads the table once, before it takes a lock that writers need', async () => {
  const { database, url } = await opened(formerDatabase)
  const [account = ''] = await anAccountEach(database, 1)
  await manyEntries(database, account, 100)
  await prepareDatabase(url)
  const session = await database.sql.reserve()
  onTestFinished(() => session.release())
  const scans = () => wholeReads(session, 'entries', 'entries_before')
  await session`SELECT bound_entries()`
  await session`SELECT check_entries_bound()`
  const before = await scans()
  expect(await session`SELECT move_entries() AS done`).toMatchObject([{ done: true }])
  expect(await scans()).toBe(before)
})

test('a long reader keeps the table as it is, and nobody from writing; it is moved after that', async () => {
  const { database, url } = await opened(formerDatabase)
  const { sql } = database
  const [account = ''] = await anAccountEach(database, 1)
  await prepareDatabase(url)
  const writer = await aFormerProcess(url, account)
  const reader = await sql.reserve()
  for (const step of ['nothing', 'bound_entries', 'check_entries_bound']) {
    if (step !== 'nothing') await sql.unsafe(`SELECT ${step}()`)
    await reader`BEGIN`
    await reader`SELECT count(*) FROM entries`
    let passed = false
    const pass = keepEntryMonths(sql, 0).finally(() => {
      passed = true
    })
    do await writer.write()
    while (!passed)
    expect(await pass).toMatchObject({ moved: false, postponed: 1 })
    expect(await entryTables(sql)).toEqual({})
    await reader`COMMIT`
  }
  reader.release()
  expect(await keepEntryMonths(sql, 0)).toMatchObject({ moved: true, postponed: 0 })
  await writer.write()
  expect((await entryTables(sql))[before]).toBe(1 + 2 * writer.rounds)
})

test('the bound of the move is beyond every row, and a near bound of an earlier try is replaced', async () => {
  const { database, url } = await opened(formerDatabase)
  const { sql } = database
  const [account = ''] = await anAccountEach(database, 1)
  await prepareDatabase(url)
  // A process whose clock is far ahead has booked it.
  const book = (later: number) => sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
    VALUES (${idAt(midMonth(later))}, ${account}, ${midMonth(later)}, 'charge', -1)`
  await sql`ALTER TABLE entries ADD CONSTRAINT entries_before_20200101 CHECK (created_at < '2020-01-01Z') NOT VALID`
  await sql`SELECT bound_entries()`
  await book(1)
  const [near] = await sql`SELECT conname FROM pg_constraint WHERE conname ~ '^entries_before_[0-9]{8}$'`
  expect(near?.conname).toBe(`entries_before_${monthAt(2).replaceAll('-', '')}`)
  await sql`ALTER TABLE entries DROP CONSTRAINT ${sql(near?.conname)}`
  await book(4)
  // A row that came while the bound was made: the bound is given up, and the next pass takes a later one.
  await sql.unsafe(
    `ALTER TABLE entries ADD CONSTRAINT ${near?.conname} CHECK (created_at < '${monthAt(2)}Z') NOT VALID`,
  )
  expect(await keepEntryMonths(sql, 0)).toMatchObject({ moved: false, postponed: 0 })
  expect(await keepEntryMonths(sql, 0)).toMatchObject({ moved: true, made: 0 })
  expect(
    await sql`SELECT starts_at::text, ends_at AT TIME ZONE 'UTC' = ${monthAt(6)}::text::date AS good FROM entry_months`,
  ).toMatchObject([{ starts_at: '-infinity', good: true }])
})

test('a month is made once, has the rows that waited for it, and no gap before it', async () => {
  const { database } = await opened(emptyDatabase)
  const { sql } = database
  // As after months without a process of this release.
  await sql.unsafe(`DROP TABLE ${tableOf(1)}; DROP TABLE ${tableOf(0)}`)
  await sql`DELETE FROM entry_months WHERE starts_at > '-infinity'`
  const [account = ''] = await anAccountEach(database, 1)
  const id = idAt(midMonth(1))
  await sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
    VALUES (${id}, ${account}, uuid_moment(${id}), 'charge', -1)`
  expect(await entryTables(sql)).toMatchObject({ [other]: 2 })
  expect(await sql`SELECT make_entry_month(${monthAt(1)}::text::date) AS done`).toMatchObject([
    { done: false },
  ])
  const passes = await Promise.all(Array.from({ length: 3 }, () => keepEntryMonths(sql, 0)))
  expect(passes.reduce((sum, { made }) => sum + made, 0) + (await keepEntryMonths(sql, 0)).made).toBe(2)
  expect(await entryTables(sql)).toEqual({ [before]: 0, [tableOf(0)]: 1, [tableOf(1)]: 1, [other]: 0 })
})

test('an account of a file is opened once, before and after the move', async () => {
  const { database, url } = await opened(formerDatabase)
  const { sql, db } = database
  const [account = ''] = await anAccountEach(database, 1)
  await prepareDatabase(url)
  const open = () => db.transaction((tx) => openBalance(tx, account, 7n))
  await open()
  await expect.poll(async () => (await keepEntryMonths(sql, 0)).moved).toBe(true)
  await open()
  expect(await sql`SELECT balance_nano::integer AS nano FROM accounts`).toMatchObject([{ nano: 1_000_000 }])
})

async function opened(make: typeof emptyDatabase) {
  const { url, drop } = await make()
  const database = openDatabase(url, { max: 4 })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  if (make === emptyDatabase) await prepareDatabase(url)
  return { database, url }
}

async function anAccountEach(database: Database, count: number): Promise<string[]> {
  const money = moneyOf(database)
  return await Promise.all(Array.from({ length: count }, () => money.aTenant(1_000_000n)))
}

async function manyEntries({ sql }: Database, account: string, count: number): Promise<void> {
  await sql`INSERT INTO entries (id, account_id, created_at, kind, amount_nano)
    SELECT gen_random_uuid(), ${account}, now() - n * interval '1 minute', 'adjustment', -1
    FROM generate_series(1, ${count}::integer) AS n`
  await sql`UPDATE accounts SET balance_nano = balance_nano - ${count}::integer WHERE id = ${account}`
}

/** What a process of the former release does: it ships a charge, and books an entry, on the same connections all the time. */
async function aFormerProcess(url: string, account: string) {
  const { sql, close } = openDatabase(url, { max: 1 })
  onTestFinished(close)
  // A wait as long as that of a reader would fail.
  await sql`SET lock_timeout = '20s'`
  const process = {
    rounds: 0,
    async write() {
      const createdAt = new Date()
      await sql`BEGIN`
      const copy =
        await sql`COPY entries (id, account_id, created_at, kind, amount_nano) FROM STDIN`.writable()
      await pipeline([`${idAt(createdAt)}\t${account}\t${createdAt.toISOString()}\tcharge\t-1\n`], copy)
      await sql`SELECT settle_money('{}', ${[account]}::uuid[], ARRAY[NULL]::uuid[], ARRAY[NULL]::uuid[],
        ARRAY[${createdAt}]::timestamptz[], ARRAY[1]::bigint[])`
      await sql`COMMIT`
      expect(
        await sql`SELECT verdict FROM book_entry(${randomUUIDv7()}, ${account}, 'top_up', 3, NULL)`,
      ).toMatchObject([{ verdict: 'booked' }])
      process.rounds++
    },
  }
  return process
}

async function brokenRules({ sql }: Database): Promise<string[]> {
  const { findings } = await verifyLedger(sql)
  return findings.filter(({ differences }) => differences > 0).map(({ rule }) => rule)
}
