import postgres from 'postgres'
import { clientSettings } from '../src/db/connections.ts'
import { prepareDatabase } from '../src/db/migrate.ts'
import { fillLog } from './fill-log.ts'
import { fillAttempts, fillMoney, fillSums } from './fill-pages.ts'
import { helpIfAsked } from './usage.ts'

helpIfAsked(import.meta.filename)

/**
 * Fills the usage log of an empty database: `npm run bench:seed-log -- postgres://... [rows] [days]`. Default 10,000,000 rows
 * over 90 days, of 200 tenants with 3,000 keys, 120 models and 40 channels. Few of each have most of the rows. 7 in 100 are
 * errors. Attempts, accounts, entries and all sums fit the rows, so that every page is full and `npm run ledger:verify` holds. The rows are the same in each run, but for their times: the last is of now.
 */
const [url, rows = '10000000', days = '90'] = process.argv.slice(2)
if (url === undefined) throw new Error('Give the address of an empty database: postgres://...')
await prepareDatabase(url)
const sql = postgres(url, clientSettings({ max: 1 }))
const [found] = await sql`select exists (select from requests) as has_rows`
if (found?.has_rows === true) throw new Error('The usage log of this database has rows already.')
await fillLog(sql, { rows: Number(rows), days: Number(days), end: new Date() }, (line) => console.log(line))
await fillAttempts(sql)
console.log('the attempts of all requests are there')
await fillMoney(sql)
console.log('accounts, entries and charges are there')
console.log(`sums of ${await fillSums(sql)} days are there`)
await sql.unsafe('vacuum analyze')
await sql.end()
