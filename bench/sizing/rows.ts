import postgres from 'postgres'
import { openUsageLog, type UsageLog } from '../usage-log.ts'
import { type Deployment, measureLoad, type Rig, rate, small, startDeployment, warmUp } from './rig.ts'
import { costCells, costHeads, type Table } from './table.ts'

const rounds = 3

/**
 * An empty usage log and a filled one by turns, each with 1,000 requests a second of limited money. `filled` is a
 * database that `npm run bench:seed-log` has filled; the rows that this writes stay in it.
 */
export async function rows(rig: Rig, filled: string | undefined): Promise<Table[]> {
  if (filled === undefined) throw new Error('Give the address of a filled database: postgres://...')
  const filledLog = await openFilled(filled)
  const options = { tenants: 100, limited: true }
  const subjects: [string, Deployment][] = []
  try {
    const sizes = await sizesOf(filled)
    subjects.push(['none', await startDeployment(rig, options)])
    subjects.push([sizes.count, await startDeployment(rig, { ...options, usageLog: filledLog })])
    for (const [, deployment] of subjects) await warmUp(rig, deployment)
    const table: string[][] = []
    for (let round = 0; round < rounds; round++)
      for (const [name, deployment] of subjects)
        table.push([name, ...costCells(await measureLoad(rig, deployment, { ...small, drive: rate(1_000) }))])
    return [
      { title: 'Rows in the usage log, by turns', heads: ['rows before', ...costHeads], rows: table },
      { title: 'Bytes on disk for a row, indexes included', heads: ['table', 'bytes'], rows: sizes.bytes },
    ]
  } finally {
    for (const [, deployment] of subjects) await deployment.stop()
    await filledLog.close()
  }
}

/** What the bench knows of a server comes with a database of its own, which this leaves empty. */
async function openFilled(url: string): Promise<UsageLog> {
  return { ...(await openUsageLog(url)), url }
}

async function sizesOf(url: string): Promise<{ count: string; bytes: string[][] }> {
  const sql = postgres(url, { max: 1 })
  try {
    const [found] = await sql<{ rows: number }[]>`select count(*)::float8 as rows from requests`
    const rows = found?.rows ?? Number.NaN
    const tables = await sql<{ name: string; bytes: number }[]>`
      select regexp_replace(relname, '_\\d+$', '') as name, sum(pg_total_relation_size(oid))::float8 as bytes
      from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      group by 1 order by 2 desc limit 8`
    return {
      count: rows.toLocaleString('en-US'),
      bytes: tables.map(({ name, bytes }) => [name, (bytes / rows).toFixed(0)]),
    }
  } finally {
    await sql.end()
  }
}
