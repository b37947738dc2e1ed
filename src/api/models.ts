import type { Request, Response } from 'express'
import type { Identity } from '../access/identity.ts'
import { mayUse, modelsFor } from '../access/permitted.ts'
import { GatewayError } from '../canonical/error.ts'
import type { ImageTraits } from '../canonical/image.ts'
import { findModel, modelIdOf } from '../catalog/catalog.ts'
import type { Channel, Group, Model, Price, Snapshot } from '../catalog/snapshot.ts'
import { parseMultiplier } from '../ledger/price.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import { messagesList, messagesModel } from './messages-models.ts'

export interface ModelContext {
  catalog: { readonly snapshot: Snapshot }
  /** Throws, or rejects with, GatewayError. */
  authenticate(request: Request): Identity | Promise<Identity>
}

/**
 * The models that the key that asks may use, in the shape of OpenAI's list with more members.
 * https://platform.openai.com/docs/api-reference/models
 */
export function modelRoutes({ catalog, authenticate }: ModelContext) {
  return {
    /** `GET /v1/models`, by id. */
    async list(request: Request, response: Response): Promise<void> {
      const identity = await authenticate(request)
      const { snapshot } = catalog
      const group = snapshot.groups.get(identity.groupId)
      const models = modelsFor(snapshot, identity)
      response.vary('anthropic-version')
      if (speaksMessages(request)) {
        response.json(messagesList(models, request.query))
        return
      }
      const data = group === undefined ? [] : models.map((model) => modelJson(model, model.id, group))
      response.json({ object: 'list', data })
    },

    /**
     * `GET /v1/models/*id`, of an id or an alias; they may have slashes. Throws `model_not_found`, also for models that
     * the key may not use.
     */
    async detail(request: Request, response: Response): Promise<void> {
      const identity = await authenticate(request)
      const { snapshot } = catalog
      const name = [request.params.id ?? []].flat().join('/')
      const group = snapshot.groups.get(identity.groupId)
      const model = findModel(snapshot, name)
      if (group === undefined || model === undefined || !mayUse(snapshot, identity, name)) {
        throw new GatewayError(
          'model_not_found',
          `Model "${redactText(name.slice(0, idLengthShown))}" is not one that this key may use. GET /v1/models lists those.`,
          { field: 'model' },
        )
      }
      const id = modelIdOf(model, name)
      response.vary('anthropic-version')
      response.json(speaksMessages(request) ? messagesModel(model, id) : modelJson(model, id, group))
    },
  }
}

const idLengthShown = 256

/** The version header of the Messages format asks for that vendor's shape. */
function speaksMessages(request: Request): boolean {
  return request.headers['anthropic-version'] !== undefined
}

/** Where each format is spoken by clients. Any of them reaches any channel that speaks a format of chats. */
const chatEndpoints = ['/v1/chat/completions', '/v1/responses', '/v1/messages']
const imageEndpoints = ['/v1/images/generations']
const chatProtocols: readonly ProtocolName[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
]
/** Formats of chats in which a model that is known to make images can be asked for them. */
const imageChatProtocols: readonly ProtocolName[] = ['openai-responses', 'openai-chat']

/** `id`: as asked for, since a model may stand for any name that its channels pass through. */
export function modelJson(model: Model, id: string, group: Group) {
  const channels = model.offers
    .map((offer) => offer.channel)
    .filter((channel) => group.channels.includes('*') || group.channels.includes(channel.name))
  const chats = speaksAny(channels, chatProtocols) && !isSoldByTheImage(model.price)
  const makesImages =
    speaksAny(channels, ['openai-images']) ||
    (model.images !== undefined && speaksAny(channels, imageChatProtocols))
  return {
    id,
    object: 'model',
    created: Math.floor(model.createdAt.getTime() / 1000),
    owned_by: 'tollgate',
    aliases: model.aliases,
    endpoints: [...(chats ? chatEndpoints : []), ...(makesImages ? imageEndpoints : [])],
    capabilities: {
      streaming: chats,
      images: makesImages && model.images !== undefined ? traitsJson(model.images) : null,
    },
    context_length: model.contextLength ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    pricing: model.price === undefined ? null : pricingJson(model.price, group.priceMultiplier),
  }
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
