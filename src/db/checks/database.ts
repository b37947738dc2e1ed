import { resolve } from 'node:path'
import postgres, { type Sql } from 'postgres'
import { type Finding, findingsOf, messagesIn } from '../../canonical/finding.ts'
import { codeOf } from '../../canonical/unreachable.ts'
import type { Config } from '../../config/config.ts'
import { inTime } from '../../runtime/in-time.ts'
import { openConnections } from '../connections.ts'
import { embeddedUrl } from '../embedded.ts'
import { embeddedBinaries } from '../embedded-home.ts'
import { isForbidden } from '../failures.ts'
import { databaseNamed } from '../migrate.ts'
import { answers } from '../postmaster.ts'
import { connectionFailure } from './database-failure.ts'
import { checkRights } from './database-rights.ts'
import {
  checkClock,
  checkConnections,
  checkSchema,
  checkTenantStorage,
  checkVersion,
} from './database-state.ts'
import { checkDirect, checkPoolerUrl, settingsRefused } from './pooler.ts'

const { well, skipped, wrong } = findingsOf('database')

/** The longest time that one step waits for Postgres. */
const answerMs = 10_000

/**
 * Checks the database of this configuration, and runs the checks of other rooms on the same connection.
 * Writes nothing, and does not start the embedded Postgres.
 */
export async function checkDatabase(config: Config, others: readonly DatabaseCheck[]): Promise<Finding[]> {
  const { databaseUrl } = config
  if (databaseUrl !== undefined) return await checkAt(databaseUrl, config, others)
  const own = await checkBinaries(resolve(config.dataDir))
  const url = embeddedUrl(resolve(config.dataDir))
  if (url === undefined || !(await answers(Number(new URL(url).port)))) {
    const what = 'the embedded Postgres is not running; it starts together with the gateway'
    return [...own, skipped('database.embedded_idle', what)]
  }
  return [...own, ...(await checkAt(url, config, others))]
}

async function checkBinaries(dataDir: string): Promise<Finding[]> {
  const problem = await embeddedBinaries(dataDir)
  if (problem === undefined)
    return [
      well(
        'database.embedded',
        'DATABASE_URL is not set; the embedded Postgres is used, which can run on this machine',
      ),
    ]
  return [
    wrong('database.embedded', 'the embedded Postgres cannot run on this machine', {
      why: problem,
      fix: 'Install it, or set DATABASE_URL to your own Postgres.',
      run: 'npm install --include=optional',
      docs: 'docs/reference/deployment.md#a-postgres-of-your-own',
    }),
  ]
}

/**
 * Opens a connection without the gateway's settings and without prepared statements, because some pools
 * reject them.
 */
export function bareClient(url: string): Sql {
  return postgres(url, {
    max: 1,
    connect_timeout: answerMs / 1000,
    prepare: false,
    fetch_types: false,
    onnotice: () => {},
    connection: { application_name: 'tollgate doctor' },
  })
}

async function checkAt(url: string, config: Config, others: readonly DatabaseCheck[]): Promise<Finding[]> {
  let name: string
  let sql: Sql
  try {
    name = databaseNamed(url)
    sql = bareClient(url)
  } catch (error) {
    return [
      wrong('database.url', 'DATABASE_URL is not a valid address', {
        why: `${codeOf(error)}: a character in the user or password may need escaping, such as %40 for @.`,
        fix: 'Use the form postgres://USER:PASSWORD@HOST:5432/DATABASE',
        docs: 'docs/reference/deployment.md#a-postgres-of-your-own',
      }),
    ]
  }
  try {
    await inTime(sql`SELECT 1`, answerMs, 'Postgres')
  } catch (error) {
    await sql.end({ timeout: 0 })
    return [connectionFailure(error, url, name)]
  }
  try {
    const reached = well('database.reached', `${name} is reachable`)
    const pooler = await checkDirect(sql, () => bareClient(url))
    const settings = pooler.length > 0 ? [] : await checkSettings(url)
    const rest: Finding[] = []
    for (const check of [...checks, ...others]) rest.push(...(await reading(check, sql, config)))
    return [reached, ...pooler, ...settings, ...(await checkPoolerUrl(config, sql)), ...rest]
  } finally {
    await sql.end({ timeout: 0 })
  }
}

/** Connects with the gateway's settings. */
async function checkSettings(url: string): Promise<Finding[]> {
  const { sql, end } = openConnections(url, { max: 1, connectSeconds: 5, applicationName: 'tollgate doctor' })
  try {
    await inTime(sql`SELECT 1`, answerMs, 'Postgres')
    return []
  } catch (error) {
    return [settingsRefused(error)]
  } finally {
    await end()
  }
}

/** Its name says what it checks: `checkVersion`. */
export type DatabaseCheck = (sql: Sql, config: Config) => Promise<Finding[]>

const checks: readonly DatabaseCheck[] = [
  checkVersion,
  checkRights,
  checkSchema,
  checkConnections,
  checkTenantStorage,
  checkClock,
]

/** Skips whatever this user cannot read or the schema of another release lacks. */
async function reading(check: DatabaseCheck, sql: Sql, config: Config): Promise<Finding[]> {
  try {
    return await inTime(check(sql, config), answerMs, 'Postgres')
  } catch (error) {
    const why = isForbidden(error) ? 'this user is not allowed to read it' : messagesIn(error)
    return [
      skipped('database.unread', `could not check ${what[check.name] ?? 'a part of the database'}: ${why}`),
    ]
  }
}

const what: Readonly<Record<string, string>> = {
  checkVersion: 'the version',
  checkRights: 'the rights of the user',
  checkSchema: 'the schema',
  checkConnections: 'the number of connections',
  checkMasters: 'whether SECRET_KEY is correct',
  checkTenantStorage: 'the storage of tenants',
  checkClock: 'the clock of Postgres',
}
