import type { Sql } from 'postgres'
import type { Config } from '../config.ts'
import { pooledPurposes } from '../db/database.ts'
import { planMigration } from '../db/migration-plan.ts'
import { FormerSchemaError } from '../db/schema-version.ts'
import { readKeeper } from '../secrets/open-masters.ts'
import { presentKeys } from '../secrets/present-keys.ts'
import { type Finding, findingsOf, messagesIn } from './finding.ts'

const { well, skipped, warning, wrong } = findingsOf('database')
const ownPostgres = 'docs/reference/deployment.md#a-postgres-of-your-own'

/** 15 is the oldest that the tests run on. */
const oldest = 150_000

export async function checkVersion(sql: Sql): Promise<Finding[]> {
  const [row] = await sql<{ number: string; version: string; standby: boolean; readOnly: string }[]>`
    SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
      pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') AS "readOnly"`
  if (row === undefined) return []
  if (row.standby || row.readOnly === 'on')
    return [
      wrong('database.read_only', 'Postgres takes no writes', {
        why: row.standby ? 'It is a standby of another server.' : 'default_transaction_read_only is on.',
        fix: 'Point DATABASE_URL at the server that takes writes.',
        docs: ownPostgres,
      }),
    ]
  if (Number(row.number) >= oldest) return [well('database.version', `Postgres ${row.version}`)]
  return [
    wrong('database.version', `Postgres ${row.version} is too old`, {
      why: 'Tollgate needs Postgres 15 or newer.',
      fix: 'Use pg_upgrade, or a newer server and pg_dump.',
      docs: ownPostgres,
    }),
  ]
}

export async function checkSchema(sql: Sql): Promise<Finding[]> {
  const { applied, known, compatibleFrom, isFormer, missing, functions } = await planMigration(sql)
  const docs = 'docs/reference/deployment.md#upgrade'
  if (isFormer)
    return [
      wrong('database.schema_former', 'the database is of a version before the first release', {
        why: new FormerSchemaError('the database').message,
        run: 'tollgate migrate',
        docs,
      }),
    ]
  if (compatibleFrom > known)
    return [
      wrong('database.schema_newer', 'the database has the schema of a later release', {
        why: `It has ${applied} migrations, on which releases with ${compatibleFrom} or more can run. This one has ${known}.`,
        fix: 'Start the later release, or restore the backup that was made before it.',
        docs,
      }),
    ]
  if (applied === 0) return [well('database.schema', 'the database is empty; the first start fills it')]
  if (missing.length > 0 || functions.length > 0)
    return [
      warning('database.schema_older', 'the schema is older than this release', {
        why: `It has ${applied} migrations of ${known}, and ${functions.length} functions are to be replaced. A start does both.`,
        run: 'tollgate migrate',
        docs,
      }),
    ]
  const newer =
    applied > known
      ? `of a later release (${applied} migrations), which has all that this one needs`
      : `of this release (${applied} migrations)`
  return [well('database.schema', `the schema is ${newer}`)]
}

/** From this part of KEPT_TENANT_BYTES_MAX on, a tenant is named before it is refused. */
const nearlyFull = 0.8
const tenantsNamed = 5

/** Tenants that can store nothing more, or soon cannot. */
export async function checkTenantStorage(sql: Sql, { bounds }: Config): Promise<Finding[]> {
  const [schema] = await sql<
    { counts: boolean }[]
  >`SELECT to_regclass('tenant_storage') IS NOT NULL AS counts`
  if (schema?.counts !== true) return []
  const { keptTenantBytesMax } = bounds
  const named = async (least: number, most: number) => {
    const rows = await sql<{ name: string; bytes: string }[]>`
      SELECT coalesce(t.name, s.tenant_id::text) AS name, s.bytes::text AS bytes
      FROM tenant_storage s LEFT JOIN tenants t ON t.id = s.tenant_id
      WHERE s.bytes >= ${least} AND s.bytes < ${most} ORDER BY s.bytes DESC, 1 LIMIT ${tenantsNamed}`
    return rows.map(({ name, bytes }) => `${name} (${bytes} bytes)`).join(', ')
  }
  const full = await named(keptTenantBytesMax, Number.MAX_SAFE_INTEGER)
  const nearly = await named(Math.floor(keptTenantBytesMax * nearlyFull), keptTenantBytesMax)
  const advice = {
    why: `KEPT_TENANT_BYTES_MAX is ${keptTenantBytesMax}. Above it, requests that keep something get 429.`,
    fix: 'Let them delete answers, conversations or files, or raise KEPT_TENANT_BYTES_MAX.',
    docs: 'docs/reference/endpoints.md#what-a-tenant-keeps',
  }
  return [
    ...(full === ''
      ? []
      : [warning('database.storage_full', `tenants keep as much as they may: ${full}`, advice)]),
    ...(nearly === ''
      ? []
      : [
          warning(
            'database.storage_nearly_full',
            `tenants keep nearly as much as they may: ${nearly}`,
            advice,
          ),
        ]),
  ]
}

/** Beside those by purpose: upkeep, notifications, the journal. */
const furtherConnections = 3
/** Of the queue's workers, where the queue is on Postgres. */
const queueConnections = 10

export async function checkConnections(sql: Sql, config: Config): Promise<Finding[]> {
  const { bounds, processes, role, redisUrl } = config
  const pooled = config.databasePoolerUrl === undefined ? [] : [...pooledPurposes]
  const elsewhere = new Set(pooled.map((purpose) => `${purpose}Connections`))
  const ofPurposes = Object.entries(bounds).filter(
    ([name]) => /^[a-z]+Connections$/.test(name) && !elsewhere.has(name),
  )
  const ofProcess = ofPurposes.reduce((sum, [, number]) => sum + number, furtherConnections)
  const queue = role === 'api' || redisUrl !== undefined ? 0 : queueConnections
  const needed = (role === 'worker' ? 1 : processes) * ofProcess + queue
  const [row] = await sql<{ most: number }[]>`
    SELECT least(
      current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true)::int, 0),
      (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database()),
      (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user)) AS most`
  const most = row?.most ?? 0
  if (needed <= most)
    return [well('database.connections', `${needed} connections at most, of ${most} that this user may have`)]
  return [
    warning(
      'database.connections',
      `this gateway opens up to ${needed} connections, and this user may have ${most}`,
      {
        why: 'Requests wait or fail when Postgres takes no more. Each further gateway and worker needs as many.',
        fix: 'Raise max_connections and restart Postgres; or lower PROCESSES or the numbers of connections.',
        run: `psql -c 'ALTER SYSTEM SET max_connections = ${Math.ceil((needed * 2) / 100) * 100}'`,
        docs: 'docs/reference/configuration.md#connections-to-postgres',
      },
    ),
  ]
}

/** Whether SECRET_KEY opens the master keys, and with them every secret. */
export async function checkMasters(sql: Sql, config: Config): Promise<Finding[]> {
  const keys = presentKeys(config)
  if (keys === undefined)
    return [
      skipped('database.secret_key', 'without SECRET_KEY nothing can be said of the secrets in the database'),
    ]
  try {
    await readKeeper(sql, keys)
    return [well('database.secret_key', 'SECRET_KEY opens the secrets in the database')]
  } catch (error) {
    if (!(error instanceof Error) || 'code' in error) throw error
    return [
      wrong('database.secret_key', 'SECRET_KEY does not open the secrets in the database', {
        why: `${messagesIn(error)}.`,
        fix: 'Set the SECRET_KEY of the other processes, or of the backup. The ids tell which one it is.',
        docs: 'docs/reference/secrets.md#replace-secret_key',
      }),
    ]
  }
}

const apartMs = { warning: 2_000, wrong: 60_000 }

export async function checkClock(sql: Sql): Promise<Finding[]> {
  const askedAt = Date.now()
  const [row] = await sql<{ ms: string }[]>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms`
  const answeredAt = Date.now()
  const offset = Number(row?.ms) - (askedAt + answeredAt) / 2
  // The answer may have been made at any moment in between.
  const least = Math.abs(offset) - (answeredAt - askedAt) / 2
  if (least < apartMs.warning) return [well('database.clock', 'the clock of Postgres agrees with ours')]
  const seconds = (Math.abs(offset) / 1000).toFixed(1)
  const advice = {
    why: 'Leases, sessions and the days of the usage log go by the clock of Postgres, links and certificates by ours.',
    fix: 'Keep both machines by NTP.',
    run: 'timedatectl status',
    docs: 'docs/reference/failures.md#when-something-is-down',
  }
  const fault = `the clock of Postgres is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} ours`
  return [
    least < apartMs.wrong ? warning('database.clock', fault, advice) : wrong('database.clock', fault, advice),
  ]
}
