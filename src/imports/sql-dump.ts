import { ImportError } from './problems.ts'
import { SqlReader, type SqlValue } from './sql-reader.ts'

/** The rows of a table. The members are its columns. */
export type Tables = Map<string, Record<string, unknown>[]>

/**
 * Reads the rows of a dump made by `pg_dump` (COPY, --inserts or --column-inserts), `mysqldump`, or `.dump`
 * of sqlite3. Skips all other statements. Throws an ImportError with the line of a statement that it cannot
 * parse.
 */
export function readSqlDump(text: string): Tables {
  if (text.includes('\0')) throw new ImportError('the dump contains NUL bytes, so it is not SQL text')
  const reader = new SqlReader(text)
  const columnsOf = new Map<string, string[]>()
  const tables: Tables = new Map()
  const add = (table: string, columns: readonly string[], values: readonly SqlValue[]) => {
    if (values.length !== columns.length) {
      throw reader.error(`a row of ${table} has ${values.length} values for ${columns.length} columns`)
    }
    const rows = tables.get(table) ?? []
    rows.push(Object.fromEntries(columns.map((column, at) => [column, values[at] ?? null])))
    tables.set(table, rows)
  }
  const known = (table: string) => {
    const columns = columnsOf.get(table)
    if (columns === undefined) {
      throw reader.error(
        `the rows of ${table} have no column names, and the dump has no CREATE TABLE for it. Include the schema in the dump`,
      )
    }
    return columns
  }

  for (;;) {
    reader.skipSpace()
    if (reader.ended) return tables
    if (reader.takeWords('CREATE', 'TABLE')) {
      reader.takeWords('IF', 'NOT', 'EXISTS')
      const table = reader.tableName()
      const columns = reader.columnsOfTable()
      if (columns !== undefined) columnsOf.set(table, columns)
      reader.skipStatement()
    } else if (reader.takeWords('INSERT')) {
      if (!reader.takeWords('INTO') && !reader.takeWords('IGNORE', 'INTO')) {
        reader.skipStatement()
        continue
      }
      const table = reader.tableName()
      const columns = reader.nameList() ?? known(table)
      reader.takeWords('OVERRIDING', 'SYSTEM', 'VALUE')
      if (!reader.takeWords('VALUES')) throw reader.error(`expected VALUES after INSERT INTO ${table}`)
      for (const values of reader.rows()) add(table, columns, values)
    } else if (reader.takeWords('COPY')) {
      const table = reader.tableName()
      const columns = reader.nameList() ?? known(table)
      if (!reader.takeWords('FROM', 'STDIN')) throw reader.error(`expected FROM stdin after COPY ${table}`)
      reader.skipStatement()
      for (const values of reader.copyRows()) add(table, columns, values)
    } else reader.skipStatement()
  }
}
