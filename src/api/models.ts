import type { Request, Response } from 'express'
import type { Identity } from '../access/identity.ts'
import { GatewayError } from '../canonical/error.ts'
import { mayUse, modelsFor } from '../catalog/permitted.ts'
import type { Group, Model, Price, Snapshot } from '../catalog/snapshot.ts'
import { parseMultiplier } from '../ledger/price.ts'
import { redactText } from '../ledger/redact.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
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

    /** `GET /v1/models/*id`: ids may have slashes. Throws `model_not_found`, also for models that the key may not use. */
    async detail(request: Request, response: Response): Promise<void> {
      const identity = await authenticate(request)
      const { snapshot } = catalog
      const id = [request.params.id ?? []].flat().join('/')
      const group = snapshot.groups.get(identity.groupId)
      const model = snapshot.models.get(id) ?? snapshot.anyModel
      if (group === undefined || model === undefined || !mayUse(snapshot, identity, id)) {
        throw new GatewayError(
          'model_not_found',
          `Model "${redactText(id.slice(0, idLengthShown))}" is not one that this key may use. GET /v1/models lists those.`,
          { field: 'model' },
        )
      }
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
const endpoints = ['/v1/chat/completions', '/v1/responses', '/v1/messages']
const chatProtocols: readonly ProtocolName[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
]

/** `id`: as asked for, since a model may stand for any name that its channels pass through. */
export function modelJson(model: Model, id: string, group: Group) {
  const channels = model.offers
    .map((offer) => offer.channel)
    .filter((channel) => group.channels.includes('*') || group.channels.includes(channel.name))
  const chats = channels.some((channel) =>
    chatProtocols.some((name) => channel.protocols[name] !== undefined),
  )
  return {
    id,
    object: 'model',
    created: Math.floor(model.createdAt.getTime() / 1000),
    owned_by: 'tollgate',
    endpoints: chats ? endpoints : [],
    capabilities: { streaming: chats },
    context_length: model.contextLength ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    pricing: model.price === undefined ? null : pricingJson(model.price, group.priceMultiplier),
  }
}

/** USD per million tokens, and per image, as the group pays it: exact decimal strings; null where not known. */
function pricingJson(price: Price, multiplier: string) {
  const usd = (nano: bigint | undefined) => (nano === undefined ? null : usdText(nano, multiplier))
  return {
    input: usd(price.input),
    output: usd(price.output),
    cache_read: usd(price.cacheRead ?? price.input),
    cache_write: usd(price.cacheWrite ?? price.input),
    reasoning: usd(price.reasoning ?? price.output),
    image: usd(price.image),
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
