import { parse } from 'node:path'
import { isMap } from './cells.ts'
import type { ImportFile } from './import-file.ts'
import { ImportError } from './problems.ts'
import { readSqlDump, type Tables } from './sql-dump.ts'

/** Merges the tables of several files. Throws an ImportError if none of them is one of new-api. */
export function mergedTables(files: readonly Tables[]): Tables {
  const tables: Tables = new Map()
  for (const file of files) {
    for (const [name, rows] of file) tables.set(name, [...(tables.get(name) ?? []), ...rows])
  }
  if (!tables.has('channels') && !tables.has('tokens') && !tables.has('users')) {
    throw new ImportError(
      'the file contains none of the tables channels, tokens and users. Pass an export of new-api',
    )
  }
  return tables
}

/**
 * Reads tables of new-api from the text of a JSON file (a map of tables, or the rows of a single table after
 * which the file is named) or of an SQL dump. Throws an ImportError for any other text.
 */
export function readTables({ name, text }: ImportFile): Tables {
  const start = /\S/.exec(text)?.[0]
  if (start === undefined) throw new ImportError(`${name} is empty`)
  return start === '{' || start === '[' ? readJson(text, name) : readSqlDump(text)
}

function readJson(text: string, file: string): Tables {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new ImportError(`${file} is not valid JSON: ${cause instanceof Error ? cause.message : ''}`, {
      cause,
    })
  }
  if (Array.isArray(value)) {
    const { name } = parse(file)
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
