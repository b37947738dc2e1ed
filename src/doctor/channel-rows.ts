import { isCovered } from '../address-blocks.ts'
import type { Config } from '../config.ts'
import { type Finding, findingsOf } from './finding.ts'
import type { CheckedChannel, StoredRows } from './stored-rows.ts'

const { well, warning } = findingsOf('channels')

/** What the rows of the channels say, without a call. Nothing where they cannot be read. */
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
        `several tenants reach ${name}: ids of what its vendor keeps are refused, unless it has shared_state: allow`,
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

/** Whether the keys of several tenants reach a channel. */
function isShared(name: string, groups: StoredRows['groups']): boolean {
  const reaching = groups.filter(({ channels }) => channels.includes('*') || channels.includes(name))
  return new Set(reaching.flatMap(({ first, last }) => [first, last]).filter((id) => id !== null)).size > 1
}

function beyond(name: string): Finding {
  return warning(
    'channels.beyond_private_addresses',
    `${name} may call more private addresses than the API may set`,
    {
      why: 'It was made before PRIVATE_ADDRESSES, or when that had other blocks. It goes on as it is.',
      fix: 'Name the blocks that it needs in PRIVATE_ADDRESSES and set its allow_private_address again, or write it into gateway.yaml.',
      docs: 'docs/reference/deployment.md#upstreams',
    },
  )
}
