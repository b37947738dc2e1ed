import { GatewayError, type GatewayErrorOptions } from '../canonical/error.ts'
import type { ErrorKind } from '../canonical/reasons/kinds.ts'

/** An error on its way between two threads, which pass no classes. */
export interface WireError {
  /** Undefined: no GatewayError. */
  kind: ErrorKind | undefined
  message: string
  options: Omit<GatewayErrorOptions, 'cause'> & { cause?: string }
}

export function wireErrorOf(error: unknown): WireError {
  if (!(error instanceof GatewayError)) return { kind: undefined, message: String(error), options: {} }
  const { kind, message, field, retryAfterSeconds, fault, upstreamStatus, code, details, cause } = error
  const options = { field, retryAfterSeconds, fault, upstreamStatus, code, details }
  return { kind, message, options: cause === undefined ? options : { ...options, cause: String(cause) } }
}

/** The error that another thread caught. */
export function errorFrom({ kind, message, options }: WireError): Error {
  return kind === undefined ? new Error(message) : new GatewayError(kind, message, options)
}
