import { afterAll, beforeAll } from 'vitest'
import { type Database, freshDatabase, openDatabase } from '../support/database.ts'
import { importFolder } from '../support/run-import.ts'

export const secretKey = 'a-secret-key-for-tests-and-nothing-else'

/** A database for the imports of a test file, and a directory for what they read. */
export function importBed() {
  const files = importFolder()
  let opened: { database: Database; drop: () => Promise<void>; env: Record<string, string> } | undefined
  const bed = () => {
    if (opened === undefined) throw new Error('the database of the imports is not open yet')
    return opened
  }
  beforeAll(async () => {
    const { url, drop } = await freshDatabase()
    opened = { database: openDatabase(url), drop, env: { DATABASE_URL: url, SECRET_KEY: secretKey } }
  })
  afterAll(async () => {
    const { database, drop } = bed()
    await database.close()
    await drop()
    files.remove()
  })
  return {
    files,
    get database() {
      return bed().database
    },
    /** Of an import into it. */
    get env() {
      return bed().env
    },
  }
}
