import type { Sql } from 'postgres'
import { isLocked } from '../db/failures.ts'
import type { Clock } from '../runtime/clock.ts'

/** An index that a table should have, and has not. */
export interface MissingIndex {
  table: string
  name: string
  /** What `create index on "table"` goes on with. */
  on: string
  /** The extension whose operators it uses. */
  extension?: 'pg_trgm' | undefined
  /** A build was interrupted. */
  isInvalid: boolean
}

/** What a pass did. `left`: indexes that are still missing. */
export interface IndexPass {
  built: number
  left: number
  /**
   * Why there is no index on error texts: Postgres does not have the extension, or this user may not create
   * it.
   */
  without: string | undefined
}

/** A pass ends after this time, so that other upkeep gets its turn. */
const passMs = 60_000

/**
 * A build waits for all transactions that are older than it. Other upkeep, such as new partitions, waits for
 * the build, so it waits no longer than this.
 */
const longestWaitMs = 10_000

/**
 * Build the indexes that `find` names, in its order, one after the other. CONCURRENTLY: writers of the table
 * do not wait. Any number of processes may call it: one builds at a time. Nothing is built while a
 * transaction runs for longer than `waitMs`. `sql` has one connection.
 */
export async function buildIndexes(
  sql: Sql,
  find: (sql: Sql) => Promise<MissingIndex[]>,
  clock: Clock,
  { waitMs = longestWaitMs } = {},
): Promise<IndexPass> {
  const left = (await find(sql)).length
  if (left === 0) return { built: 0, left, without: undefined }
  // Two builds on one table would wait for each other.
  const [lock] = await sql<{ mine: boolean }[]>`select pg_try_advisory_lock(${builderLock}) as mine`
  if (lock?.mine !== true) return { built: 0, left, without: undefined }
  try {
    if (await hasLongTransaction(sql, waitMs)) return { built: 0, left, without: undefined }
    return await buildMissing(sql, find, clock, waitMs)
  } finally {
    await sql`select pg_advisory_unlock(${builderLock})`
  }
}

/** Any number that nothing else uses: see src/db/functions/README.md. */
const builderLock = 7_023_920

async function buildMissing(
  sql: Sql,
  find: (sql: Sql) => Promise<MissingIndex[]>,
  clock: Clock,
  waitMs: number,
): Promise<IndexPass> {
  // Another process may have built some meanwhile.
  const missing = await find(sql)
  const trigrams = missing.some(({ extension }) => extension !== undefined)
    ? await trigramSchema(sql)
    : undefined
  const without = trigrams !== undefined && 'without' in trigrams ? trigrams.without : undefined
  const buildable = missing.filter(({ extension }) => extension === undefined || without === undefined)
  const schema = trigrams !== undefined && 'schema' in trigrams ? trigrams.schema : ''
  const endAt = clock.elapsed() + passMs
  let built = 0
  // Neither statement can run in a transaction.
  await sql`select set_config('lock_timeout', ${`${waitMs}ms`}, false)`
  try {
    for (const missingIndex of buildable) {
      if (clock.elapsed() > endAt || (await othersBuild(sql))) break
      await build(sql, missingIndex, schema)
      built++
    }
  } catch (error) {
    // The index is there, but not valid: a later pass builds it again.
    if (!isLocked(error)) throw error
  } finally {
    await sql`reset lock_timeout`
  }
  return { built, left: buildable.length - built, without }
}

/** `schema`: of the extension's operators. */
async function build(sql: Sql, { table, name, on, isInvalid }: MissingIndex, schema: string): Promise<void> {
  if (isInvalid) await sql.unsafe(`drop index concurrently if exists "${name}"`)
  const known = on.replace('gin_trgm_ops', `"${schema.replaceAll('"', '""')}".gin_trgm_ops`)
  await sql.unsafe(`create index concurrently if not exists "${name}" on "${table}" ${known}`)
}

/**
 * Whether a build would have to wait for a transaction that has lasted long already. Of other users we may
 * not see it.
 */
async function hasLongTransaction(sql: Sql, waitMs: number): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and backend_xmin is not null and xact_start < now() - make_interval(secs => ${waitMs / 1000}::double precision) limit 1`
  return rows.length > 0
}

/**
 * Whether any process builds an index of these tables now. An index that is being built is invalid as well.
 */
async function othersBuild(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_progress_create_index p join pg_inherits h on h.inhrelid = p.relid
    where p.datname = current_database() and h.inhparent in (to_regclass('requests'), to_regclass('entries')) limit 1`
  return rows.length > 0
}

/**
 * The schema of pg_trgm, which is created where it can be. It is a trusted extension: no superuser is needed.
 */
async function trigramSchema(sql: Sql): Promise<{ schema: string } | { without: string }> {
  const find = () =>
    sql<{ schema: string }[]>`
      select n.nspname::text as schema from pg_extension e join pg_namespace n on n.oid = e.extnamespace
      where e.extname = 'pg_trgm'`
  const [found] = await find()
  if (found !== undefined) return found
  try {
    await sql`create extension if not exists pg_trgm`
  } catch (error) {
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: the user may not, or the server does
    // not have it.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!refusals.has(code) || !(error instanceof Error)) throw error
    return { without: error.message }
  }
  const [made] = await find()
  return made ?? { without: 'the extension is not there' }
}

/**
 * insufficient_privilege, feature_not_supported, undefined_file, undefined_object, invalid_parameter_value.
 */
const refusals: ReadonlySet<string> = new Set(['42501', '0A000', '58P01', '42704', '22023'])
