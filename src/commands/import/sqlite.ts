import { DatabaseSync } from 'node:sqlite'
import { ImportError } from '../../imports/problems.ts'
import type { Tables } from '../../imports/sql-dump.ts'

/** The tables of new-api whose contents can be imported. */
const tableNames = ['channels', 'tokens', 'users', 'options', 'abilities'] as const

/** Returns the rows of the tables of new-api that the SQLite file contains. Opens the file read-only. */
export function readSqlite(path: string): Tables {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true })
    const there = new Set(
      database
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")
        .all()
        .map(({ name }) => String(name)),
    )
    const tables: Tables = new Map()
    for (const name of tableNames.filter((one) => there.has(one))) {
      const rows = database.prepare(`SELECT * FROM "${name}"`)
      rows.setReadBigInts(true)
      tables.set(
        name,
        rows.all().map((row) => ({ ...row })),
      )
    }
    return tables
  } catch (cause) {
    throw new ImportError(`the SQLite file cannot be read: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  } finally {
    database?.close()
  }
}
