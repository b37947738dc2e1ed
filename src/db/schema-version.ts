import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ISql } from 'postgres'
import { z } from 'zod'

/**
 * A later release has removed something that this one needs. Each such migration records in `schema_state`
 * how many migrations a release must know to run on its schema.
 */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError'

  constructor(known: number, { applied, compatibleFrom }: SchemaVersion) {
    super(
      `the database has the schema of a later release (${applied} migrations), which requires a release with at least ${compatibleFrom} migrations. ` +
        `This release has ${known}: start the later release`,
    )
  }
}

/** This process is not allowed to migrate, and no other process has done so yet. */
export class SchemaTooOldError extends Error {
  override readonly name = 'SchemaTooOldError'

  constructor(known: number, { applied }: SchemaVersion, cause: unknown) {
    super(
      `the schema is older than this release (${applied} of ${known} migrations), and this user may not change it. ` +
        'Start a process of this release as the owner of the tables',
      { cause },
    )
  }
}

/**
 * The last commit before the migrations were merged into one. `tollgate migrate` takes over its schema and no
 * other.
 */
export const formerCommit = '17e1c317'
/** The time of the newest of those migrations. */
const formerNewestAt = 1_795_928_776_602

/** The database or a journal was written by a version before the first release. Nothing was changed. */
export class FormerSchemaError extends Error {
  override readonly name = 'FormerSchemaError'

  constructor(problem: string) {
    super(
      `the data was written by a version before the first release (${problem}). Nothing was changed. Either start commit ${formerCommit} ` +
        'with it, stop that process with SIGTERM so that it ships its journals, and run `tollgate migrate`, which takes over its database; or ' +
        'start with an empty DATA_DIR and an empty database',
    )
  }
}

export interface SchemaVersion {
  /** The number of migrations applied to the database. */
  applied: number
  /** When the first migration was made, in ms since 1970; 0 if there are none. */
  oldestAt: number
  /** When the last migration was made, in ms since 1970; 0 if there are none. */
  newestAt: number
  /** The minimum number of migrations that a release must know. */
  compatibleFrom: number
}

/** The number of migrations in a release's folder, and when the first and last were made. */
export function knownMigrations(folder: string): { count: number; oldestAt: number; newestAt: number } {
  const entries = entriesOf(folder)
  const moments = entries.map(({ when }) => when)
  return { count: entries.length, oldestAt: moments[0] ?? 0, newestAt: Math.max(0, ...moments) }
}

/**
 * True if the database was created by other migrations than those in the folder, that is, before the first
 * release.
 */
export function isFormer(folder: string, { applied, oldestAt }: SchemaVersion): boolean {
  return applied > 0 && oldestAt !== knownMigrations(folder).oldestAt
}

export function isOfFormerCommit({ newestAt }: SchemaVersion): boolean {
  return newestAt === formerNewestAt
}

/** The names of the migrations that a database of this version lacks, in order. */
export function missingMigrations(folder: string, { newestAt }: SchemaVersion): string[] {
  return entriesOf(folder)
    .filter(({ when }) => when > newestAt)
    .map(({ tag }) => tag)
}

function entriesOf(folder: string): { when: number; tag: string }[] {
  return journal.parse(JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8'))).entries
}

const journal = z.object({ entries: z.array(z.object({ when: z.number(), tag: z.string() })) })

/**
 * Reads the schema version of a database, which can be empty or of a former version without `schema_state`.
 */
export async function readSchemaVersion(session: ISql): Promise<SchemaVersion> {
  const [there] = await session<{ migrations: boolean; state: boolean }[]>`
    SELECT to_regclass('drizzle.__drizzle_migrations') IS NOT NULL AS migrations,
      to_regclass('schema_state') IS NOT NULL AS state`
  const [count] = there?.migrations
    ? await session<{ applied: string; oldestAt: string | null; newestAt: string | null }[]>`
        SELECT count(*) AS applied, min(created_at) AS "oldestAt", max(created_at) AS "newestAt"
        FROM drizzle.__drizzle_migrations`
    : []
  const [state] = there?.state
    ? await session<{ least: number }[]>`SELECT compatible_from AS least FROM schema_state`
    : []
  return {
    applied: Number(count?.applied ?? 0),
    oldestAt: Number(count?.oldestAt ?? 0),
    newestAt: Number(count?.newestAt ?? 0),
    compatibleFrom: state?.least ?? 0,
  }
}
