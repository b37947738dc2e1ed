import { isCovered } from '../canonical/address-blocks.ts'
import { invalid } from '../canonical/field-error.ts'
import type { ChannelEntry } from './gateway-file.ts'

/**
 * Limits a channel's private addresses, when set through the admin API, to `most` (PRIVATE_ADDRESSES),
 * because a user who can change channels may have no access to this machine or its network. `true` becomes
 * all of these blocks. Throws `invalid_request` for other addresses.
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
      'private addresses cannot be set through the API of this gateway. The operator can list address blocks in PRIVATE_ADDRESSES or define the channel in gateway.yaml',
    )
  if (wanted === true) return { ...entry, allowPrivateAddress: [...most] }
  const outside = wanted.findIndex((block) => !isCovered(block, most))
  if (outside >= 0)
    throw invalid(
      `allow_private_address[${outside}]`,
      `is outside the address blocks that the operator allows in PRIVATE_ADDRESSES: ${most.join(', ')}`,
    )
  return entry
}
