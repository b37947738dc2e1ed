import type { Identity } from '../access/identity.ts'
import { unlimited } from '../catalog/limit-columns.ts'
import type { Group, Snapshot } from '../catalog/snapshot.ts'
import { OfferTraits } from '../catalog/traits/offer-traits.ts'
import { groupSettingsOfRequests } from '../db/settings/group-settings.ts'
import { defaultsOf } from '../db/settings/setting.ts'
import type { Exchange } from '../http/exchange.ts'
import { type Fetch, memoryFetch } from '../http/memory-fetch.ts'
import { booksWith, type InnerCaller } from '../pipeline/books.ts'
import { chat } from '../pipeline/chat.ts'
import { modelEndpoints } from '../pipeline/endpoints.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { probeTenant } from './probe-keys.ts'
import type { ProbedOffer } from './probed-offer.ts'

/** The base URL of all requests of a run. */
export const probeBase = 'http://tollgate.internal/v1'

/**
 * Returns the text endpoints for one run. Its requests are handled like any other: they are journalled, have
 * rows, and their costs are held in the budget of the run's key. Only the catalog and the caller belong to
 * the run: one offer in one protocol, and `identity`.
 */
export function probeFetch(
  gateway: Gateway,
  probed: ProbedOffer,
  identity: Identity,
  onCause?: InnerCaller['onCause'],
): Fetch {
  const snapshot = snapshotOf(gateway.catalog.snapshot, probed, identity)
  const books = booksWith(gateway, { catalog: { snapshot } })
  const caller = { identity, books, ...(onCause === undefined ? {} : { onCause }) }
  const handlers = modelEndpoints.flatMap((endpoint) => {
    if (endpoint.kind !== 'text') return []
    const handle = chat(gateway, endpoint)
    return [[endpoint.path.replace(/^\/v1/, ''), (exchange: Exchange) => handle(exchange, caller)] as const]
  })
  return memoryFetch(new Map(handlers), probeBase)
}

/**
 * Returns a catalog that contains only the offer, without any known traits, because the probe must learn them
 * from the upstream rather than from our tables.
 */
function snapshotOf(
  { revision }: Snapshot,
  { channel, model, offer, name, protocol, upstreamModel }: ProbedOffer,
  { tenantId, groupId }: Identity,
): Snapshot {
  const only = { ...channel, protocols: { [protocol]: channel.protocols[protocol] } }
  const traits = new OfferTraits({ vendor: undefined, stated: [], verdicts: [] })
  const probed = {
    ...model,
    id: name,
    aliases: [],
    fallbacks: [],
    offers: [{ ...offer, channel: only, upstreamModel, traits }],
  }
  return {
    revision,
    models: new Map([[name, probed]]),
    anyModel: undefined,
    channels: new Map([[channel.id, only]]),
    groups: new Map([[groupId, groupOf(groupId)]]),
    soleTenants: new Map(),
    tenants: new Map([
      [tenantId, { id: tenantId, name: probeTenant, disabled: false, limited: false, limits: unlimited }],
    ]),
  }
}

const groupOf = (id: string): Group => ({
  id,
  name: probeTenant,
  ...defaultsOf(groupSettingsOfRequests),
  clientGone: { policy: 'abort', seconds: 0, unseen: 'estimate' },
  budgeted: false,
})
