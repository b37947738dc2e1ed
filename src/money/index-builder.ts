import type { Sql } from 'postgres'
import { isLocked } from '../db/failures.ts'
import type { Clock } from '../runtime/clock.ts'

/** An index that a table should have but lacks. */
export interface MissingIndex {
  table: string
  name: string
  /** The part that follows `create index on "table"`. */
  on: string
  /** The extension that provides its operators. */
  extension?: 'pg_trgm' | undefined
  /** True if a build was interrupted. */
  isInvalid: boolean
}

/** The result of a pass. `left` is the number of indexes that are still missing. */
export interface IndexPass {
  built: number
  left: number
  /**
   * Why there is no index on error texts: Postgres lacks the extension, or this user is not allowed to create
   * it.
   */
  without: string | undefined
}

/** The maximum time of a pass, so that other upkeep gets its turn. */
const passMs = 60_000

/**
 * A build waits for all older transactions, and other upkeep, such as creating partitions, waits for the
 * build. This limits the wait.
 */
const longestWaitMs = 10_000

/**
 * Builds the indexes that `find` returns, in order, one at a time, using CONCURRENTLY so that writers do not
 * wait. Any number of processes can call this; one builds at a time. Nothing is built while some transaction
 * has been running for longer than `waitMs`. `sql` has one connection.
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

/** An arbitrary number that nothing else uses: see src/db/functions/README.md. */
const builderLock = 7_023_920

async function buildMissing(
  sql: Sql,
  find: (sql: Sql) => Promise<MissingIndex[]>,
  clock: Clock,
  waitMs: number,
): Promise<IndexPass> {
  // Another process may have built some in the meantime.
  const missing = await find(sql)
  const trigrams = missing.some(({ extension }) => extension !== undefined)
    ? await trigramSchema(sql)
    : undefined
  const without = trigrams !== undefined && 'without' in trigrams ? trigrams.without : undefined
  const buildable = missing.filter(({ extension }) => extension === undefined || without === undefined)
  const schema = trigrams !== undefined && 'schema' in trigrams ? trigrams.schema : ''
  const endAt = clock.elapsed() + passMs
  let built = 0
  // Set for the session, because neither of the following statements can run in a transaction.
  await sql`select set_config('lock_timeout', ${`${waitMs}ms`}, false)`
  try {
    for (const missingIndex of buildable) {
      if (clock.elapsed() > endAt || (await othersBuild(sql))) break
      await build(sql, missingIndex, schema)
      built++
    }
  } catch (error) {
    // The index exists but is not valid, so a later pass rebuilds it.
    if (!isLocked(error)) throw error
  } finally {
    await sql`reset lock_timeout`
  }
  return { built, left: buildable.length - built, without }
}

/** `schema` contains the extension's operators. */
async function build(sql: Sql, { table, name, on, isInvalid }: MissingIndex, schema: string): Promise<void> {
  if (isInvalid) await sql.unsafe(`drop index concurrently if exists "${name}"`)
  const known = on.replace('gin_trgm_ops', `"${schema.replaceAll('"', '""')}".gin_trgm_ops`)
  await sql.unsafe(`create index concurrently if not exists "${name}" on "${table}" ${known}`)
}

/**
 * Whether a build would have to wait for a transaction that has already been running for long. Transactions
 * of other users may not be visible.
 */
async function hasLongTransaction(sql: Sql, waitMs: number): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and backend_xmin is not null and xact_start < now() - make_interval(secs => ${waitMs / 1000}::double precision) limit 1`
  return rows.length > 0
}

/**
 * Whether any process is building an index on these tables. An index under construction also counts as
 * invalid.
 */
async function othersBuild(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_progress_create_index p join pg_inherits h on h.inhrelid = p.relid
    where p.datname = current_database() and h.inhparent in (to_regclass('requests'), to_regclass('entries')) limit 1`
  return rows.length > 0
}

/**
 * Returns the schema of pg_trgm, creating the extension if possible. It is a trusted extension, so no
 * superuser is needed.
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
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: the user is not allowed to, or the
    // server does not have the extension.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!refusals.has(code) || !(error instanceof Error)) throw error
    return { without: error.message }
  }
  const [made] = await find()
  return made ?? { without: 'the extension is missing' }
}

/**
 * insufficient_privilege, feature_not_supported, undefined_file, undefined_object, invalid_parameter_value.
 */
const refusals: ReadonlySet<string> = new Set(['42501', '0A000', '58P01', '42704', '22023'])
