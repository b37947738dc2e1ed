import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type ISql } from 'postgres'
import { clientSettings } from './connections.ts'
import { ownMigrations, prepareLock } from './migrate.ts'
import { FormerSchemaError, formerCommit, isOfFormerCommit, readSchemaVersion } from './schema-version.ts'

/**
 * The functions of `formerCommit` that nothing calls any more. Apart from these and the name of `jobs`, its
 * schema equals the result of the first migration.
 */
const gone = [
  'accept_image_job',
  'bound_entries',
  'check_entries_bound',
  'claim_image_job',
  'disown_image_job',
  'drop_partitions',
  'ensure_partitions',
  'extend_image_job',
  'feed_image_jobs',
  'finish_image_job',
  'lost_image_jobs',
  'move_entries',
  'requeue_image_job',
  'retire_lost_instances',
  'roll_partitions',
  'sweep_image_jobs',
  'unfed_image_tenants',
]

/**
 * Marks the database of `formerCommit` as created by the first migration, in one transaction. Its functions
 * stay as they are, because `prepareDatabase` replaces them next. If there is a problem, rejects with
 * FormerSchemaError and changes nothing.
 */
export async function takeOver(url: string): Promise<void> {
  const session = postgres(url, clientSettings({ max: 1, applicationName: 'tollgate take over' }))
  try {
    await session.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${prepareLock})`
      const problems = await takeOverProblems(tx)
      if (problems.length > 0) throw new FormerSchemaError(problems.join('; '))
      for (const name of gone) await tx.unsafe(`DROP FUNCTION ${name}`)
      await renameJobs(tx)
      await tx`DELETE FROM drizzle.__drizzle_migrations`
      const { hash, when } = firstMigration()
      await tx`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${hash}, ${when})`
    })
  } finally {
    await session.end({ timeout: 2 })
  }
}

/** Why a former database cannot be taken over; empty if it can. */
export async function takeOverProblems(sql: ISql): Promise<string[]> {
  if (!isOfFormerCommit(await readSchemaVersion(sql)))
    return [`the schema of the database is not that of commit ${formerCommit}`]
  const processes = await sql<{ host: string; pid: number; state: string }[]>`
    SELECT host, pid, state FROM instances WHERE state IN ('live', 'lost') ORDER BY host, pid`
  const [{ moved } = { moved: false }] = await sql<{ moved: boolean }[]>`
    SELECT relkind = 'p' AS moved FROM pg_class WHERE oid = to_regclass('entries')`
  return [
    ...processes.map(
      ({ host, pid, state }) => `process ${pid} on ${host} is ${state}: its journal has not been shipped`,
    ),
    ...(moved
      ? []
      : ['the table entries has not been partitioned by month yet, which the upkeep of that commit does']),
  ]
}

/**
 * Also renames what Postgres named after the table: the primary key and, from version 18 on, the NOT NULL
 * constraints.
 */
async function renameJobs(sql: ISql): Promise<void> {
  await sql`ALTER TABLE image_jobs RENAME TO jobs`
  const constraints = await sql<{ name: string }[]>`
    SELECT conname AS name FROM pg_constraint WHERE conrelid = 'jobs'::regclass`
  for (const { name } of constraints)
    await sql`ALTER TABLE jobs RENAME CONSTRAINT ${sql(name)} TO ${sql(name.replace(/^image_/, ''))}`
  const indexes = await sql<{ name: string }[]>`
    SELECT relname AS name FROM pg_class JOIN pg_index ON indexrelid = oid
    WHERE indrelid = 'jobs'::regclass AND NOT indisprimary`
  for (const { name } of indexes)
    await sql`ALTER INDEX ${sql(name)} RENAME TO ${sql(name.replace(/^image_/, ''))}`
}

/** The first migration, in the form that drizzle records. */
function firstMigration(): { hash: string; when: number } {
  const { entries } = JSON.parse(readFileSync(join(ownMigrations, 'meta/_journal.json'), 'utf8'))
  const text = readFileSync(join(ownMigrations, `${entries[0].tag}.sql`), 'utf8')
  return { hash: createHash('sha256').update(text).digest('hex'), when: entries[0].when }
}
