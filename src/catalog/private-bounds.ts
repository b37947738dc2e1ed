import { isCovered } from '../address-blocks.ts'
import { invalid } from '../canonical/field-error.ts'
import type { ChannelEntry } from './gateway-file.ts'

/**
 * A channel's private addresses as the admin API may set them, within `most` (PRIVATE_ADDRESSES): a user who
 * may change channels may have no account on this machine or in its network. `true` becomes all of these
 * blocks. Throws `invalid_request` for others.
 */
export function boundPrivate<Entry extends Pick<ChannelEntry, 'allowPrivateAddress'>>(
  entry: Entry,
  most: readonly string[] = [],
): Entry {
  const { allowPrivateAddress: wanted } = entry
  if (wanted === false) return entry
  if (most.length === 0)
    throw invalid(
      'allow_private_address',
      'this gateway lets the API set no private address. The operator names blocks in PRIVATE_ADDRESSES, or writes the channel into gateway.yaml',
    )
  if (wanted === true) return { ...entry, allowPrivateAddress: [...most] }
  const outside = wanted.findIndex((block) => !isCovered(block, most))
  if (outside >= 0)
    throw invalid(
      `allow_private_address[${outside}]`,
      `is outside of the blocks that the operator has named in PRIVATE_ADDRESSES: ${most.join(', ')}`,
    )
  return entry
}
