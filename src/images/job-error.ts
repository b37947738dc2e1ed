import { GatewayError } from '../canonical/error.ts'
import type { Job } from '../jobs/job.ts'

/** The error for the client of a failed or cancelled job. */
export function errorOf({ error, state }: Pick<Job, 'error' | 'state'>): GatewayError {
  if (error === null) {
    const how = state === 'cancelled' ? 'was cancelled' : 'ended without images'
    return new GatewayError('invalid_request', `This image generation ${how}.`)
  }
  const { reason, message, field, code, retryAfterSeconds } = error
  return new GatewayError(reason, message, { field, code, retryAfterSeconds })
}
