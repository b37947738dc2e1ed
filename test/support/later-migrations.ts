import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { onTestFinished } from 'vitest'
import { knownMigrations } from '../../src/db/schema-version.ts'

export const ownMigrations = resolve(import.meta.dirname, '../../migrations')

/** The migrations of a later release: ours, and one more. */
export function laterMigrations(statements: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-migrations-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  cpSync(ownMigrations, folder, { recursive: true })
  addMigration(folder, statements)
  return folder
}

/** Add one to a copy of ours. */
export function addMigration(folder: string, statements: string): void {
  writeFileSync(join(folder, '9999_later.sql'), statements)
  const path = join(folder, 'meta/_journal.json')
  const journal = JSON.parse(readFileSync(path, 'utf8'))
  const { count, newestAt } = knownMigrations(folder)
  journal.entries.push({ idx: count, version: '7', when: newestAt + 1, tag: '9999_later', breakpoints: true })
  writeFileSync(path, JSON.stringify(journal))
}
