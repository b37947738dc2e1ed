import { DatabaseSync } from 'node:sqlite'
import { ImportError } from './problems.ts'
import type { Tables } from './sql-dump.ts'

/** The rows of these tables, as far as the file has them. Opens it for reading only. */
export function readSqlite(path: string, names: readonly string[]): Tables {
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
    for (const name of names.filter((one) => there.has(one))) {
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
