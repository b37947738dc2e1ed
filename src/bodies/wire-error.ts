import { GatewayError, type GatewayErrorOptions } from '../canonical/error.ts'
import type { Reason } from '../canonical/reasons/catalogue.ts'

/** An error that is passed between threads, which cannot pass classes. */
export interface WireError {
  /** Undefined if it is not a GatewayError. */
  reason: Reason | undefined
  message: string
  options: Omit<GatewayErrorOptions, 'cause'> & { cause?: string }
}

export function wireErrorOf(error: unknown): WireError {
  if (!(error instanceof GatewayError)) return { reason: undefined, message: String(error), options: {} }
  const { reason, message, field, retryAfterSeconds, fault, upstreamStatus, code, details, cause } = error
  const options = { field, retryAfterSeconds, fault, upstreamStatus, code, details }
  return { reason, message, options: cause === undefined ? options : { ...options, cause: String(cause) } }
}

/** Restores the error that another thread caught. */
export function errorFrom({ reason, message, options }: WireError): Error {
  return reason === undefined ? new Error(message) : new GatewayError(reason, message, options)
}
