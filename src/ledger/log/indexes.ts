import type { Sql } from 'postgres'

/**
 * The indexes of closed days, which serve the queries of admins over all tenants. A day is closed when it has ended and its
 * rows are there. The partitions of today and tomorrow do without: each index would cost every insert, and one day of rows is
 * read fast enough. To build an index at once, by sorting, costs a small part of what inserts into it cost.
 */
interface LogIndex {
  /** The end of its name, behind that of the partition. */
  readonly name: string
  readonly on: string
  /** The extension whose operators it uses. */
  readonly extension?: 'pg_trgm'
}

export const logIndexes: readonly LogIndex[] = [
  { name: 'log_key', on: '(key_id, created_at)' },
  { name: 'log_model', on: '(requested_model, created_at)' },
  { name: 'log_served', on: '(served_model, created_at) where served_model <> requested_model' },
  { name: 'log_channel', on: '(channel, created_at) where channel is not null' },
  { name: 'log_user', on: '(end_user, created_at) where end_user is not null' },
  { name: 'log_error', on: '(error_kind, created_at) where error_kind is not null' },
  // For equal addresses, and for those that begin alike, whatever the collation of the database is.
  { name: 'log_address', on: '(client_address text_pattern_ops, created_at)' },
  {
    name: 'log_error_text',
    on: 'using gin (error_message gin_trgm_ops) where error_message is not null',
    extension: 'pg_trgm',
  },
]

/** What a pass did. `left`: indexes that are still missing. */
export interface IndexPass {
  built: number
  left: number
  /** Why there is no index on error texts: Postgres does not have the extension, or this user may not create it. */
  without: string | undefined
}

/** A pass ends after this time, so that other upkeep gets its turn. */
const passMs = 60_000
/** Rows of a day may come so much later. A row that comes even later costs more, and is found as well. */
const lateHours = 1

/**
 * A build waits for all transactions that are older than it. Other upkeep, such as new partitions, waits for the build, so it
 * waits no longer than this.
 */
const longestWaitMs = 10_000

/**
 * Build the missing indexes of closed days, the newest day first, one after the other. CONCURRENTLY: writers of the day, if
 * there are any, do not wait. Any number of processes may call it: one builds at a time. Nothing is built while a transaction
 * runs for longer than `waitMs`. `sql` has one connection.
 */
export async function keepLogIndexes(sql: Sql, { waitMs = longestWaitMs } = {}): Promise<IndexPass> {
  const left = (await missingIndexes(sql)).length
  if (left === 0) return { built: 0, left, without: undefined }
  // Two builds on one table would wait for each other.
  const [lock] = await sql<{ mine: boolean }[]>`select pg_try_advisory_lock(${builderLock}) as mine`
  if (lock?.mine !== true) return { built: 0, left, without: undefined }
  try {
    if (await hasLongTransaction(sql, waitMs)) return { built: 0, left, without: undefined }
    return await buildMissing(sql, waitMs)
  } finally {
    await sql`select pg_advisory_unlock(${builderLock})`
  }
}

/** Any number that nothing else uses: see src/db/functions/README.md. */
const builderLock = 7_023_920

async function buildMissing(sql: Sql, waitMs: number): Promise<IndexPass> {
  // Another process may have built some meanwhile.
  const missing = await missingIndexes(sql)
  const trigrams = missing.some(({ index }) => index.extension !== undefined)
    ? await trigramSchema(sql)
    : undefined
  const without = trigrams !== undefined && 'without' in trigrams ? trigrams.without : undefined
  const buildable = missing.filter(({ index }) => index.extension === undefined || without === undefined)
  const schema = trigrams !== undefined && 'schema' in trigrams ? trigrams.schema : ''
  const endAt = performance.now() + passMs
  let built = 0
  // Neither statement can run in a transaction.
  await sql`select set_config('lock_timeout', ${`${waitMs}ms`}, false)`
  try {
    for (const missingIndex of buildable) {
      if (performance.now() > endAt || (await othersBuild(sql))) break
      await build(sql, missingIndex, schema)
      built++
    }
  } catch (error) {
    // The index is there, but not valid: a later pass builds it again.
    if (!(error instanceof Error && 'code' in error && error.code === lockNotAvailable)) throw error
  } finally {
    await sql`reset lock_timeout`
  }
  return { built, left: buildable.length - built, without }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const lockNotAvailable = '55P03'

/** `schema`: of the extension's operators. */
async function build(sql: Sql, { partition, index, isInvalid }: MissingIndex, schema: string): Promise<void> {
  const name = `${partition}_${index.name}`
  if (isInvalid) await sql.unsafe(`drop index concurrently if exists "${name}"`)
  const on = index.on.replace('gin_trgm_ops', `"${schema.replaceAll('"', '""')}".gin_trgm_ops`)
  await sql.unsafe(`create index concurrently if not exists "${name}" on "${partition}" ${on}`)
}

/** Whether a build would have to wait for a transaction that has lasted long already. Of other users we may not see it. */
async function hasLongTransaction(sql: Sql, waitMs: number): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
      and backend_xmin is not null and xact_start < now() - make_interval(secs => ${waitMs / 1000}::double precision) limit 1`
  return rows.length > 0
}

interface MissingIndex {
  partition: string
  index: LogIndex
  /** A build was interrupted. */
  isInvalid: boolean
}

async function missingIndexes(sql: Sql): Promise<MissingIndex[]> {
  const rows = await sql<{ partition: string; name: string; is_invalid: boolean }[]>`
    select c.relname::text as partition, w.name, i.indexrelid is not null as is_invalid
    from pg_inherits h
    join pg_class c on c.oid = h.inhrelid
    cross join unnest(${logIndexes.map(({ name }) => name)}::text[]) with ordinality as w (name, place)
    left join pg_class x on x.relname = c.relname || '_' || w.name and x.relnamespace = c.relnamespace
    left join pg_index i on i.indexrelid = x.oid
    where h.inhparent = to_regclass('requests') and c.relname ~ '^requests_[0-9]{8}$'
      and to_date(right(c.relname, 8), 'YYYYMMDD')
        < ((now() - make_interval(hours => ${lateHours})) at time zone 'UTC')::date
      and i.indisvalid is not true
    order by c.relname desc, w.place`
  return rows.flatMap(({ partition, name, is_invalid }) => {
    const index = logIndexes.find((each) => each.name === name)
    return index === undefined ? [] : [{ partition, index, isInvalid: is_invalid }]
  })
}

/** Whether any process builds an index of the usage log now. An index that is being built is invalid as well. */
async function othersBuild(sql: Sql): Promise<boolean> {
  const rows = await sql`
    select from pg_stat_progress_create_index p join pg_inherits h on h.inhrelid = p.relid
    where p.datname = current_database() and h.inhparent = to_regclass('requests') limit 1`
  return rows.length > 0
}

/** The schema of pg_trgm, which is created where it can be. It is a trusted extension: no superuser is needed. */
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
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: the user may not, or the server does not have it.
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (!refusals.has(code) || !(error instanceof Error)) throw error
    return { without: error.message }
  }
  const [made] = await find()
  return made ?? { without: 'the extension is not there' }
}

/** insufficient_privilege, feature_not_supported, undefined_file, undefined_object, invalid_parameter_value. */
const refusals: ReadonlySet<string> = new Set(['42501', '0A000', '58P01', '42704', '22023'])
