import { resolve } from 'node:path'
import { isCovered } from '../address-blocks.ts'
import { soleTenantsOf } from '../catalog/build-snapshot.ts'
import { type ChannelRow, readCatalogRows } from '../catalog/queries.ts'
import type { Config } from '../config.ts'
import { type Connections, openConnections } from '../db/connections.ts'
import { embeddedUrl } from '../db/embedded.ts'
import { inTime } from '../in-time.ts'
import { type Finding, findingsOf } from './finding.ts'

const { well, warning } = findingsOf('channels')

/** What the rows of the channels say, without a call: which of them are bound, or are not. Nothing where the rows cannot be read. */
export async function checkChannelRows(config: Config): Promise<Finding[]> {
  const rows = await fromDatabase(config, ({ db }) => readCatalogRows(db))
  if (rows === undefined) return []
  const most = config.privateAddresses ?? []
  const sole = soleTenantsOf(rows)
  const several = rows.tenants.length > 1
  return [
    ...rows.channels.filter((row) => isBeyond(row, most)).map(({ name }) => beyond(name)),
    ...rows.channels
      .filter(({ id, sharedState }) => several && sharedState === null && !sole.has(id))
      .map(({ name }) =>
        well(
          'channels.shared_state',
          `several tenants reach ${name}: ids of what its vendor keeps are refused, unless it has shared_state: allow`,
        ),
      ),
  ]
}

function isBeyond({ managedBy, allowPrivateAddress, privateAddresses }: ChannelRow, most: readonly string[]) {
  if (managedBy === 'file') return false
  return allowPrivateAddress || privateAddresses?.some((block) => !isCovered(block, most)) === true
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

/** What the database says; undefined: it cannot be asked. */
export async function fromDatabase<T>(
  config: Config,
  read: (connections: Connections) => Promise<T>,
): Promise<T | undefined> {
  const url = config.databaseUrl ?? embeddedUrl(resolve(config.dataDir))
  if (url === undefined) return undefined
  const connections = openConnections(url, { max: 1, applicationName: 'tollgate doctor' })
  try {
    return await inTime(read(connections), 8_000, 'Postgres')
  } catch {
    return undefined
  } finally {
    await connections.end()
  }
}
