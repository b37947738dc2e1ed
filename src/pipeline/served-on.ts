import { priceParts } from '../canonical/price-parts.ts'
import type { Channel, Model, Price } from '../catalog/snapshot.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { imageProtocols, translatable } from '../routing/candidates.ts'
import { type ModelEndpoint, modelEndpoints, type PlainKind } from './endpoints.ts'

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
      return speaksAny(channels, translatable) && !isSoldWithoutTokens(model.price) && !isPlain(id)
    case 'plain':
      return speaksAny(channels, [endpoint.protocol]) && isOfKind(endpoint, model, id)
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

/** Whether a model's name, or a price for what the endpoint counts, shows that it answers there. */
function isOfKind({ models, counts }: PlainKind, { price }: Model, id: string): boolean {
  if (models.test(id)) return true
  return priceParts.some(
    ({ name, count }) => count !== undefined && count.name === counts && price?.[name] !== undefined,
  )
}

/**
 * True for a model priced by the image or another unit only. It is not a chat model even if its channels
 * speak chat formats, because the cost of a chat with it would be unknown.
 */
function isSoldWithoutTokens(price: Price | undefined): boolean {
  return price !== undefined && price.input === undefined && price.output === undefined
}
