import { authenticate, permitCaller } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { groupOf } from '../catalog/catalog.ts'
import type { Group, Snapshot } from '../catalog/snapshot.ts'
import type { Gateway } from './gateway.ts'
import { checkTags } from './labels.ts'
import type { Received } from './received.ts'

/** The second stage: we know the caller, and this process has room for the request. */
export interface Identified extends Received {
  readonly identity: Identity
  /** The group of its key. */
  readonly group: Group
  /** The catalog at this moment. The request uses this one to its end. */
  readonly snapshot: Snapshot
}

/**
 * Identify the caller. Returns no promise when the key is in memory.
 * Throws, or rejects with, `unauthenticated`, `permission_denied` or `unavailable`.
 */
export function identify(gateway: Gateway, received: Received): Identified | Promise<Identified> {
  received.trace?.step('authenticate')
  const { snapshot } = received.books.catalog
  const found = lookUp(gateway, received, snapshot)
  return found instanceof Promise
    ? found.then((identity) => identifyAs(gateway, received, snapshot, identity))
    : identifyAs(gateway, received, snapshot, found)
}

/**
 * Note the caller of a request that we refuse anyway, so that its owner finds the row. Ignores a wrong key.
 */
export async function recognise(gateway: Gateway, received: Received): Promise<void> {
  try {
    received.row.identity = await lookUp(gateway, received, received.books.catalog.snapshot)
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
  }
}

function lookUp(gateway: Gateway, received: Received, snapshot: Snapshot) {
  const { caller, exchange, clientAddress, startedAt } = received
  if (caller !== undefined) {
    const { identity } = caller
    return permitCaller(identity, identity.keyName, snapshot, clientAddress ?? undefined, startedAt)
  }
  return authenticate(gateway.keys, snapshot, exchange.headers, clientAddress ?? undefined, startedAt)
}

function identifyAs(
  gateway: Gateway,
  received: Received,
  snapshot: Snapshot,
  identity: Identity,
): Identified {
  // Before the check, so that a request without room is a row of its key too.
  received.row.identity = identity
  requireRoom(gateway, received)
  received.life.releases.push(takePlace(gateway, received, identity))
  checkTags(received.exchange.headers)
  return Object.assign(received, { identity, snapshot, group: groupOf(snapshot, identity.groupId) })
}

/**
 * One more request of the key runs until the returned function is called. Throws `rate_limited` when too many
 * do.
 */
function takePlace({ bounds }: Gateway, { books }: Received, identity: Identity): () => void {
  const { keyRequests } = books
  // Sub-keys share the place of their parent.
  const keyId = identity.parent?.keyId ?? identity.keyId
  const most = bounds.keyInFlightMax === 0 ? Math.ceil(bounds.inFlightMax / 2) : bounds.keyInFlightMax
  if (keyRequests.of(keyId) >= most) {
    throw gatewayError('key_requests_full', { most }, { retryAfterSeconds: 1 })
  }
  return keyRequests.begin(keyId)
}

/** Throws `unavailable` when this process may begin no new request. */
function requireRoom({ draining, bounds }: Gateway, { books }: Received): void {
  if (draining) {
    throw gatewayError('refused_while_draining', {}, { retryAfterSeconds: 1 })
  }
  if (books.requests.size > bounds.inFlightMax) {
    throw gatewayError('process_full', { most: bounds.inFlightMax }, { retryAfterSeconds: 1 })
  }
}
