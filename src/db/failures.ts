import { LateError } from '../in-time.ts'
import { DrizzleQueryError } from './drizzle.cjs'

/** The error behind an error of drizzle, whose message has the parameters of the statement, which may be secrets. */
export function reasonOf(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? error.cause : error
}

/** True when the error comes from Postgres, so that the connection and the server live. */
export function isAnswer(error: unknown): boolean {
  return error instanceof Error && error.name === 'PostgresError'
}

/** True when the same statement may succeed later. Any other error is a bug of ours, and would come again. */
export function isPassing(error: unknown): boolean {
  if (error instanceof LateError) return true
  if (!(error instanceof Error) || !('code' in error)) return false
  const code = String(error.code)
  return isAnswer(error) ? passingStates.test(code) : brokenConnection.test(code)
}

/** True when a table or a column is not there, as on the schema of another release. */
export function isUnknownName(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^42(P01|703)$/.test(String(error.code))
}

/** True when the user of the connection lacks a right. */
export function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '42501'
}

/**
 * Lost connections, deadlocks, read-only standbys, missing resources, locks, shutdowns and statement_timeout, errors of
 * the disk. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const passingStates = /^(08|40|25006|53|55P03|57|58)/

/** Codes of the system, such as ECONNREFUSED, and of postgres.js, such as CONNECT_TIMEOUT or CONNECTION_ENDED. */
const brokenConnection = /^(E[A-Z]+$|CONNECT)/
