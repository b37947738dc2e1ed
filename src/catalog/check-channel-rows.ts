import { isCovered } from '../canonical/address-blocks.ts'
import { type Finding, findingsOf } from '../canonical/finding.ts'
import type { Config } from '../config/config.ts'
import type { CheckedChannel, StoredRows } from './stored-rows.ts'

const { well, warning } = findingsOf('channels')

/**
 * Checks the stored rows of the channels without calling them. Returns no findings if the rows could not be
 * read.
 */
export function checkChannelRows({ privateAddresses }: Config, rows: StoredRows | undefined): Finding[] {
  if (rows === undefined) return []
  const most = privateAddresses ?? []
  const shared = rows.channels.filter(
    ({ name, sharedState }) => sharedState === null && isShared(name, rows.groups),
  )
  return [
    ...rows.channels.filter((row) => isBeyond(row, most)).map(({ name }) => beyond(name)),
    ...shared.map(({ name }) =>
      well(
        'channels.shared_state',
        `several tenants can use ${name}: requests that name objects stored at its vendor are refused, unless the channel has shared_state: allow`,
      ),
    ),
  ]
}

function isBeyond(
  { ofFile, allowPrivateAddress, privateAddresses }: CheckedChannel,
  most: readonly string[],
) {
  if (ofFile) return false
  return allowPrivateAddress || privateAddresses?.some((block) => !isCovered(block, most)) === true
}

/** Returns whether keys of several tenants can use a channel. */
function isShared(name: string, groups: StoredRows['groups']): boolean {
  const reaching = groups.filter(({ channels }) => channels.includes('*') || channels.includes(name))
  return new Set(reaching.flatMap(({ first, last }) => [first, last]).filter((id) => id !== null)).size > 1
}

function beyond(name: string): Finding {
  return warning(
    'channels.beyond_private_addresses',
    `${name} can call private addresses that are outside PRIVATE_ADDRESSES`,
    {
      why: 'The channel was created before PRIVATE_ADDRESSES was set, or when it contained other blocks. It keeps working.',
      fix: 'Add the blocks that it needs to PRIVATE_ADDRESSES and set its allow_private_address again, or define the channel in gateway.yaml.',
      docs: 'docs/reference/deployment.md#upstreams',
    },
  )
}
