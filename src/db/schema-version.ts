import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ISql } from 'postgres'
import { z } from 'zod'

/**
 * A later release has taken away what this one needs. Each migration that does so says in `schema_state` how
 * many migrations a release must know to run on its schema.
 */
export class SchemaTooNewError extends Error {
  override readonly name = 'SchemaTooNewError'

  constructor(known: number, { applied, compatibleFrom }: SchemaVersion) {
    super(
      `the database has the schema of a later release (${applied} migrations), on which releases with ${compatibleFrom} or more can run. ` +
        `This one has ${known}: start the later release`,
    )
  }
}

/** This process may not migrate, and no other process has done so yet. */
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

/** The last commit whose migrations were many. `tollgate migrate` takes over its schema and no other. */
export const formerCommit = '17e1c317'
/** The newest of them. */
const formerNewestAt = 1_795_928_776_602

/** The database or a journal is of a version before the first release. Nothing was changed. */
export class FormerSchemaError extends Error {
  override readonly name = 'FormerSchemaError'

  constructor(problem: string) {
    super(
      `what is here is of a version before the first release (${problem}). Nothing was changed. Either start commit ${formerCommit} ` +
        'here, stop it with SIGTERM, so that it ships its journals, and call `tollgate migrate`, which takes over its database; or ' +
        'start empty, with another DATA_DIR and another database',
    )
  }
}

export interface SchemaVersion {
  /** Migrations that the database has. */
  applied: number
  /** When the first of them was made, in ms since 1970. 0: there are none. */
  oldestAt: number
  /** When the last of them was made, in ms since 1970. 0: there are none. */
  newestAt: number
  /** The number of migrations that a release must know at least. */
  compatibleFrom: number
}

/** How many migrations the folder of a release has, and when the first and the last of them were made. */
export function knownMigrations(folder: string): { count: number; oldestAt: number; newestAt: number } {
  const entries = entriesOf(folder)
  const moments = entries.map(({ when }) => when)
  return { count: entries.length, oldestAt: moments[0] ?? 0, newestAt: Math.max(0, ...moments) }
}

/** True: other migrations than those of the folder have made the database, those before the first release. */
export function isFormer(folder: string, { applied, oldestAt }: SchemaVersion): boolean {
  return applied > 0 && oldestAt !== knownMigrations(folder).oldestAt
}

export function isOfFormerCommit({ newestAt }: SchemaVersion): boolean {
  return newestAt === formerNewestAt
}

/** The names of the migrations that a database of this version does not have, in their order. */
export function missingMigrations(folder: string, { newestAt }: SchemaVersion): string[] {
  return entriesOf(folder)
    .filter(({ when }) => when > newestAt)
    .map(({ tag }) => tag)
}

function entriesOf(folder: string): { when: number; tag: string }[] {
  return journal.parse(JSON.parse(readFileSync(join(folder, 'meta/_journal.json'), 'utf8'))).entries
}

const journal = z.object({ entries: z.array(z.object({ when: z.number(), tag: z.string() })) })

/** The schema of a database, which may be empty, or of a former version that had no `schema_state`. */
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
