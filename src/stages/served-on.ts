import type { Channel, Model, Price } from '../catalog/snapshot.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { imageProtocols, translatable } from '../routing/candidates.ts'
import { type ModelEndpoint, modelEndpoints } from './endpoints.ts'

/** The endpoints on which a model is known to be served by these channels. */
export function endpointsOf(model: Model, id: string, channels: readonly Channel[]): ModelEndpoint[] {
  return modelEndpoints.filter((endpoint) => isServedOn(endpoint, model, id, channels))
}

/**
 * Whether a model is known to be served on an endpoint. We know only the protocols of its channels, not all
 * that they can do: a request that names it on another endpoint is passed on all the same.
 */
function isServedOn(
  endpoint: ModelEndpoint,
  model: Model,
  id: string,
  channels: readonly Channel[],
): boolean {
  switch (endpoint.kind) {
    case 'text':
      // Whatever answers chats compacts them: it says nothing of the model.
      if (endpoint.compactsAt !== undefined) return false
      return speaksAny(channels, translatable) && !isSoldByTheImage(model.price) && !isPlain(id)
    case 'plain':
      return speaksAny(channels, [endpoint.protocol]) && endpoint.models.test(id)
    case 'image': {
      const others = model.images === undefined ? [] : imageProtocols
      return speaksAny(channels, [endpoint.protocol, ...others])
    }
  }
}

/** Models that answer with no text, by their name. */
function isPlain(id: string): boolean {
  return modelEndpoints.some(
    (endpoint) => endpoint.kind === 'plain' && endpoint.writes !== true && endpoint.models.test(id),
  )
}

function speaksAny(channels: readonly Channel[], protocols: readonly ProtocolName[]): boolean {
  return channels.some((channel) => protocols.some((name) => channel.protocols[name] !== undefined))
}

/** Not a chat model, even if its channels speak formats of chats: the cost of a chat with it is unknown. */
function isSoldByTheImage(price: Price | undefined): boolean {
  if (price === undefined || price.input !== undefined || price.output !== undefined) return false
  return price.image !== undefined || price.imageRates.length > 0
}
