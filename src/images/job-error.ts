import { GatewayError, gatewayError } from '../canonical/error.ts'
import type { Job } from '../jobs/job.ts'

/** Returns the error that the client gets for a failed or cancelled job. */
export function errorOf({ error, state }: Pick<Job, 'error' | 'state'>): GatewayError {
  if (error === null) {
    return gatewayError(state === 'cancelled' ? 'image_cancelled' : 'image_job_empty')
  }
  const { reason, message, field, code, retryAfterSeconds } = error
  return new GatewayError(reason, message, { field, code, retryAfterSeconds })
}
