import { type GatewayError, gatewayError } from '../canonical/error.ts'

/** The error for a disk that does not accept what must be written. */
export function cannotRecord(cause?: unknown): GatewayError {
  return gatewayError('journal_disk_failed', {}, { cause, retryAfterSeconds: 5 })
}
