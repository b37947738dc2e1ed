import postgres from 'postgres'
import { clientSettings } from '../../db/connections.ts'
import type { BackupFacts } from './manifest.ts'

/** A single connection that stays open however long it is idle, because a backup belongs to its session. */
export async function withSession<T>(url: string, work: (sql: postgres.Sql) => Promise<T>): Promise<T> {
  const sql = postgres(url, {
    ...clientSettings({ max: 1, connectSeconds: 10, applicationName: 'tollgate backup' }),
    max_lifetime: null,
    idle_timeout: 0,
  })
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 2 })
  }
}

type Asking = Pick<postgres.Sql, 'unsafe'>

/** The database's current numbers. Undefined if it does not contain the Tollgate tables. */
export async function readFacts(sql: Asking): Promise<{ at: string; facts: BackupFacts } | undefined> {
  const [there] = await sql.unsafe<{ is: boolean }[]>(`SELECT to_regclass('requests') IS NOT NULL AS is`)
  if (there?.is !== true) return undefined
  const [row] = await sql.unsafe<
    { at: Date; tenants: number; keys: number; channels: number; balances: string; newest: string | null }[]
  >(`SELECT clock_timestamp() AS at,
      (SELECT count(*)::int FROM tenants) AS tenants, (SELECT count(*)::int FROM keys) AS keys,
      (SELECT count(*)::int FROM channels) AS channels,
      (SELECT coalesce(sum(balance_nano), 0)::text FROM accounts) AS balances,
      (SELECT id::text FROM requests ORDER BY created_at DESC, id DESC LIMIT 1) AS newest`)
  if (row === undefined) return undefined
  const { at, tenants, keys, channels, balances, newest } = row
  return {
    at: at.toISOString(),
    facts: {
      ...{ tenants, keys, channels, balancesNano: balances },
      ...(newest === null ? {} : { newestRequest: newest }),
    },
  }
}

/** The server's version, such as 15.14. */
export async function serverVersion(sql: Asking): Promise<string> {
  const [row] = await sql.unsafe<{ version: string }[]>(`SELECT current_setting('server_version') AS version`)
  return row?.version.split(' ')[0] ?? ''
}
