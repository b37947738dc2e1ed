import type { Channel, Model, Price } from '../catalog/snapshot.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { imageProtocols, translatable } from '../routing/candidates.ts'
import { type ModelEndpoint, modelEndpoints } from './endpoints.ts'

/** Returns the endpoints on which these channels are known to serve a model. */
export function endpointsOf(model: Model, id: string, channels: readonly Channel[]): ModelEndpoint[] {
  return modelEndpoints.filter((endpoint) => isServedOn(endpoint, model, id, channels))
}

/**
 * Whether a model is known to be served on an endpoint. Only the protocols of its channels are known, not
 * everything they can do, so a request for it on another endpoint is passed on nevertheless.
 */
function isServedOn(
  endpoint: ModelEndpoint,
  model: Model,
  id: string,
  channels: readonly Channel[],
): boolean {
  switch (endpoint.kind) {
    case 'text':
      // Any chat model can compact a conversation, so this endpoint says nothing about the model.
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

/** Whether a model does not answer with text, judging by its name. */
function isPlain(id: string): boolean {
  return modelEndpoints.some(
    (endpoint) => endpoint.kind === 'plain' && endpoint.writes !== true && endpoint.models.test(id),
  )
}

function speaksAny(channels: readonly Channel[], protocols: readonly ProtocolName[]): boolean {
  return channels.some((channel) => protocols.some((name) => channel.protocols[name] !== undefined))
}

/**
 * True for a model priced by the image only. It is not a chat model even if its channels speak chat formats,
 * because the cost of a chat with it would be unknown.
 */
function isSoldByTheImage(price: Price | undefined): boolean {
  if (price === undefined || price.input !== undefined || price.output !== undefined) return false
  return price.image !== undefined || price.imageRates.length > 0
}
