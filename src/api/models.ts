import { mayUse, modelsFor } from '../access/permitted.ts'
import { GatewayError } from '../canonical/error.ts'
import type { ImageTraits } from '../canonical/image.ts'
import { findModel, modelIdOf } from '../catalog/catalog.ts'
import type { Channel, Group, Model, Price } from '../catalog/snapshot.ts'
import { parseMultiplier } from '../ledger/price.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import { imageProtocols, translatable } from '../routing/candidates.ts'
import { type ModelEndpoint, modelEndpoints } from '../stages/endpoints.ts'
import type { Identified } from '../stages/identify.ts'
import { messagesList, messagesModel } from './messages-models.ts'
import type { OwnEndpoint } from './own-endpoint.ts'

/**
 * The models that the key that asks may use, in the shape of OpenAI's list with more members.
 * https://platform.openai.com/docs/api-reference/models
 */
export const modelsEndpoints: readonly OwnEndpoint[] = [
  {
    method: 'GET',
    path: '/v1/models',
    summary: 'The models that this key may use, by id',
    logged: true,
    needsKey: true,
    async handle({ stage, query }) {
      const models = modelsFor(stage.snapshot, stage.identity)
      if (speaksMessages(stage)) return { body: messagesList(models, query), headers: vary }
      const data = models.map((model) => modelJson(model, model.id, stage.group))
      return { body: { object: 'list', data }, headers: vary }
    },
  },
  {
    method: 'GET',
    path: '/v1/models/{id}',
    // Ids and aliases may have slashes.
    route: '/v1/models/*id',
    summary: 'One model, by its id or an alias',
    logged: true,
    needsKey: true,
    async handle({ stage, params }) {
      const { snapshot, identity, group } = stage
      const { id: name = '' } = params
      const model = findModel(snapshot, name)
      if (model === undefined || !mayUse(snapshot, identity, name)) {
        throw new GatewayError(
          'model_not_found',
          `Model "${redactText(name.slice(0, idLengthShown))}" is not one that this key may use. GET /v1/models lists those.`,
          { field: 'model' },
        )
      }
      const id = modelIdOf(model, name)
      return {
        body: speaksMessages(stage) ? messagesModel(model, id) : modelJson(model, id, group),
        headers: vary,
      }
    },
  },
]

const vary = { vary: 'anthropic-version' }

const idLengthShown = 256

/** The version header of the Messages format asks for that vendor's shape. */
function speaksMessages({ request }: Identified): boolean {
  return request.headers['anthropic-version'] !== undefined
}

/** `id`: as asked for, since a model may stand for any name that its channels pass through. */
export function modelJson(model: Model, id: string, group: Group) {
  const channels = model.offers
    .map((offer) => offer.channel)
    .filter((channel) => group.channels.includes('*') || group.channels.includes(channel.name))
  const endpoints = modelEndpoints.filter((endpoint) => isServedOn(endpoint, model, id, channels))
  const makesImages = endpoints.some(({ kind }) => kind === 'image')
  return {
    id,
    object: 'model',
    created: Math.floor(model.createdAt.getTime() / 1000),
    owned_by: 'tollgate',
    aliases: model.aliases,
    endpoints: endpoints.map(({ path }) => path),
    capabilities: {
      streaming: endpoints.some(({ kind }) => kind === 'text'),
      images: makesImages && model.images !== undefined ? traitsJson(model.images) : null,
    },
    context_length: model.contextLength ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    pricing: model.price === undefined ? null : pricingJson(model.price, group.priceMultiplier),
  }
}

/**
 * Whether a model is known to be served on an endpoint. What its channels can do beyond their protocols is not known here:
 * a request that names it on another endpoint is passed on all the same.
 */
function isServedOn(
  endpoint: ModelEndpoint,
  model: Model,
  id: string,
  channels: readonly Channel[],
): boolean {
  switch (endpoint.kind) {
    case 'text':
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

/** No chat model, even where its channels speak formats of chats: what a chat with it would cost nobody knows. */
function isSoldByTheImage(price: Price | undefined): boolean {
  if (price === undefined || price.input !== undefined || price.output !== undefined) return false
  return price.image !== undefined || price.imageRates.length > 0
}

/** Null: whatever the format knows. */
function traitsJson(traits: ImageTraits) {
  return {
    sizes: traits.sizes ?? null,
    qualities: traits.qualities ?? null,
    styles: traits.styles ?? null,
    backgrounds: traits.backgrounds ?? null,
    output_formats: traits.outputFormats ?? null,
    images_max: traits.imagesMax ?? null,
    partial_images_max: traits.partialImagesMax ?? null,
    prompt_characters_max: traits.promptCharactersMax ?? null,
  }
}

/** USD per million tokens, and per image, as the group pays it: exact decimal strings; null where not known, or, of a size or quality, where any. */
function pricingJson(price: Price, multiplier: string) {
  const usd = (nano: bigint | undefined) => (nano === undefined ? null : usdText(nano, multiplier))
  return {
    input: usd(price.input),
    output: usd(price.output),
    cache_read: usd(price.cacheRead ?? price.input),
    cache_write: usd(price.cacheWrite ?? price.input),
    reasoning: usd(price.reasoning ?? price.output),
    image: usd(price.image),
    images: price.imageRates.map(({ size, quality, nano }) => ({
      size: size ?? null,
      quality: quality ?? null,
      usd: usd(nano),
    })),
  }
}

/** At least two decimals, as prices are read; more only where they are needed. */
function usdText(nano: bigint, multiplier: string): string {
  const { digits, scale } = parseMultiplier(multiplier)
  const nanoPerUsd = 1_000_000_000n * scale
  const exact = nano * digits
  const decimals = String(exact % nanoPerUsd)
    .padStart(String(nanoPerUsd).length - 1, '0')
    .replace(/0+$/, '')
  return `${exact / nanoPerUsd}.${decimals.padEnd(2, '0')}`
}
