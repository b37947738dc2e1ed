import type { DuckDBConnection } from '@duckdb/node-api'
import { attemptColumns } from '../../journal/attempt-row.ts'
import { contentOf } from '../../journal/column.ts'
import { requestColumns } from '../../journal/row.ts'
import { type Archiver, type Expected, writeAndVerify } from './archive-day.ts'
import { abandonPart, beginPart, replaceParts } from './archived-days.ts'
import { type ArchivedColumn, quotedName } from './columns.ts'
import { columnsOf, writeParquet } from './extract.ts'
import { type LocalParts, localParts, parquetTable, removeCopies } from './local-parts.ts'
import { contentTables } from './options.ts'
import { duckValues, typesOf } from './parameters.ts'
import { partName } from './store.ts'
import { type ArchiveSums, sumUp } from './sums.ts'
import { condition, type SqlCondition } from './where.ts'

/** Content: what people wrote, and what points to them. Ids, times, tokens and money are kept. */
const contentColumns: Readonly<Record<string, readonly string[]>> = {
  requests: [...contentOf(requestColumns), 'requested_model'],
  attempts: contentOf(attemptColumns),
}

/** A requested model that does not exist is text from the client. */
const invented = `"error_kind" = 'model_not_found'`

/**
 * What to remove from a day, each kind with a condition on the columns of `requests`. `content` keeps the
 * rows but sets their content columns to NULL; `rows` deletes the rows. Both also remove bodies and answers;
 * `bodies` and `answers` remove only these.
 */
export type Removals = Readonly<Partial<Record<Removed, SqlCondition>>>
export type Removed = (typeof removed)[number]
const removed = ['content', 'rows', 'bodies', 'answers'] as const

/** Counts of rows that lost their content or were removed, and of removed bodies and answers. */
export interface RewriteReport {
  requests: number
  attempts: number
  payloads: number
  /** Captured answers. */
  answers: number
  /** Verdicts in Postgres whose evidence quoted an upstream's answer to such a request. */
  verdicts: number
}

export function noReport(): RewriteReport {
  return { requests: 0, attempts: 0, payloads: 0, answers: 0, verdicts: 0 }
}

/**
 * Rewrites the files of a day without what has to be removed. The new files are verified like all others, and
 * each comes into force in one statement; the former files are then deleted. Rejects if a file is damaged.
 * After a kill, the next call continues where the killed one stopped; further calls change nothing.
 */
export async function rewriteWithout(
  archiver: Archiver,
  day: string,
  removals: Removals,
): Promise<RewriteReport> {
  const report = noReport()
  const requests = await localParts(archiver, 'requests', day)
  const matches = await findErased(archiver, requests.paths, removals).finally(() => removeCopies(requests))
  if (matches === 0) return report
  report.verdicts = await emptyVerdicts(archiver)
  // Bodies and answers are first, because after a kill the rows still determine which of them match.
  const whole = { removed: ['content', 'rows'], blanked: [] } as const
  const bodies = { ...whole, removed: [...whole.removed, 'bodies'] } as const
  const answers = { ...whole, removed: [...whole.removed, 'answers'] } as const
  const rows = { removed: ['rows'], blanked: ['content'] } as const
  report.payloads = await rewrite(archiver, 'request_payloads', day, bodies)
  report.answers = await rewrite(archiver, 'request_answers', day, answers)
  report.attempts = await rewrite(archiver, 'attempts', day, rows)
  report.requests = await rewrite(archiver, 'requests', day, rows)
  return report
}

/** Fills the table `erased` with the ids of requests and what to remove of each. Returns their number. */
async function findErased(
  { connection, duck }: Archiver,
  paths: readonly string[],
  removals: Removals,
): Promise<number> {
  if (paths.length === 0) return 0
  const conditions = removed.map((what) => removals[what] ?? condition('false'))
  const values = conditions.flatMap(({ parameters }) => parameters)
  const flags = conditions.map(({ text }, index) => `coalesce((${text}), false) AS ${flagOf(removed[index])}`)
  await connection.run(
    `CREATE OR REPLACE TABLE erased AS SELECT * FROM (SELECT id, ${flags.join(', ')} FROM ${parquetTable(paths)})
      WHERE ${removed.map(flagOf).join(' OR ')}`,
    duckValues(duck, values),
    typesOf(duck, values),
  )
  return await countOf(connection, 'erased')
}

/**
 * Empties the evidence in the catalog that quotes upstreams' answers to erased requests, as an erasure in
 * Postgres does.
 */
async function emptyVerdicts({ sql, duck, connection }: Archiver): Promise<number> {
  const named = await sql<{ id: string }[]>`
    SELECT DISTINCT unnest(request_ids)::text AS id FROM verdicts WHERE evidence <> ''`
  const values = [named.map(({ id }) => id)]
  const read = await connection.runAndReadAll(
    'SELECT id FROM erased WHERE (is_content OR is_rows) AND list_contains(?, id)',
    duckValues(duck, values),
    typesOf(duck, values),
  )
  const ids = read.getRowsJS().map(([id]) => String(id))
  if (ids.length === 0) return 0
  const emptied = await sql`
    UPDATE verdicts SET evidence = '' WHERE evidence <> '' AND request_ids && ${ids}::uuid[]`
  return emptied.count
}

function flagOf(what: Removed | undefined): string {
  return `is_${what}`
}

/** Which kinds of removal delete the rows of a table, and which empty the content of these rows. */
interface Change {
  removed: readonly Removed[]
  blanked: readonly Removed[]
}

/** Returns the number of changed or deleted rows. */
async function rewrite(archiver: Archiver, table: string, day: string, change: Change): Promise<number> {
  const former = await localParts(archiver, table, day)
  try {
    if (former.paths.length === 0) return 0
    const columns = await columnsIn(archiver, table, former.paths)
    return await rewriteParts(archiver, { day, ...partsFor(table, columns, change) }, former)
  } finally {
    await removeCopies(former)
  }
}

/** The parts of a rewrite's statements. */
interface Pieces {
  table: string
  columns: ArchivedColumn[]
  /** Rows to delete. */
  isRemoved: string
  /** Rows to keep without their content. */
  isBlanked: string
  /** Columns that can lose their value, each with the condition. */
  blanked: Map<string, string>
}

function partsFor(table: string, columns: ArchivedColumn[], change: Change): Pieces {
  const id = table === 'requests' ? 'id' : 'request_id'
  const erased = (whats: readonly Removed[]) =>
    whats.length === 0 ? 'false' : `${id} IN (SELECT id FROM erased WHERE ${whats.map(flagOf).join(' OR ')})`
  const isRemoved = erased(change.removed)
  const hasContent = erased(change.blanked)
  const names = new Set(columns.map(({ name }) => name))
  const blanked = new Map<string, string>()
  for (const name of contentColumns[table] ?? []) {
    if (!names.has(name) || (name === 'requested_model' && !names.has('error_kind'))) continue
    blanked.set(name, name === 'requested_model' ? `${hasContent} AND ${invented}` : hasContent)
  }
  const left = [...blanked].map(([name, goes]) => `${quotedName(name)} IS NOT NULL AND ${goes}`)
  const isBlanked = left.length === 0 ? 'false' : `NOT (${isRemoved}) AND (${left.join(' OR ')})`
  return { table, columns, isRemoved, isBlanked, blanked }
}

async function rewriteParts(
  archiver: Archiver,
  { table, day, columns, isRemoved, isBlanked, blanked }: Pieces & { day: string },
  { parts, paths }: LocalParts,
): Promise<number> {
  const { sql, connection } = archiver
  const count = await countOf(connection, `${parquetTable(paths)} WHERE ${isRemoved} OR (${isBlanked})`)
  if (count === 0) return 0
  const begun = await beginPart(sql, table, day, (part) => partName(table, day, part))
  try {
    const file = await writeAndVerify(archiver, begun, async (path): Promise<Expected> => {
      const replaced = [...blanked].map(
        ([name, goes]) => `CASE WHEN ${goes} THEN NULL ELSE ${quotedName(name)} END AS ${quotedName(name)}`,
      )
      const replacement = replaced.length === 0 ? '' : `REPLACE (${replaced.join(', ')})`
      const stays = `NOT (${isRemoved})`
      await writeParquet(
        connection,
        `SELECT * ${replacement} FROM ${parquetTable(paths)} WHERE ${stays} ORDER BY ${orderOf(table)}`,
        path,
        contentTables.includes(table),
      )
      const expected = await sumUp(connection, paths, columns, stays)
      const { sums } = await sumUp(connection, [path], columns)
      requireKept(table, expected.sums, sums, blanked)
      return { columns, sums }
    })
    const former = parts.map(({ part }) => part)
    if (!(await replaceParts(sql, begun, file, former, 'content was deleted from it')))
      throw new Error(`the files of ${table} of ${day} changed during the rewrite`)
    await archiver.reached('dropped')
  } catch (error) {
    await abandonPart(sql, begun, error instanceof Error ? error.message : String(error))
    throw error
  }
  return count
}

function orderOf(table: string): string {
  if (table === 'requests') return 'id'
  return table === 'attempts' ? 'request_id, ordinal' : 'request_id'
}

/** Throws if the new file lacks anything other than what has to be removed. */
function requireKept(
  table: string,
  expected: ArchiveSums,
  next: ArchiveSums,
  blanked: ReadonlyMap<string, string>,
): void {
  const wrong = Object.keys(expected).filter((name) => !blanked.has(name) && expected[name] !== next[name])
  if (wrong.length > 0)
    throw new Error(`the rewritten ${table} would lose columns that are not content: ${wrong.join(', ')}`)
}

/** The columns of the files, with their Postgres types. */
async function columnsIn(
  { sql, connection }: Archiver,
  table: string,
  paths: readonly string[],
): Promise<ArchivedColumn[]> {
  const known = new Map((await columnsOf(sql, table)).map((column) => [column.name, column]))
  const read = await connection.runAndReadAll(`DESCRIBE SELECT * FROM ${parquetTable(paths)}`)
  return read.getRowsJS().map(([name]) => known.get(String(name)) ?? { name: String(name), type: 'text' })
}

async function countOf(connection: DuckDBConnection, from: string): Promise<number> {
  const read = await connection.runAndReadAll(`SELECT count(*)::INTEGER FROM ${from}`)
  return Number(read.getRowsJS()[0]?.[0])
}
