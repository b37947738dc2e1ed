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

/** Identifies the caller. Rejects with `unauthenticated`, `permission_denied` or `unavailable`. */
export async function identify(gateway: Gateway, received: Received): Promise<Identified> {
  received.trace?.step('authenticate')
  const { caller, books, exchange, clientAddress, startedAt } = received
  const { snapshot } = books.catalog
  const address = clientAddress ?? undefined
  // Decided on arrival: of many requests whose keys must be read, only those beyond the bound are refused.
  const refusal = refusalWithoutRoom(gateway, received)
  const identity =
    caller === undefined
      ? await authenticate(gateway.keys, snapshot, exchange.headers, address, startedAt)
      : permitCaller(caller.identity, caller.identity.keyName, snapshot, address, startedAt)
  // Set before the refusal, so that its row names the key.
  received.row.identity = identity
  // Bytes after its headers that are not HTTP end a request meanwhile. It must hold nothing after its end.
  if (received.life.ended) throw new ClientLeft()
  if (refusal !== undefined) throw refusal
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

/** Returns `unavailable` when this process cannot begin a new request. */
function refusalWithoutRoom({ draining, bounds }: Gateway, { books }: Received): GatewayError | undefined {
  if (draining) return gatewayError('refused_while_draining', {}, { retryAfterSeconds: 1 })
  if (books.requests.size <= bounds.inFlightMax) return undefined
  return gatewayError('process_full', { most: bounds.inFlightMax }, { retryAfterSeconds: 1 })
}
