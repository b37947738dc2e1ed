import { readFileSync } from 'node:fs'
import { basename, extname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isMap } from './cells.ts'
import { ImportError } from './problems.ts'
import { readSqlDump, type Tables } from './sql-dump.ts'

/**
 * Reads the tables of new-api from a JSON file (a map of tables, or the rows of a single table after which
 * the file is named), an SQL dump or an SQLite file. Several files are merged. Throws an ImportError for any
 * other file.
 */
export function readTables(paths: readonly string[]): Tables {
  const tables: Tables = new Map()
  for (const path of paths) {
    for (const [name, rows] of readOne(path)) tables.set(name, [...(tables.get(name) ?? []), ...rows])
  }
  if (!tables.has('channels') && !tables.has('tokens') && !tables.has('users')) {
    throw new ImportError(
      'the file contains none of the tables channels, tokens and users. Pass an export of new-api',
    )
  }
  return tables
}

function readOne(path: string): Tables {
  const bytes = readFileSync(path)
  if (bytes.subarray(0, 15).toString('latin1') === 'SQLite format 3') return readSqlite(path, tableNames)
  const text = bytes.toString('utf8')
  const start = /\S/.exec(text)?.[0]
  if (start === undefined) throw new ImportError(`${basename(path)} is empty`)
  return start === '{' || start === '[' ? readJson(text, path) : readSqlDump(text)
}

/** The tables whose contents can be imported. */
const tableNames = ['channels', 'tokens', 'users', 'options', 'abilities'] as const

function readJson(text: string, path: string): Tables {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ImportError(
      `${basename(path)} is not valid JSON: ${cause instanceof Error ? cause.message : ''}`,
      {
        cause,
      },
    )
  }
  if (Array.isArray(value)) {
    const name = basename(path, extname(path))
    return new Map([[name, rowsOf(value, name)]])
  }
  return new Map(
    Object.entries(isMap(value) ? value : {}).flatMap(([name, rows]) =>
      Array.isArray(rows) ? [[name, rowsOf(rows, name)] as const] : [],
    ),
  )
}

function rowsOf(rows: readonly unknown[], table: string): Record<string, unknown>[] {
  return rows.map((row, at) => {
    if (isMap(row)) return row
    throw new ImportError(`${table}[${at}]: expected a map of columns`)
  })
}

/** Returns the rows of these tables, where the file contains them. Opens the file read-only. */
function readSqlite(path: string, names: readonly string[]): Tables {
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
