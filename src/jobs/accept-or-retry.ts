import { GatewayError, gatewayError } from '../canonical/error.ts'

/**
 * Accept a job; when Postgres fails at once, a second time: accepting a job twice keeps it once. A slow
 * Postgres is down or overloaded, and a second statement would only add to its load. `what`: names the jobs
 * for the client. Rejects `unavailable`, and `rate_limited` where the storage of the tenant is full.
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

/** Postgres has said what is wrong, and would say it again. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof GatewayError && cause.kind !== 'unavailable'
}

export function jobsAway(what: string, cause?: unknown): GatewayError {
  return gatewayError(
    'database_away',
    { message: `${what} are kept in the database, which does not answer. Try again shortly.` },
    { cause, retryAfterSeconds: 2 },
  )
}
