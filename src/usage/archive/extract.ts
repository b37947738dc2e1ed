import type { DuckDBConnection } from '@duckdb/node-api'
import type { Sql } from 'postgres'
import { type ArchivedColumn, duckType, duckValue, literal, quotedName, selected, typeOf } from './columns.ts'
import type { Duck } from './duck.ts'

/**
 * Partitions are read in pages because a long snapshot would keep Postgres from vacuuming. Bodies are long,
 * so their pages are shorter.
 */
const pageRows = 2_000
const bodyPageRows = 100

/** The number of rows that an appender accepts at once: a DuckDB vector. */
const chunkRows = 2_048

/** The columns of a table, in table order. */
export async function columnsOf(sql: Sql, relation: string): Promise<ArchivedColumn[]> {
  return await sql<ArchivedColumn[]>`
    SELECT attname::text AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
    WHERE attrelid = to_regclass(quote_ident(${relation})) AND attnum > 0 AND NOT attisdropped ORDER BY attnum`
}

/** Writes the rows of a partition to a Parquet file, in primary key order. Returns the number of rows. */
export async function extractPartition(
  { sql, duck, connection }: { sql: Sql; duck: Duck; connection: DuckDBConnection },
  partition: string,
  columns: readonly ArchivedColumn[],
  path: string,
): Promise<number> {
  const definition = columns.map((column) => `${quotedName(column.name)} ${duckType(column)}`)
  await connection.run(`CREATE OR REPLACE TABLE extracted (${definition.join(', ')})`)
  const hasBodies = columns.some(({ name }) => name === 'body' || name === 'answer')
  let rows = 0
  const appender = await connection.createAppender('extracted')
  try {
    for await (const page of pagesOf(sql, partition, columns, hasBodies ? bodyPageRows : pageRows)) {
      for (let at = 0; at < page.length; at += chunkRows) {
        const values = page
          .slice(at, at + chunkRows)
          .map((row) => columns.map((column, index) => duckValue(duck, column, row[index])))
        const chunk = duck.api.DuckDBDataChunk.create(columns.map((column) => typeOf(duck, column)))
        chunk.setRows(values)
        appender.appendDataChunk(chunk)
      }
      rows += page.length
    }
    appender.flushSync()
  } finally {
    appender.closeSync()
  }
  await writeParquet(connection, 'SELECT * FROM extracted', path, hasBodies)
  await connection.run('DROP TABLE extracted')
  return rows
}

/** Uses small row groups, because a page of the log or a single body needs only a few of them. */
export async function writeParquet(
  connection: DuckDBConnection,
  query: string,
  path: string,
  hasBodies: boolean,
): Promise<void> {
  await connection.run(
    `COPY (${query}) TO ${literal(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE ${hasBodies ? 2_048 : 20_480})`,
  )
}

async function* pagesOf(
  sql: Sql,
  partition: string,
  columns: readonly ArchivedColumn[],
  limit: number,
): AsyncGenerator<unknown[][]> {
  const keys = await keyOf(sql, partition)
  // Qualified with the table alias, because ORDER BY would otherwise sort by the selected text column of the
  // same name.
  const names = keys.map(({ name }) => `p.${quotedName(name)}`).join(', ')
  const values = [...columns.map(selected), ...keys.map(({ name }) => `p.${quotedName(name)}::text`)].join(
    ', ',
  )
  const after = `(${names}) > (${keys.map(({ type }, index) => `$${index + 1}::text::${type}`).join(', ')})`
  let last: string[] | undefined
  for (;;) {
    const where = last === undefined ? '' : `WHERE ${after}`
    const page: unknown[][] = await sql
      .unsafe(
        `SELECT ${values} FROM ${quotedName(partition)} AS p ${where} ORDER BY ${names} LIMIT ${limit}`,
        last ?? [],
      )
      .values()
    yield page
    if (page.length < limit) return
    last = page.at(-1)?.slice(columns.length).map(String)
  }
}

async function keyOf(sql: Sql, partition: string): Promise<ArchivedColumn[]> {
  return await sql<ArchivedColumn[]>`
    SELECT a.attname::text AS name, format_type(a.atttypid, NULL) AS type
    FROM pg_index i CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, place)
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
    WHERE i.indrelid = to_regclass(quote_ident(${partition})) AND i.indisprimary ORDER BY k.place`
}
