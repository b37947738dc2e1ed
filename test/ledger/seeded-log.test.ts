import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillLog } from '../../bench/fill-log.ts'
import { fillAttempts, fillMoney, fillSums } from '../../bench/fill-pages.ts'
import { type Connections, openConnections } from '../../src/db/connections.ts'
import { verifyLedger } from '../../src/ledger-tools/verify.ts'
import { freshDatabase } from '../support/database.ts'

/** The log that `npm run bench:seed-log` makes, in small. */

let drop: () => Promise<void>
let database: Connections
beforeAll(async () => {
  const fresh = await freshDatabase()
  drop = fresh.drop
  database = openConnections(fresh.url, { max: 1 })
  await fillLog(database.sql, { rows: 1_000, days: 3, end: new Date() }, () => {})
  await fillAttempts(database.sql)
  await fillMoney(database.sql)
  await fillSums(database.sql)
})
afterAll(async () => {
  await database?.end()
  await drop?.()
})

test('a seeded log has money and sums, and its ledger verifies', async () => {
  const { findings, requests } = await verifyLedger(database.sql)
  expect(findings.filter(({ differences }) => differences > 0)).toEqual([])
  expect(requests).toBeGreaterThan(900)
  const [found] = await database.sql`
    select (select count(*) from accounts where balance_nano <> 0)::int as accounts,
      (select sum(requests) from rollup_days where cut = 'model')::int as counted`
  expect(found).toEqual({ accounts: 200, counted: requests })
})
