import type { GatewayError } from '../canonical/error.ts'
import { storageFull } from '../canonical/storage-full.ts'
import { LateError } from '../runtime/in-time.ts'
import { DrizzleQueryError } from './drizzle.cjs'

/**
 * The error behind an error of drizzle, whose message has the parameters of the statement, which may be
 * secrets.
 */
export function reasonOf(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error
}

/** True when the error comes from Postgres, so that the connection and the server live. */
export function isAnswer(error: unknown): boolean {
  // The class of postgres.js, and that of `pg`, whose name is plain `error`.
  return error instanceof Error && (error.name === 'PostgresError' || error.name === 'error')
}

/** True when another transaction was in the way: the same one may succeed at once. */
export function isConflict(error: unknown): boolean {
  return (
    isAnswer(error) && error instanceof Error && 'code' in error && /^40(P01|001)$/.test(String(error.code))
  )
}

/** True when the same statement may succeed later. Any other error is a bug of ours, and would come again. */
export function isPassing(error: unknown): boolean {
  if (error instanceof LateError) return true
  if (!(error instanceof Error)) return false
  if (!('code' in error)) return brokenMessage.test(error.message)
  const code = String(error.code)
  return isAnswer(error) ? passingStates.test(code) : brokenConnection.test(code)
}

/** True when a lock was not free within `lock_timeout`. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

/** True when a table or a column is not there, as on the schema of another release. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^42(P01|703)$/.test(String(error.code))
}

/** True when the user of the connection lacks a right. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501'
}

/** The error of book_storage, for the client of the tenant. Undefined: it is another error. */
export function asStorageFull(error: unknown): GatewayError | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'TG429')) return undefined
  const table = 'table_name' in error ? String(error.table_name) : ''
  return storageFull('detail' in error ? Number(error.detail) : 0, askedBy.get(table))
}

/** What of a request asks to keep a row of this table. */
const askedBy = new Map([
  ['kept_answers', 'store'],
  ['conversations', 'conversation'],
  ['files', 'file'],
  ['background_answers', 'background'],
  ['idempotency_keys', 'Idempotency-Key'],
])

/**
 * Lost connections, deadlocks, read-only standbys, missing resources, locks, shutdowns and statement_timeout,
 * errors of the disk. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const passingStates = /^(08|40|25006|53|55P03|57|58)/

/**
 * Codes of the system, such as ECONNREFUSED, and of postgres.js, such as CONNECT_TIMEOUT or CONNECTION_ENDED.
 */
const brokenConnection = /^(E[A-Z]+$|CONNECT)/

/** `pg` has no code for a connection that ended, or could not be made in time. */
const brokenMessage =
  /^(Connection terminated|Client (has encountered|was closed)|timeout exceeded when trying to connect)/
