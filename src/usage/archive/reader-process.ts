// The process that reads the archive for a gateway process. It receives queries as messages and ends with its
// parent.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { DuckDBConnection } from '@duckdb/node-api'
import { literal, quotedName } from './columns.ts'
import { type Duck, openDuck } from './duck.ts'
import { ObjectCache } from './object-cache.ts'
import { openStore } from './open-store.ts'
import { duckValues, typesOf } from './parameters.ts'
import {
  type ArchiveQuery,
  type FromReader,
  type ReaderOptions,
  scratchOf,
  type ToReader,
} from './reader-messages.ts'
import { MissingFileError } from './store.ts'

interface Reader {
  duck: Duck
  cache: ObjectCache
}

let opened: Promise<Reader> | undefined
let scratch: string | undefined
/** Running queries. `connection` is undefined while a query waits for its files. */
const running = new Map<number, { left: AbortController; connection?: DuckDBConnection }>()

process.on('message', (message: ToReader) => {
  switch (message.kind) {
    case 'open':
      opened = open(message.options)
      // Each query reports the failure.
      opened.catch(() => {})
      break
    case 'ask':
      void answer(message.id, message.query)
      break
    case 'cancel': {
      const query = running.get(message.id)
      query?.connection?.interrupt()
      query?.left.abort(new Error('the query was cancelled'))
      break
    }
  }
})
process.on('disconnect', () => {
  try {
    if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
  } catch {
    // The next reader removes it.
  }
  process.exit()
})

async function open({ place, cache, cacheBytes, duck }: ReaderOptions): Promise<Reader> {
  scratch = scratchOf(cache, process.pid)
  const store = await openStore(place)
  const copies = join(cache, 'files')
  const directories = place.kind === 'files' ? [place.directory] : [copies]
  return {
    duck: await openDuck(duck, scratch, directories),
    cache: new ObjectCache(copies, cacheBytes, store),
  }
}

async function answer(id: number, query: ArchiveQuery): Promise<void> {
  const left = new AbortController()
  running.set(id, { left })
  try {
    if (opened === undefined) throw new Error('the archive reader has not been opened')
    const { duck, cache } = await opened
    const read = async (paths: readonly string[]) => {
      const connection = await duck.connect()
      running.set(id, { left, connection })
      try {
        left.signal.throwIfAborted()
        const { parameters } = query
        const text = textOf(query, paths)
        const found = await connection.runAndReadAll(
          text,
          duckValues(duck, parameters),
          typesOf(duck, parameters),
        )
        return found.getRowObjectsJS()
      } finally {
        connection.closeSync()
      }
    }
    send({ id, rows: await cache.with(query.parts, read, left.signal) })
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const missing = error instanceof MissingFileError || /No files found|No such file/.test(text)
    send({ id, failed: text, missing })
  } finally {
    running.delete(id)
  }
}

function send(message: FromReader): void {
  process.send?.(message)
}

/** The empty table determines the type of every column, including those that the files lack. */
function textOf({ columns, select }: ArchiveQuery, paths: readonly string[]): string {
  const nulls = columns.map(({ name, type }) => `NULL::${type} AS ${quotedName(name)}`).join(', ')
  const files = paths.map(literal).join(', ')
  return `
    WITH archive AS (
      SELECT ${nulls} WHERE false
      UNION ALL BY NAME SELECT * FROM read_parquet([${files}], union_by_name = true, hive_partitioning = false)
    ) ${select}`
}
