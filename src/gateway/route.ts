import { GatewayError } from '../canonical/error.ts'
import type { Channel, Group, Model, Offer, Snapshot } from '../catalog/snapshot.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/** One place a request can be sent to. */
export interface Target {
  channel: Channel
  protocol: ProtocolName
  /** As the channel's configuration says it, without a trailing slash. */
  baseUrl: string
  upstreamModel: string
  /** Why it stands where it stands, for the attempts table. */
  reason: string
}

/**
 * All targets for a request, in the order they are to be tried: by priority tier, within a tier by weighted
 * chance. Throws `model_not_found` or `endpoint_not_supported` when there is none.
 */
export function planRoute(
  model: Model,
  requestedModel: string,
  group: Group,
  protocol: ProtocolName,
  chance: () => number = Math.random,
): Target[] {
  const usable = model.offers.filter(
    (offer) => group.channels.includes('*') || group.channels.includes(offer.channel.name),
  )
  if (usable.length === 0) throw noChannel(requestedModel)
  const speaking = usable.filter((offer) => offer.channel.protocols[protocol] !== undefined)
  if (speaking.length === 0) throw notSpoken(requestedModel, usable)
  const only = speaking[0]
  if (speaking.length === 1 && only !== undefined)
    return [targetOf(only, requestedModel, protocol, 'only candidate')]
  return inOrder(speaking, chance).map(({ offer, reason }) =>
    targetOf(offer, requestedModel, protocol, reason),
  )
}

/** The group of a key. A key whose group is gone from the catalog may do nothing. */
export function groupOf(snapshot: Snapshot, groupId: string): Group {
  const group = snapshot.groups.get(groupId)
  if (group === undefined) throw new GatewayError('permission_denied', "This key's group no longer exists.")
  return group
}

function inOrder(offers: readonly Offer[], chance: () => number): { offer: Offer; reason: string }[] {
  const ordered: { offer: Offer; reason: string }[] = []
  let rest = [...offers]
  while (rest.length > 0) {
    const priority = Math.max(...rest.map((offer) => offer.channel.priority))
    const tier = rest.filter((offer) => offer.channel.priority === priority)
    rest = rest.filter((offer) => offer.channel.priority !== priority)
    while (tier.length > 0) {
      const weights = tier.map((offer) => offer.channel.weight)
      const sum = weights.reduce((a, b) => a + b, 0)
      let draw = chance() * sum
      let at = weights.findIndex((weight) => {
        draw -= weight
        return draw < 0
      })
      // All weights may be zero: then the order of the catalog decides.
      if (at < 0) at = 0
      const [offer] = tier.splice(at, 1)
      if (offer !== undefined)
        ordered.push({ offer, reason: `priority ${priority}, weight ${offer.channel.weight} of ${sum}` })
    }
  }
  return ordered
}

function targetOf(offer: Offer, requestedModel: string, protocol: ProtocolName, reason: string): Target {
  return {
    channel: offer.channel,
    protocol,
    baseUrl: offer.channel.protocols[protocol] ?? '',
    upstreamModel: offer.upstreamModel === '*' ? requestedModel : offer.upstreamModel,
    reason,
  }
}

function noChannel(model: string): GatewayError {
  return new GatewayError(
    'model_not_found',
    `Model "${model}" has no channel that this key may use. GET /v1/models lists what it may.`,
    {
      field: 'model',
    },
  )
}

function notSpoken(model: string, offers: readonly Offer[]): GatewayError {
  const spoken = [...new Set(offers.flatMap((offer) => Object.keys(offer.channel.protocols)))].sort()
  return new GatewayError(
    'endpoint_not_supported',
    `Model "${model}" is not served on this endpoint: its channels speak ${spoken.join(', ')}. GET /v1/models lists each model's endpoints.`,
    { field: 'model' },
  )
}
