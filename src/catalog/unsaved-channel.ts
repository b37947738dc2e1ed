import type { Json } from '../canonical/json.ts'
import type { SecretKeeper } from '../secret-key.ts'
import { vendorByHost } from './channel-protocols.ts'
import { checkChannel } from './check-entry.ts'
import { boundAddresses, connectionColumns, openConnection } from './connection.ts'
import type { ChannelEntry } from './gateway-file.ts'
import { boundPrivate } from './private-bounds.ts'
import type { AllRows } from './queries.ts'
import type { TimeoutBounds } from './read-connection.ts'
import type { Channel } from './snapshot.ts'

/**
 * All of them have one id: the connections to where one of them led are closed when the next one leads
 * elsewhere.
 */
const id = '00000000-0000-0000-0000-000000000000'
const name = 'a channel that is not saved'

/**
 * A channel as it would be with these words, which are stored nowhere: it can be called, and requests never
 * come to it. The words need no name or models. `privateAddresses`: PRIVATE_ADDRESSES, where the words are a
 * caller's. Throws GatewayError `invalid_request` that names the field.
 */
export function unsavedChannel(
  words: Json,
  rows: AllRows,
  {
    bounds,
    keeper,
    privateAddresses,
  }: { bounds: TimeoutBounds; keeper: SecretKeeper; privateAddresses?: readonly string[] },
): Channel {
  const entry = checkChannel({ ...words, name, models: '*' }, rows, { name, bounds })
  if (privateAddresses === undefined) return channelOf({ ...entry, name }, keeper)
  return boundAddresses(channelOf({ ...boundPrivate(entry, privateAddresses), name }, keeper))
}

/** The channel of an entry that has no row. `keeper` only carries its secrets, and may be any. */
export function channelOf(entry: Omit<ChannelEntry, 'offers'>, keeper: SecretKeeper): Channel {
  return {
    id,
    name: entry.name,
    protocols: entry.protocols,
    priority: entry.priority,
    weight: entry.weight,
    allowPrivateAddress: entry.allowPrivateAddress,
    sharedState: entry.sharedState,
    credentials: entry.credentials,
    concurrency: entry.concurrency,
    imageConcurrency: entry.imageConcurrency,
    imagesPerMinute: entry.imagesPerMinute,
    plainMembers: entry.plainMembers,
    vendor: entry.vendor ?? vendorByHost(entry.protocols),
    connection: openConnection({ id, ...connectionColumns(entry.connection, id, undefined, keeper) }, keeper),
  }
}
