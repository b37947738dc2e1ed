import { authenticate, permitCaller } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { groupOf } from '../catalog/catalog.ts'
import type { Group, Snapshot } from '../catalog/snapshot.ts'
import type { Gateway } from './gateway.ts'
import { checkTags } from './labels.ts'
import { extend, type Received } from './received.ts'

/** The second stage: the caller is known, and this process has room for the request. */
export interface Identified extends Received {
  readonly identity: Identity
  /** The group of its key. */
  readonly group: Group
  /** The catalog at this moment. The request uses this snapshot until it ends. */
  readonly snapshot: Snapshot
}

/** Identifies the caller. Rejects with `unauthenticated`, `permission_denied` or `unavailable`. */
export async function identify(gateway: Gateway, received: Received): Promise<Identified> {
  received.trace?.step('authenticate')
  const { caller, books, exchange, clientAddress, startedAt } = received
  const { snapshot } = books.catalog
  const address = clientAddress ?? undefined
  const identity =
    caller === undefined
      ? await authenticate(gateway.keys, snapshot, exchange.headers, address, startedAt)
      : permitCaller(caller.identity, caller.identity.keyName, snapshot, address, startedAt)
  // Set before the check, so that the row of a request that finds no room still names its key.
  received.row.identity = identity
  requireRoom(gateway, received)
  received.life.releases.push(takePlace(gateway, received, identity))
  checkTags(exchange.headers)
  return extend(received, { identity, snapshot, group: groupOf(snapshot, identity.groupId) })
}

/**
 * Records the client of a request that will be refused anyway, so that its owner finds the row. Ignores an
 * invalid key.
 */
export async function recognise(
  gateway: Gateway,
  { row, books, exchange, clientAddress, startedAt }: Received,
): Promise<void> {
  const { snapshot } = books.catalog
  const address = clientAddress ?? undefined
  try {
    row.identity = await authenticate(gateway.keys, snapshot, exchange.headers, address, startedAt)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
  }
}

/**
 * Counts one more running request of the key until the returned function is called. Throws `rate_limited`
 * when there are too many.
 */
function takePlace({ bounds }: Gateway, { books }: Received, identity: Identity): () => void {
  const { keyRequests } = books
  // Sub-keys count as their parent.
  const keyId = identity.parent?.keyId ?? identity.keyId
  const most = bounds.keyInFlightMax === 0 ? Math.ceil(bounds.inFlightMax / 2) : bounds.keyInFlightMax
  if (keyRequests.of(keyId) >= most) {
    throw gatewayError('key_requests_full', { most }, { retryAfterSeconds: 1 })
  }
  return keyRequests.begin(keyId)
}

/** Throws `unavailable` when this process cannot begin a new request. */
function requireRoom({ draining, bounds }: Gateway, { books }: Received): void {
  if (draining) {
    throw gatewayError('refused_while_draining', {}, { retryAfterSeconds: 1 })
  }
  if (books.requests.size > bounds.inFlightMax) {
    throw gatewayError('process_full', { most: bounds.inFlightMax }, { retryAfterSeconds: 1 })
  }
}
