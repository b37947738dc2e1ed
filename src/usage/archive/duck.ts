import { mkdir } from 'node:fs/promises'
import type { DuckDBConnection } from '@duckdb/node-api'
import type { DuckBounds } from './options.ts'

/** DuckDB without network access or extensions: it can only read and write files in the given directories. */
export interface Duck {
  connect(): Promise<DuckDBConnection>
  api: typeof import('@duckdb/node-api')
  close(): void
}

/**
 * `scratch` is a directory for data that does not fit into memory; it is created. Rejects if DuckDB is not
 * installed.
 */
export async function openDuck(
  { memoryBytes, threads }: DuckBounds,
  scratch: string,
  directories: readonly string[],
): Promise<Duck> {
  const api = await loadDuck()
  await mkdir(scratch, { recursive: true })
  const instance = await api.DuckDBInstance.create(':memory:', {
    threads: String(threads),
    memory_limit: `${memoryBytes}B`,
    temp_directory: scratch,
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const allowed = [scratch, ...directories].map((directory) => `'${directory.replaceAll("'", "''")}'`)
  await connection.run(`SET allowed_directories = [${allowed.join(', ')}]`)
  // From now on it also refuses to load or install extensions. Parquet is built in.
  await connection.run('SET enable_external_access = false')
  await connection.run('SET lock_configuration = true')
  connection.closeSync()
  return { api, connect: () => instance.connect(), close: () => instance.closeSync() }
}

/** Rejects with an Error for the operator if DuckDB is not installed. */
export async function loadDuck(): Promise<typeof import('@duckdb/node-api')> {
  try {
    return await import('@duckdb/node-api')
  } catch (cause) {
    throw new Error(missingDuck, { cause })
  }
}

export const missingDuck =
  'The archive needs DuckDB (the optional dependency @duckdb/node-api): run npm ci without --omit=optional'
