import type postgres from 'postgres'
import { requestColumns } from '../../journal/row.ts'
import { momentOf } from '../../journal/tuple.ts'
import { findRequest, type RequestDetail } from '../queries.ts'
import type { LogRow } from './row-tests.ts'

/** A request with everything that Postgres contains about it. */
export interface LogDetail {
  row: LogRow
  detail: RequestDetail
  /** The credentials of its attempts, in order; null if none was used or it is unknown. */
  credentials: (string | null)[]
}

/** A movement of money for the request. */
interface EntryRow {
  id: string
  account_id: string
  created_at: Date
  kind: string
  /** Nano-USD, as decimal digits. */
  amount_nano: string
  note: string | null
}

/**
 * Undefined if there is no such request or it belongs to another tenant. If `tenantId` is undefined, all
 * tenants match.
 */
export async function findLogDetail(
  sql: postgres.Sql,
  id: string,
  tenantId: string | undefined,
): Promise<LogDetail | undefined> {
  const createdAt = new Date(momentOf(id))
  const own = tenantId === undefined ? sql`` : sql`and tenant_id = ${tenantId}`
  const [row] = await sql<LogRow[]>`
    select ${sql.unsafe(rowColumns)} from requests where id = ${id} and created_at = ${createdAt} ${own}`
  if (row === undefined) return undefined
  const [detail, credentials] = await Promise.all([
    findRequest(sql, 'all', id),
    sql<{ credential: string | null }[]>`
      select credential from attempts where request_id = ${id} and created_at = ${createdAt} order by ordinal`,
  ])
  if (detail === undefined) return undefined
  return { row, detail, credentials: credentials.map(({ credential }) => credential) }
}

/** The account movements caused by a request. */
export function findEntries(sql: postgres.Sql, id: string): Promise<EntryRow[]> {
  return sql<EntryRow[]>`
    select id, account_id, created_at, kind, amount_nano, note from entries
    where id = ${id} and created_at = ${new Date(momentOf(id))}`
}

const rowColumns = requestColumns.map(({ name }) => name).join(', ')
