import { expect, onTestFinished, test } from 'vitest'
import { keepEntryMonths } from '../../src/db/entry-months.ts'
import { prepareDatabase } from '../../src/db/migrate.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { idAt, moneyOf } from '../ledger/money-bed.ts'
import { type Database, emptyDatabase, openDatabase } from '../support/database.ts'
import { entryTables, midMonth, monthAt, tableOf } from '../support/entry-months.ts'
import { until } from '../support/until.ts'

const before = 'entries_before'
const other = 'entries_default'

test('a new database has months from its first start on', async () => {
  const { database } = await opened()
  expect(Object.keys(await entryTables(database.sql))).toEqual([tableOf(0), tableOf(1), before, other])
  expect(await brokenRules(database)).toEqual([])
})

test('a month is made once, has the rows that waited for it, and no gap before it', async () => {
  const { database } = await opened()
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
  // Autovacuum may hold the lock of a pass too: it leaves the month to the next one.
  const made = passes.reduce((sum, pass) => sum + pass.made, 0)
  expect(made + (await madeUntilDone(sql))).toBe(2)
  expect(await entryTables(sql)).toEqual({ [before]: 0, [tableOf(0)]: 1, [tableOf(1)]: 1, [other]: 0 })
})

/** The number of months that passes make until one has left nothing undone. */
async function madeUntilDone(sql: Database['sql']): Promise<number> {
  let made = 0
  await until(async () => {
    const pass = await keepEntryMonths(sql, 0)
    made += pass.made
    return pass.postponed === 0
  })
  return made
}

async function opened() {
  const { url, drop } = await emptyDatabase()
  const database = openDatabase(url, { max: 4 })
  onTestFinished(async () => {
    await database.close()
    await drop()
  })
  await prepareDatabase(url)
  return { database }
}

async function anAccountEach(database: Database, count: number): Promise<string[]> {
  const money = moneyOf(database)
  return await Promise.all(Array.from({ length: count }, () => money.aTenant(1_000_000n)))
}

async function brokenRules({ sql }: Database): Promise<string[]> {
  const { findings } = await verifyLedger(sql)
  return findings.filter(({ differences }) => differences > 0).map(({ rule }) => rule)
}
