import type { GatewayError } from '../canonical/error.ts'
import type { JobError } from './job.ts'

/** Returns an error in the form in which a job's row stores it. */
export function jobErrorOf(error: GatewayError): JobError {
  const { kind, reason, message, field, code, retryAfterSeconds } = error
  return {
    ...{ kind, reason, message },
    ...(field === undefined ? {} : { field }),
    ...(code === undefined ? {} : { code }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  }
}
