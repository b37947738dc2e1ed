import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import postgres from 'postgres'
import { clientSettings } from '../../src/db/connections.ts'
import { drizzle, migrate } from '../../src/db/drizzle.cjs'
import { emptyDatabase } from './database.ts'

/** A database as the former release has left it (commit 3592f34), with its functions. */
export async function formerDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-former-'))
  cpSync(join(import.meta.dirname, '../../migrations'), folder, { recursive: true })
  const path = join(folder, 'meta/_journal.json')
  const journal: { entries: { tag: string }[] } = JSON.parse(readFileSync(path, 'utf8'))
  const former = journal.entries.filter(({ tag }) => tag <= '0010_breaker_functions')
  writeFileSync(path, JSON.stringify({ ...journal, entries: former }))
  const database = await emptyDatabase()
  const session = postgres(database.url, clientSettings({ max: 1, connectSeconds: 30 }))
  try {
    await migrate(drizzle({ client: session }), { migrationsFolder: folder })
    await session`SELECT roll_partitions(1, 90, 30)`
  } finally {
    await session.end()
    rmSync(folder, { recursive: true })
  }
  return database
}
