import type { Json } from '../canonical/json.ts'
import { settingsOfChannels } from '../db/settings/channel-settings.ts'
import { fromRow, toRow } from '../db/settings/setting.ts'
import type { SecretKeeper } from '../secrets/secret-key.ts'
import { boundAddresses, connectionColumns, openConnection } from './channel-connection.ts'
import { vendorByHost } from './channel-protocols.ts'
import { checkChannel } from './check-entry.ts'
import type { ChannelEntry } from './gateway-file.ts'
import { boundPrivate } from './private-bounds.ts'
import type { AllRows } from './queries.ts'
import type { TimeoutBounds } from './read-connection.ts'
import type { Channel } from './snapshot.ts'

/**
 * Shared by all unsaved channels, so that connections to one's upstream are closed when the next one has
 * another upstream.
 */
const id = '00000000-0000-0000-0000-000000000000'
const name = 'unsaved channel'

/**
 * Returns a channel with these settings, which are not stored. It can be called, but no requests are routed
 * to it. The settings need no name or models. Set `privateAddresses` to PRIVATE_ADDRESSES if the settings
 * come from an API caller. Throws GatewayError `invalid_request` that names the invalid field.
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

/**
 * Returns the channel of an entry without a row. `keeper` is only needed to seal and open its secrets, so it
 * can be any.
 */
export function channelOf(entry: Omit<ChannelEntry, 'offers'>, keeper: SecretKeeper): Channel {
  return {
    id,
    name: entry.name,
    protocols: entry.protocols,
    ...fromRow(settingsOfChannels, toRow(settingsOfChannels, entry)),
    credentials: entry.credentials,
    vendor: entry.vendor ?? vendorByHost(entry.protocols),
    connection: openConnection({ id, ...connectionColumns(entry.connection, id, undefined, keeper) }, keeper),
  }
}
