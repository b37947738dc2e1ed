import { gatewayError } from '../canonical/error.ts'
import type { Terms } from '../db/pool.ts'
import type { Identified } from '../pipeline/identify.ts'

/**
 * Queries Postgres for a tenant for as long as its client waits. `read` receives the terms of the query. If
 * the client disconnects or the process ends, the query is cancelled and this rejects with the reason.
 */
export async function readFor<T>(
  { identity, life }: Pick<Identified, 'identity' | 'life'>,
  read: (terms: Required<Pick<Terms, 'owner' | 'signal'>>) => Promise<T>,
): Promise<T> {
  const leaving = new AbortController()
  if (life.clientGone) leaving.abort(gatewayError('client_left'))
  life.running = { resume() {}, abort: (reason) => leaving.abort(reason) }
  try {
    return await read({ owner: identity.tenantId, signal: leaving.signal })
  } finally {
    life.running = undefined
  }
}
