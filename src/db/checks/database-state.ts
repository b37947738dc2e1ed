import type { Sql } from 'postgres'
import { type Finding, findingsOf } from '../../canonical/finding.ts'
import type { Config } from '../../config/config.ts'
import { pooledPurposes } from '../database.ts'
import { planMigration } from '../migration-plan.ts'
import { FormerSchemaError } from '../schema-version.ts'

const { well, warning, wrong } = findingsOf('database')
const ownPostgres = 'docs/reference/deployment.md#a-postgres-of-your-own'

/** The oldest version that the tests cover. */
const oldest = 150_000

export async function checkVersion(sql: Sql): Promise<Finding[]> {
  const [row] = await sql<{ number: string; version: string; standby: boolean; readOnly: string }[]>`
    SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS version,
      pg_is_in_recovery() AS standby, current_setting('default_transaction_read_only') AS "readOnly"`
  if (row === undefined) return []
  if (row.standby || row.readOnly === 'on')
    return [
      wrong('database.read_only', 'Postgres accepts no writes', {
        why: row.standby ? 'It is a standby of another server.' : 'default_transaction_read_only is on.',
        fix: 'Point DATABASE_URL at the server that accepts writes.',
        docs: ownPostgres,
      }),
    ]
  if (Number(row.number) >= oldest) return [well('database.version', `Postgres ${row.version}`)]
  return [
    wrong('database.version', `Postgres ${row.version} is too old`, {
      why: 'Tollgate requires Postgres 15 or later.',
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
      wrong('database.schema_former', 'the database is from a version before the first release', {
        why: new FormerSchemaError('the database').message,
        run: 'tollgate migrate',
        docs,
      }),
    ]
  if (compatibleFrom > known)
    return [
      wrong('database.schema_newer', 'the database has the schema of a later release', {
        why: `It has ${applied} migrations and requires a release with at least ${compatibleFrom}. This release has ${known}.`,
        fix: 'Start the later release, or restore the backup made before the upgrade.',
        docs,
      }),
    ]
  if (applied === 0)
    return [well('database.schema', 'the database is empty; the first start creates the tables')]
  if (missing.length > 0 || functions.length > 0)
    return [
      warning('database.schema_older', 'the schema is older than this release', {
        why: `It has ${applied} of ${known} migrations, and ${functions.length} functions need to be replaced. A start does both.`,
        run: 'tollgate migrate',
        docs,
      }),
    ]
  const newer =
    applied > known
      ? `from a later release (${applied} migrations), which contains everything that this release needs`
      : `from this release (${applied} migrations)`
  return [well('database.schema', `the schema is ${newer}`)]
}

/** The fraction of KEPT_TENANT_BYTES_MAX from which a tenant is reported, before its requests are refused. */
const nearlyFull = 0.8
const tenantsNamed = 5

/** Reports tenants that cannot store anything more, or soon will not be able to. */
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
    why: `KEPT_TENANT_BYTES_MAX is ${keptTenantBytesMax}. Above it, requests that store something are refused with 429.`,
    fix: 'Have them delete answers, conversations or files, or raise KEPT_TENANT_BYTES_MAX.',
    docs: 'docs/reference/endpoints.md#what-a-tenant-keeps',
  }
  return [
    ...(full === ''
      ? []
      : [warning('database.storage_full', `tenants have reached their storage limit: ${full}`, advice)]),
    ...(nearly === ''
      ? []
      : [
          warning(
            'database.storage_nearly_full',
            `tenants have almost reached their storage limit: ${nearly}`,
            advice,
          ),
        ]),
  ]
}

/** The connections besides those of the purposes: upkeep, notifications and the journal. */
const furtherConnections = 3
/** The connections of the queue's workers if the queue is on Postgres. */
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
    return [
      well(
        'database.connections',
        `at most ${needed} of the ${most} connections available to this user are needed`,
      ),
    ]
  return [
    warning(
      'database.connections',
      `this gateway opens up to ${needed} connections, but only ${most} are available to this user`,
      {
        why: 'Requests wait or fail when Postgres accepts no more connections. Every other gateway and worker needs the same number.',
        fix: 'Raise max_connections and restart Postgres, or lower PROCESSES or the connection settings.',
        run: `psql -c 'ALTER SYSTEM SET max_connections = ${Math.ceil((needed * 2) / 100) * 100}'`,
        docs: 'docs/reference/configuration.md#connections-to-postgres',
      },
    ),
  ]
}

const apartMs = { warning: 2_000, wrong: 60_000 }

export async function checkClock(sql: Sql): Promise<Finding[]> {
  const askedAt = Date.now()
  const [row] = await sql<{ ms: string }[]>`SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms`
  const answeredAt = Date.now()
  const offset = Number(row?.ms) - (askedAt + answeredAt) / 2
  // The time may have been read at any moment between the query and the response.
  const least = Math.abs(offset) - (answeredAt - askedAt) / 2
  if (least < apartMs.warning)
    return [well('database.clock', 'the clocks of Postgres and of this machine agree')]
  const seconds = (Math.abs(offset) / 1000).toFixed(1)
  const advice = {
    why: 'Leases, sessions and the days of the usage log depend on the clock of Postgres; links and certificates depend on the clock of this machine.',
    fix: 'Synchronise both machines with NTP.',
    run: 'timedatectl status',
    docs: 'docs/reference/failures.md#when-something-is-down',
  }
  const fault = `the clock of Postgres is ${seconds} s ${offset > 0 ? 'ahead of' : 'behind'} that of this machine`
  return [
    least < apartMs.wrong ? warning('database.clock', fault, advice) : wrong('database.clock', fault, advice),
  ]
}
