import { ImportError } from './problems.ts'
import { SqlReader, type SqlValue } from './sql-reader.ts'

/** The rows of a table. The members are its columns. */
export type Tables = Map<string, Record<string, unknown>[]>

/**
 * Read the rows of a dump: of `pg_dump` (COPY, --inserts or --column-inserts), `mysqldump`, or `.dump` of
 * sqlite3. Other statements are passed over. Throws ImportError with the line for a statement that it cannot
 * read.
 */
export function readSqlDump(text: string): Tables {
  if (text.includes('\0')) throw new ImportError('the dump has NUL bytes: it is not SQL text')
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
        `rows of ${table} come without names of columns, and the dump has no CREATE TABLE for it: dump the schema too`,
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
      if (!reader.takeWords('VALUES')) throw reader.error(`INSERT INTO ${table} must go on with VALUES`)
      for (const values of reader.rows()) add(table, columns, values)
    } else if (reader.takeWords('COPY')) {
      const table = reader.tableName()
      const columns = reader.nameList() ?? known(table)
      if (!reader.takeWords('FROM', 'STDIN')) throw reader.error(`COPY ${table} must go on with FROM stdin`)
      reader.skipStatement()
      for (const values of reader.copyRows()) add(table, columns, values)
    } else reader.skipStatement()
  }
}
