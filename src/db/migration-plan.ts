import type { Sql } from 'postgres'
import { changedFunctions } from './apply-functions.ts'
import { ownMigrations } from './migrate.ts'
import { isFormer, knownMigrations, missingMigrations, readSchemaVersion } from './schema-version.ts'

/** What `prepareDatabase` would do. */
export interface MigrationPlan {
  /** Migrations that the database has. */
  applied: number
  /** Migrations of this release. */
  known: number
  /** The number of migrations that a release must know to run on the database as it is. */
  compatibleFrom: number
  /** The database is of a version before the first release. It can only be taken over. */
  isFormer: boolean
  /** Names of the migrations that would be applied, in their order. */
  missing: string[]
  /** Names of SQL functions that would be created or replaced. */
  functions: string[]
}

/** Read it. Nothing is written, and the database may be empty. */
export async function planMigration(sql: Sql): Promise<MigrationPlan> {
  const version = await readSchemaVersion(sql)
  return {
    applied: version.applied,
    known: knownMigrations(ownMigrations).count,
    compatibleFrom: version.compatibleFrom,
    isFormer: isFormer(ownMigrations, version),
    missing: isFormer(ownMigrations, version) ? [] : missingMigrations(ownMigrations, version),
    functions: (await changedFunctions(sql)).map(({ name }) => name),
  }
}
