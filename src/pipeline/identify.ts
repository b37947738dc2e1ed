import { authenticate, permitCaller } from '../access/authenticate.ts'
import type { Identity } from '../access/identity.ts'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { groupOf } from '../catalog/catalog.ts'
import type { Group, Snapshot } from '../catalog/snapshot.ts'
import type { Gateway } from './gateway.ts'
import { checkTags } from './labels.ts'
import { ClientLeft } from './life.ts'
import { extend, type Received } from './received.ts'

/** The second stage: the caller is known, and this process has room for the request. */
export interface Identified extends Received {
  readonly identity: Identity
  /** The group of its key. */
  readonly group: Group
  /** The catalog at this moment. The request uses this snapshot until it ends. */
  readonly snapshot: Snapshot
}

/**
 * Identifies the caller. Returns no promise when the key is in memory. Throws, or rejects with,
 * `unauthenticated`, `permission_denied` or `unavailable`.
 */
export function identify(gateway: Gateway, received: Received): Identified | Promise<Identified> {
  received.trace?.step('authenticate')
  const { snapshot } = received.books.catalog
  // Decided on arrival: of many requests whose keys must be read, only those beyond the bound are refused.
  const refusal = refusalWithoutRoom(gateway, received)
  const found = lookUp(gateway, received, snapshot)
  return found instanceof Promise
    ? found.then((identity) => identifyAs(gateway, received, snapshot, identity, refusal))
    : identifyAs(gateway, received, snapshot, found, refusal)
}

/**
 * Records the caller of a request that will be refused anyway, so that its owner finds the row. Ignores an
 * invalid key.
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
    return permitCaller(identity, () => identity.keyName, snapshot, clientAddress ?? undefined, startedAt)
  }
  return authenticate(gateway.keys, snapshot, exchange.headers, clientAddress ?? undefined, startedAt)
}

function identifyAs(
  gateway: Gateway,
  received: Received,
  snapshot: Snapshot,
  identity: Identity,
  refusal: GatewayError | undefined,
): Identified {
  // Set before the refusal, so that its row names the key.
  received.row.identity = identity
  // Bytes after its headers that are not HTTP end a request meanwhile. It must hold nothing after its end.
  if (received.life.ended) throw new ClientLeft()
  if (refusal !== undefined) throw refusal
  received.life.releases.push(takePlace(gateway, received, identity))
  checkTags(received.exchange.headers)
  return extend(received, { identity, snapshot, group: groupOf(snapshot, identity.groupId) })
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

/** Returns `unavailable` when this process cannot begin a new request. */
function refusalWithoutRoom({ draining, bounds }: Gateway, { books }: Received): GatewayError | undefined {
  if (draining) return gatewayError('refused_while_draining', {}, { retryAfterSeconds: 1 })
  if (books.requests.size <= bounds.inFlightMax) return undefined
  return gatewayError('process_full', { most: bounds.inFlightMax }, { retryAfterSeconds: 1 })
}
