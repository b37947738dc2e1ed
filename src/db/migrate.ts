import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { causeOf } from '../canonical/error.ts'
import type { Log } from '../telemetry/log.ts'
import { applyFunctions, type FunctionFolder } from './apply-functions.ts'
import { type Connections, clientSettings, openConnections } from './connections.ts'
import { drizzle, migrate } from './drizzle.cjs'
import { makeEntryMonths } from './entry-months.ts'
import { isForbidden, isLocked, isPassing, reasonOf } from './failures.ts'
import { makePartitions } from './make-partitions.ts'
import {
  type AddressProblem,
  findPoolerProblem,
  PoolerError,
  refusesSettings,
  unknownSetting,
} from './pooler.ts'
import {
  FormerSchemaError,
  isFormer,
  knownMigrations,
  readSchemaVersion,
  SchemaTooNewError,
  SchemaTooOldError,
} from './schema-version.ts'

/**
 * Migrates the database to this release, then runs `then`, which can write the catalog. `functions` and
 * `migrations` replace the SQL functions and the migrations folder of this release.
 * Any number of processes can call it at once. An advisory lock lets one work at a time, and the others find
 * the work done. Throws if another process holds the lock for two minutes; throws SchemaTooNewError or
 * FormerSchemaError before it changes anything, and SchemaTooOldError if this user is not allowed to migrate.
 */
export async function prepareDatabase(
  url: string,
  then?: (connections: Connections) => Promise<void>,
  functions?: FunctionFolder,
  migrations = ownMigrations,
): Promise<void> {
  // The lock belongs to a session, so everything runs on one connection.
  const session = postgres(url, {
    // A long timeout is fine because no client waits for this connection.
    ...clientSettings({ max: 1, connectSeconds: 10, applicationName: 'tollgate prepare' }),
    max_lifetime: null,
    idle_timeout: 0,
  })
  try {
    await session`set lock_timeout = '120s'`
    await session`select pg_advisory_lock(${prepareLock})`
    await migrateSchema(session, migrations)
    await applyFunctions(session, functions)
    // Enough to write rows now; keepPartitions creates the partitions of later days.
    await makePartitions(session, 1)
    await makeEntryMonths(session)
    if (then) await withConnections(url, then)
  } finally {
    // Ending the session releases the lock.
    await session.end({ timeout: 2 })
  }
}

/** An arbitrary number that is the same in all versions and that nothing else uses. */
export const prepareLock = 7_023_911
export const ownMigrations = fileURLToPath(new URL('../../migrations', import.meta.url))

async function migrateSchema(session: postgres.Sql, migrationsFolder: string): Promise<void> {
  const version = await readSchemaVersion(session)
  const known = knownMigrations(migrationsFolder)
  if (isFormer(migrationsFolder, version)) throw new FormerSchemaError('the database')
  if (version.compatibleFrom > known.count) throw new SchemaTooNewError(known.count, version)
  // This also holds if a later release has migrated.
  if (version.newestAt >= known.newestAt) return
  try {
    await migrateWhenUnlocked(session, migrationsFolder)
  } catch (error) {
    const cause = reasonOf(error)
    throw isForbidden(cause) ? new SchemaTooOldError(known.count, version, cause) : error
  }
}

/**
 * Runs all migrations in one transaction. Writers wait behind a lock that it waits for (for example while a
 * backup reads the table), so it does not wait long: it releases all its locks and starts over a little
 * later.
 */
async function migrateWhenUnlocked(session: postgres.Sql, migrationsFolder: string): Promise<void> {
  const endAt = performance.now() + longestTryMs
  await session`set lock_timeout = '1s'`
  for (;;) {
    try {
      await migrate(drizzle({ client: session }), { migrationsFolder })
      break
    } catch (error) {
      if (!isLocked(reasonOf(error)) || performance.now() > endAt) throw error
      await sleep(unlockedMs)
    }
  }
  await session`set lock_timeout = '120s'`
}

const longestTryMs = 120_000
/** Longer than an attempt waits, so that writers can catch up. */
const unlockedMs = 2_000

async function withConnections(
  url: string,
  work: (connections: Connections) => Promise<void>,
): Promise<void> {
  const connections = openConnections(url, { max: 2, applicationName: 'tollgate prepare' })
  try {
    await work(connections)
  } finally {
    await connections.end()
  }
}

/**
 * Runs the start-up work once the database answers, waiting for it for at most `waitMs`. The work is repeated
 * if the database cannot serve it at the moment, for example because it accepts no more connections. A wrong
 * password or database name fails at once, because waiting cannot help. The Error states in one line what is
 * wrong and where, and never contains the password.
 */
export async function whenReachable<T>(
  url: string,
  waitMs: number,
  log: Log,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = Date.now() + waitMs
  let complaint = ''
  for (;;) {
    let problem = await findProblem(url)
    if (problem === undefined) {
      try {
        return await work()
      } catch (error) {
        problem = problemOf(error)
        if (problem.final) throw error
      }
    }
    const message = `cannot use the database ${databaseNamed(url)}: ${problem.message}`
    if (problem.final || Date.now() + retryMs > deadline) throw new Error(message)
    if (message !== complaint)
      log.info({}, `${message}; retrying for ${Math.ceil((deadline - Date.now()) / 1000)} s`)
    complaint = message
    await sleep(retryMs)
  }
}

const retryMs = 250

async function findProblem(url: string): Promise<AddressProblem | undefined> {
  const session = postgres(url, clientSettings({ max: 1 }))
  try {
    return await findPoolerProblem(url, session)
  } catch (error) {
    const { message, code } = described(error)
    if (unknownSetting.test(message)) return { message: refusesSettings, final: true }
    return { message, final: /^(28...|3D000)$/.test(code) }
  } finally {
    await session.end({ timeout: 0 })
  }
}

function problemOf(error: unknown): AddressProblem {
  const cause = error instanceof SchemaTooOldError ? error : reasonOf(causeOf(error))
  // Another process may migrate in the meantime.
  const isPassed = cause instanceof SchemaTooOldError || cause instanceof PoolerError || isPassing(cause)
  return { message: described(cause).message, final: !isPassed }
}

function described(error: unknown): { message: string; code: string } {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return { message: error instanceof Error ? error.message || code : String(error), code }
}

/** The database and user of an address, without the password. */
export function databaseNamed(url: string): string {
  const { hostname, port, pathname, username } = new URL(url)
  const database = decodeURIComponent(pathname.slice(1)) || username
  return `"${database}" on ${hostname}:${port || 5432} as ${decodeURIComponent(username) || 'the default user'}`
}
