import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { makeLog } from '../../src/telemetry/log.ts'
import type { Archive } from '../../src/usage/archive/archive.ts'
import { openArchive } from '../../src/usage/archive/open-archive.ts'
import type { Database } from './database.ts'

/** The archive of a database of which nothing is archived. It starts no process. */
export function emptyArchive(database: Database): Archive {
  const dataDir = join(tmpdir(), 'tollgate-no-archive')
  return openArchive(readConfig({}), { dataDir, database, log: makeLog('silent') }).archive
}
