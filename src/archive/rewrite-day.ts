import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { attemptColumns } from '../ledger/attempt-row.ts'
import { contentOf } from '../ledger/column.ts'
import { requestColumns } from '../ledger/row.ts'
import { type Archiver, type Expected, writeAndVerify } from './archive-day.ts'
import { abandonPart, beginPart, type KnownPart, partsOf, replaceParts } from './archived-days.ts'
import { type ArchivedColumn, literal, quoted } from './columns.ts'
import { columnsOf, writeParquet } from './extract.ts'
import { contentTables } from './options.ts'
import { typesOf, valuesOf } from './parameters.ts'
import { sha256Of } from './sha256.ts'
import { nameOf } from './store.ts'
import { type ArchiveSums, sumUp } from './sums.ts'
import type { Condition } from './where.ts'

/** What people wrote, and what points to them. Ids, times, tokens and money stay. */
const contentColumns: Readonly<Record<string, readonly string[]>> = {
  requests: contentOf(requestColumns),
  attempts: contentOf(attemptColumns),
}

/** Counts of rows whose content is gone. */
export interface RewriteReport {
  requests: number
  attempts: number
  payloads: number
  /** Captured answers. */
  answers: number
}

/**
 * Write the files of a day anew without the content of the requests that match, a condition on the columns of `requests`. Their
 * rows stay with NULL in the columns of content; their bodies and answers are removed. The new files are verified as all others, and come
 * into force each in one statement; the former ones are then deleted. Rejects when a file is damaged. Calling it again does no
 * harm, also after a kill.
 */
export async function rewriteWithout(
  archiver: Archiver,
  day: string,
  matches: Condition,
): Promise<RewriteReport> {
  const { connection } = archiver
  const requests = await localParts(archiver, 'requests', day)
  const report: RewriteReport = { requests: 0, attempts: 0, payloads: 0, answers: 0 }
  if (requests.paths.length === 0) return report
  await connection.run(
    `CREATE OR REPLACE TABLE erased AS SELECT id FROM ${tableOf(requests.paths)} WHERE ${matches.text}`,
    valuesOf(archiver.duck, matches.parameters),
    typesOf(archiver.duck, matches.parameters),
  )
  await removeCopies(requests)
  const erased = 'IN (SELECT id FROM erased)'
  // Bodies and answers first: after a kill, the rows still say which of them match.
  report.payloads = await rewrite(archiver, 'request_payloads', day, `request_id ${erased}`)
  report.answers = await rewrite(archiver, 'request_answers', day, `request_id ${erased}`)
  report.attempts = await rewrite(archiver, 'attempts', day, `request_id ${erased}`)
  report.requests = await rewrite(archiver, 'requests', day, `id ${erased}`)
  return report
}

/** Files of a day in force, and local copies of them. */
interface LocalParts {
  parts: KnownPart[]
  paths: string[]
}

async function localParts(
  { sql, store, staging }: Archiver,
  table: string,
  day: string,
): Promise<LocalParts> {
  const parts = (await partsOf(sql, table, day)).filter(({ state }) => state === 'dropped')
  const paths: string[] = []
  for (const { location, sha256, part } of parts) {
    if (location === null) continue
    const path = join(staging, `${table}-${day}-${part}.former.parquet`)
    await store.fetch(location, path)
    if ((await sha256Of(path)) !== sha256)
      throw new Error(`${location} has other bytes than those that were stored`)
    paths.push(path)
  }
  return { parts, paths }
}

/** The staging directory must not hold all days at once. */
async function removeCopies({ paths }: LocalParts): Promise<void> {
  for (const path of paths) await rm(path, { force: true })
}

/** Answers how many rows match. */
async function rewrite(archiver: Archiver, table: string, day: string, matched: string): Promise<number> {
  const former = await localParts(archiver, table, day)
  try {
    return await rewriteParts(archiver, { table, day, matched }, former)
  } finally {
    await removeCopies(former)
  }
}

async function rewriteParts(
  archiver: Archiver,
  { table, day, matched }: { table: string; day: string; matched: string },
  { parts, paths }: LocalParts,
): Promise<number> {
  const { sql, connection } = archiver
  if (paths.length === 0) return 0
  const columns = await columnsIn(archiver, table, paths)
  const blanked = (contentColumns[table] ?? []).filter((name) =>
    columns.some((column) => column.name === name),
  )
  const anyContent = blanked.map((name) => `${quoted(name)} IS NOT NULL`).join(' OR ')
  const isContent = contentTables.includes(table)
  const isLeft = isContent ? matched : `${matched} AND (${anyContent})`
  const count = await countOf(connection, `${tableOf(paths)} WHERE ${isLeft}`)
  if (count === 0) return 0
  const begun = await beginPart(sql, table, day, (part) => nameOf(table, day, part))
  try {
    const file = await writeAndVerify(archiver, begun, async (path): Promise<Expected> => {
      const order = columns.some(({ name }) => name === 'ordinal')
        ? 'request_id, ordinal'
        : table === 'requests'
          ? 'id'
          : 'request_id'
      await writeParquet(
        connection,
        `${kept(table, paths, matched, blanked)} ORDER BY ${order}`,
        path,
        isContent,
      )
      const former = await sumUp(connection, paths, columns)
      const sums = (await sumUp(connection, [path], columns)).sums
      requireKept(table, former.sums, sums, blanked, count)
      return { columns, sums }
    })
    const former = parts.map(({ part }) => part)
    if (!(await replaceParts(sql, begun, file, former, 'content was deleted from it')))
      throw new Error(`the files of ${table} of ${day} have changed while they were written anew`)
  } catch (error) {
    await abandonPart(sql, begun, error instanceof Error ? error.message : String(error))
    throw error
  }
  return count
}

function kept(table: string, paths: readonly string[], matched: string, blanked: readonly string[]): string {
  if (contentTables.includes(table)) return `SELECT * FROM ${tableOf(paths)} WHERE NOT (${matched})`
  const replaced = blanked.map(
    (name) => `CASE WHEN ${matched} THEN NULL ELSE ${quoted(name)} END AS ${quoted(name)}`,
  )
  return `SELECT * REPLACE (${replaced.join(', ')}) FROM ${tableOf(paths)}`
}

/** Throws where the new file lacks anything but the content that is to go. */
function requireKept(
  table: string,
  former: ArchiveSums,
  next: ArchiveSums,
  blanked: readonly string[],
  count: number,
): void {
  if (contentTables.includes(table)) {
    if (Number(next.rows) === Number(former.rows) - count) return
    throw new Error(`${next.rows} rows of ${table} are left, expected ${Number(former.rows) - count}`)
  }
  const wrong = Object.keys(former).filter((name) => !blanked.includes(name) && former[name] !== next[name])
  if (wrong.length > 0) throw new Error(`${table} would lose other things than content: ${wrong.join(', ')}`)
}

/** The columns of files, with their types in Postgres. */
async function columnsIn(
  { sql, connection }: Archiver,
  table: string,
  paths: readonly string[],
): Promise<ArchivedColumn[]> {
  const known = new Map((await columnsOf(sql, table)).map((column) => [column.name, column]))
  const read = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${tableOf(paths)}`)
  return read.getRowsJS().map(([name]) => known.get(String(name)) ?? { name: String(name), type: 'text' })
}

async function countOf(connection: DuckDBConnection, from: string): Promise<number> {
  const read = await connection.runAndReadAll(`SELECT count(*)::INTEGER FROM ${from}`)
  return Number(read.getRowsJS()[0]?.[0])
}

function tableOf(paths: readonly string[]): string {
  return `read_parquet([${paths.map(literal).join(', ')}], union_by_name = true)`
}
