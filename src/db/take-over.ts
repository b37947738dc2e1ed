import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres, { type ISql } from 'postgres'
import { clientSettings } from './connections.ts'
import { ownMigrations, prepareLock } from './migrate.ts'
import { FormerSchemaError, formerCommit, isOfFormerCommit, readSchemaVersion } from './schema-version.ts'

/** What `formerCommit` has and nothing calls any more. All else is as the first migration makes it. */
const gone = [
  'bound_entries',
  'check_entries_bound',
  'claim_image_job',
  'drop_partitions',
  'ensure_partitions',
  'move_entries',
  'retire_lost_instances',
  'roll_partitions',
  'sweep_image_jobs',
]

/**
 * Have the database of `formerCommit` count as one that the first migration has made: all or nothing. It does
 * not raise the functions to ours, as `prepareDatabase` does next. Rejects with FormerSchemaError, having
 * changed nothing, where there is a problem.
 */
export async function takeOver(url: string): Promise<void> {
  const session = postgres(url, clientSettings({ max: 1, applicationName: 'tollgate take over' }))
  try {
    await session.begin(async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${prepareLock})`
      const problems = await takeOverProblems(tx)
      if (problems.length > 0) throw new FormerSchemaError(problems.join('; '))
      for (const name of gone) await tx.unsafe(`DROP FUNCTION ${name}`)
      await tx`DELETE FROM drizzle.__drizzle_migrations`
      const { hash, when } = firstMigration()
      await tx`INSERT INTO drizzle.__drizzle_migrations (hash, created_at) VALUES (${hash}, ${when})`
    })
  } finally {
    await session.end({ timeout: 2 })
  }
}

/** Why a former database cannot be taken over; none: it can be. */
export async function takeOverProblems(sql: ISql): Promise<string[]> {
  if (!isOfFormerCommit(await readSchemaVersion(sql)))
    return [`the database has another schema than that of commit ${formerCommit}`]
  const processes = await sql<{ host: string; pid: number; state: string }[]>`
    SELECT host, pid, state FROM instances WHERE state IN ('live', 'lost') ORDER BY host, pid`
  const [{ moved } = { moved: false }] = await sql<{ moved: boolean }[]>`
    SELECT relkind = 'p' AS moved FROM pg_class WHERE oid = to_regclass('entries')`
  return [
    ...processes.map(
      ({ host, pid, state }) => `process ${pid} on ${host} is ${state}: its journal is not shipped`,
    ),
    ...(moved ? [] : ['the table entries has no months yet, which the upkeep of that commit makes']),
  ]
}

/** As drizzle notes it. */
function firstMigration(): { hash: string; when: number } {
  const { entries } = JSON.parse(readFileSync(join(ownMigrations, 'meta/_journal.json'), 'utf8'))
  const text = readFileSync(join(ownMigrations, `${entries[0].tag}.sql`), 'utf8')
  return { hash: createHash('sha256').update(text).digest('hex'), when: entries[0].when }
}
