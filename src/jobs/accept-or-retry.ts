import { GatewayError, gatewayError } from '../canonical/error.ts'

/**
 * Accepts a job. If Postgres fails at once, tries again, because accepting a job twice stores it once. There
 * is no second try after a slow failure: Postgres is then down or overloaded, and another statement would
 * only add to its load. `what` is how error messages name the jobs. Rejects with `unavailable`, or with
 * `rate_limited` if the tenant's storage is full.
 */
export async function acceptOrRetry<T>(accept: () => Promise<T>, admitMs: number, what: string): Promise<T> {
  const begunAt = Date.now()
  try {
    return await accept()
  } catch (cause) {
    if (isRefusal(cause)) throw cause
    if (Date.now() - begunAt > admitMs / 2) throw jobsAway(what, cause)
  }
  return await accept().catch((cause: unknown) => {
    throw isRefusal(cause) ? cause : jobsAway(what, cause)
  })
}

/** Errors of Postgres that another try would only repeat. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof GatewayError && cause.kind !== 'unavailable'
}

export function jobsAway(what: string, cause?: unknown): GatewayError {
  return gatewayError(
    'database_away',
    { message: `${what} are stored in the database, which is not responding. Try again shortly.` },
    { cause, retryAfterSeconds: 2 },
  )
}
