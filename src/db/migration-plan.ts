import type { Sql } from 'postgres'
import { changedFunctions } from './apply-functions.ts'
import { ownMigrations } from './migrate.ts'
import { isFormer, knownMigrations, missingMigrations, readSchemaVersion } from './schema-version.ts'

/** What `prepareDatabase` would do. */
export interface MigrationPlan {
  /** The number of migrations applied to the database. */
  applied: number
  /** The number of migrations in this release. */
  known: number
  /** The number of migrations that a release must know to run on the database in its current state. */
  compatibleFrom: number
  /** The database was created by a version before the first release and can only be taken over. */
  isFormer: boolean
  /** Names of the migrations that would be applied, in order. */
  missing: string[]
  /** Names of the SQL functions that would be created or replaced. */
  functions: string[]
}

/** Reads the plan without writing anything. The database can be empty. */
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
