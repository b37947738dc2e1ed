import { type GatewayError, gatewayError } from '../canonical/error.ts'

/** The disk does not take what it should. */
export function cannotRecord(cause?: unknown): GatewayError {
  return gatewayError('journal_disk_failed', {}, { cause, retryAfterSeconds: 5 })
}
