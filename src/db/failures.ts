import type { GatewayError } from '../canonical/error.ts'
import { storageFull } from '../canonical/storage-full.ts'
import { LateError } from '../runtime/in-time.ts'
import { DrizzleQueryError } from './drizzle-errors.cjs'

/**
 * Returns the cause of a drizzle error, whose own message contains the statement's parameters, which can be
 * secrets.
 */
export function reasonOf(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error
}

/** True if the error comes from Postgres, which means that the connection and the server are alive. */
export function isAnswer(error: unknown): boolean {
  // The class name in postgres.js, and the one in `pg`, which is just `error`.
  return error instanceof Error && (error.name === 'PostgresError' || error.name === 'error')
}

/** True if another transaction interfered; the same one can succeed at once. */
export function isConflict(error: unknown): boolean {
  return (
    isAnswer(error) && error instanceof Error && 'code' in error && /^40(P01|001)$/.test(String(error.code))
  )
}

/** True if the same statement can succeed later. Any other error is a bug of ours and would occur again. */
export function isPassing(error: unknown): boolean {
  if (error instanceof LateError) return true
  if (!(error instanceof Error)) return false
  if (!('code' in error)) return brokenMessage.test(error.message)
  const code = String(error.code)
  return isAnswer(error) ? passingStates.test(code) : brokenConnection.test(code)
}

/** True if a lock was not free within `lock_timeout`. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03'
}

/** True if a table or column does not exist, as with the schema of another release. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^42(P01|703)$/.test(String(error.code))
}

/** True if the connection's user lacks a privilege. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501'
}

/** Converts the error of book_storage to one for the tenant's client. Undefined for other errors. */
export function asStorageFull(error: unknown): GatewayError | undefined {
  if (!(error instanceof Error && 'code' in error && error.code === 'TG429')) return undefined
  const table = 'table_name' in error ? String(error.table_name) : ''
  return storageFull('detail' in error ? Number(error.detail) : 0, askedBy.get(table))
}

/** The part of a request that causes a row to be stored in each table. */
const askedBy = new Map([
  ['kept_answers', 'store'],
  ['conversations', 'conversation'],
  ['files', 'file'],
  ['background_answers', 'background'],
  ['idempotency_keys', 'Idempotency-Key'],
])

/**
 * Lost connections, deadlocks, read-only standbys, missing resources, locks, shutdowns, statement_timeout and
 * disk errors. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const passingStates = /^(08|40|25006|53|55P03|57|58)/

/**
 * System error codes, such as ECONNREFUSED, and those of postgres.js, such as CONNECT_TIMEOUT or
 * CONNECTION_ENDED.
 */
const brokenConnection = /^(E[A-Z]+$|CONNECT)/

/** `pg` has no code for a connection that ended or could not be made in time. */
const brokenMessage =
  /^(Connection terminated|Client (has encountered|was closed)|timeout exceeded when trying to connect)/
