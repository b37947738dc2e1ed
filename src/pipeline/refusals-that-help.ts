import { modelsFor } from '../access/permitted.ts'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import { priceParts } from '../canonical/price-parts.ts'
import type { Channel, Model, Offer, Price } from '../catalog/snapshot.ts'
import { canDo, having, lacking, type Need, type NeedName } from '../catalog/traits/needs.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import { redactText } from '../redaction/redact.ts'
import { imageProtocols, translatable } from '../routing/candidates.ts'
import type { LeftOut, ModelCandidates } from '../routing/targets.ts'
import { type ModelEndpoint, modelEndpoints, type PlainKind } from './endpoints.ts'
import type { Gateway } from './gateway.ts'
import type { Identified } from './identify.ts'
import type { Asked } from './read.ts'

/** Refusals say why (model, channels, format) and name models and endpoints that would work. */

type Shows = Pick<Gateway, 'showsRouting'>

/**
 * The error for a request that none of the candidates can serve, because all were left out. In `planned`, the
 * requested model comes first.
 */
export function noModelCan(gateway: Shows, asked: Asked, planned: readonly ModelCandidates[]): GatewayError {
  const of = planned.find(({ leftOut }) => leftOut !== undefined)
  const [first, ...others] = of?.leftOut ?? []
  if (of === undefined || first === undefined) return gatewayError('no_channel_tried')
  const leftOut = [first, ...others]
  const name = redactText(asked.facts.model)
  const { model } = of
  const need =
    leftOut.find(({ need }) => need !== undefined && leftOut.every((one) => lacks(one, need.name)))?.need ??
    first.need
  const apart = leftOut.filter(({ state }) => state !== undefined)
  if (apart[0]?.state !== undefined) return keptApart(apart[0].state, channelsText(gateway, apart))
  if (need === undefined) return notServed(gateway, asked, model, leftOut)
  if (!leftOut.every((one) => lacks(one, need.name))) return split(gateway, asked, model, leftOut, need)
  const by = `on the upstreams that this key may use${channelsText(gateway, leftOut)}`
  const { path: field } = need
  const facts = {
    model: name,
    lacks: `${lacking(need.name)} ${by}`,
    advice: modelsAdvice(asked, model, need.name),
  }
  return gatewayError('model_unable', { field, ...facts }, { field })
}

/**
 * The error when the channels were left out for different reasons. Lists each reason, with its channels if
 * the operator shows them.
 */
function split(
  gateway: Shows,
  asked: Asked,
  model: Model,
  leftOut: readonly LeftOut[],
  { path }: Need,
): GatewayError {
  const byReason = Map.groupBy(leftOut, reasonOf)
  const parts = [...byReason].slice(0, channelsMax).map(([reason, of], at) => {
    const where = gateway.showsRouting
      ? channelNames(of)
      : at === 0
        ? 'an upstream that this key may use'
        : 'another'
    return `${reason} on ${where}`
  })
  const needed = new Set(leftOut.flatMap(({ need }) => need?.name ?? []))
  const { can } = alternativesTo(model, asked, (offer, { id }) => {
    const judged = [...needed].map((name) => judge(offer, id, name))
    if (judged.includes(false)) return false
    return judged.includes(undefined) ? undefined : true
  })
  const advice =
    can.length === 0
      ? ' No other model of this key is known to support all of this.'
      : ` Models of this key that support all of this: ${list(can)}.`
  const named = { field: path, model: redactText(asked.facts.model) }
  return gatewayError('model_unable', { ...named, lacks: parts.join(', and '), advice }, { field: path })
}

function reasonOf({ need, candidate }: LeftOut): string {
  if (need !== undefined) return `${lacking(need.name)} (${need.path})`
  return `is served by its vendor only in ${candidate.traits.protocols?.join(', ')}, a format that is not supported`
}

/**
 * The refusal of an id of data that a vendor keeps. `path` is where it is; `channels` describes the channels
 * that must not receive it.
 */
export function keptApart(path: string, channels = ''): GatewayError {
  return gatewayError('shared_state', { path, channels }, { field: path })
}

function lacks({ candidate }: LeftOut, name: NeedName): boolean {
  return canDo(name, candidate.traits) === false
}

/** The refusal when the vendor serves the model only in formats that no channel speaks. */
function notServed(gateway: Shows, asked: Asked, model: Model, leftOut: readonly LeftOut[]): GatewayError {
  const formats = new Set(leftOut.flatMap(({ candidate }) => candidate.traits.protocols ?? []))
  const facts = {
    model: redactText(asked.facts.model),
    formats: [...formats].join(', '),
    channels: channelsText(gateway, leftOut),
    advice: endpointsAdvice(asked, model),
  }
  return gatewayError('vendor_format_not_spoken', facts, { field: 'model' })
}

/**
 * Adds the endpoints of the model, and models for the endpoint, to an `endpoint_not_supported`. Returns any
 * other error unchanged.
 */
export function withEndpoints(asked: Asked, model: Model, error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.kind !== 'endpoint_not_supported') return error
  return withAdvice(error, endpointsAdvice(asked, model))
}

/**
 * Adds to a translation error the models whose channels need no translation: they accept features without a
 * counterpart in other formats, such as tools that a vendor runs itself.
 */
export function withUntranslated(
  gateway: Shows,
  asked: Asked,
  all: readonly ModelCandidates[],
  error: GatewayError,
): GatewayError {
  const planned = all.find(({ candidates }) => candidates.length > 0)
  // Client software may depend on the wording of an error that has a code.
  if (error.kind !== 'unsupported_parameter' || error.code !== undefined || planned === undefined)
    return error
  const { model, candidates, fallback = asked.facts.model } = planned
  const formats = [...new Set(candidates.map(({ protocol }) => protocol))].join(', ')
  const { protocol } = asked.endpoint
  const native = alternativesTo(model, asked, (offer, { id }) => isNativeTo(offer, id, protocol))
  const own = modelEndpoints.filter(
    (endpoint) =>
      endpoint.kind === 'text' &&
      channelsOf(model, asked.group).some((channel) => channel.protocols[endpoint.protocol] !== undefined),
  )
  return withAdvice(
    error,
    [
      ` Model "${redactText(fallback)}" is called in the format ${formats}${channelsText(gateway, candidates)}, so the request is translated.`,
      native.can.length === 0
        ? ' No other model of this key accepts this request without translation.'
        : ` Models of this key that accept it without translation: ${list(native.can)}.`,
      own.length === 0 ? '' : ` This model accepts requests without translation on ${pathsOf(own)}.`,
    ].join(''),
  )
}

function isNativeTo({ channel, traits, upstreamModel }: Offer, id: string, protocol: ProtocolName): boolean {
  if (channel.protocols[protocol] === undefined) return false
  const { protocols } = traits.of(protocol, upstreamModel === '*' ? id : upstreamModel)
  return protocols === undefined || protocols.includes(protocol)
}

function modelsAdvice(asked: Asked, model: Model, need: NeedName): string {
  const { can, may } = alternativesTo(model, asked, (offer, { id }) => judge(offer, id, need))
  if (can.length > 0) return ` Models of this key that ${having(need)}: ${list(can)}.`
  if (may.length > 0) return ` Models of this key that might: ${list(may)}.`
  return ' No other model of this key is known to do so.'
}

/** The best verdict for an offer across the formats of its channel. */
function judge({ channel, traits, upstreamModel }: Offer, id: string, need: NeedName): boolean | undefined {
  const judged = translatable
    .filter((protocol) => channel.protocols[protocol] !== undefined)
    .map((protocol) => canDo(need, traits.of(protocol, upstreamModel === '*' ? id : upstreamModel)))
  if (judged.includes(true)) return true
  return judged.includes(undefined) ? undefined : false
}

function endpointsAdvice(asked: Asked, model: Model): string {
  const { endpoint, facts, group } = asked
  const own = endpointsOf(model, facts.model, channelsOf(model, group)).filter(
    ({ path }) => path !== endpoint.path,
  )
  const others = alternativesTo(model, asked, ({ channel }, { id, ...other }) =>
    endpointsOf({ id, ...other }, id, [channel]).some(({ path }) => path === endpoint.path),
  )
  return [
    own.length === 0 ? '' : ` It is served on ${pathsOf(own)}.`,
    others.can.length === 0
      ? ''
      : ` Models of this key that are served on ${endpoint.path}: ${list(others.can)}.`,
  ].join('')
}

/** Empty unless the operator shows the channels. */
function channelsText(
  { showsRouting }: Shows,
  of: readonly (LeftOut | { channel: { name: string } })[],
): string {
  if (!showsRouting) return ''
  return ` (${channelNames(of)})`
}

function channelNames(of: readonly (LeftOut | { channel: { name: string } })[]): string {
  const names = of.map((each) => ('channel' in each ? each.channel.name : each.candidate.channel.name))
  return list([...new Set(names)].slice(0, channelsMax))
}

const channelsMax = 5

function withAdvice(error: GatewayError, advice: string): GatewayError {
  const message = /[.!?]$/.test(error.message) ? error.message : `${error.message}.`
  return error.with({ message: `${message}${advice}` })
}

function list(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}

function pathsOf(endpoints: readonly { path: string }[]): string {
  return endpoints.map(({ path }) => path).join(', ')
}

/** Other models that this key may use, by whether they can do something. */
export interface Alternatives {
  /** Models that certainly can. */
  can: string[]
  /** Models that may or may not be able to. */
  may: string[]
}

/** The most models that a refusal names. */
const shownMax = 5
/** The most models that a refusal checks, in a large catalog. */
const judgedMax = 200

/**
 * Returns the first models of this key that can, and those that may. `judge` returns whether an offer of the
 * key's group can, or undefined when that is not known.
 */
export function alternativesTo(
  model: Model,
  { snapshot, identity, group }: Pick<Identified, 'snapshot' | 'identity' | 'group'>,
  judge: (offer: Offer, model: Model) => boolean | undefined,
): Alternatives {
  const found: Alternatives = { can: [], may: [] }
  const models = modelsFor(snapshot, identity).slice(0, judgedMax)
  for (const each of models) {
    if (each.id === model.id || each.id === '*' || found.can.length === shownMax) continue
    const judged = each.offers
      .filter(({ channel }) => isOf(channel, group))
      .map((offer) => judge(offer, each))
    if (judged.includes(true)) found.can.push(each.id)
    else if (judged.includes(undefined)) found.may.push(each.id)
  }
  return { can: found.can, may: found.may.slice(0, shownMax) }
}

/** Returns the channels of a model that a group may use. */
export function channelsOf({ offers }: Model, group: Identified['group']): Channel[] {
  return offers.map(({ channel }) => channel).filter((channel) => isOf(channel, group))
}

function isOf({ name }: Channel, { channels }: Identified['group']): boolean {
  return channels.includes('*') || channels.includes(name)
}

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
      const making = channels.filter((channel) => !isGuessedAt(model, id, channel, channels))
      return speaksAny(making, [endpoint.protocol, ...others])
    }
  }
}

/**
 * Whether nothing says that a channel makes images with this model: it takes any name, and others answer this
 * one with text.
 */
function isGuessedAt(model: Model, id: string, channel: Channel, channels: readonly Channel[]): boolean {
  const offer = model.offers.find((one) => one.channel === channel)
  // What is only in upstreams' lists, or nowhere, goes to the channels that list it, or to all of them.
  if (offer?.upstreamModel !== '*' || model.id === '*' || 'listed' in model) return false
  const { price } = model
  const isStated =
    model.images !== undefined || price?.image !== undefined || (price?.imageRates.length ?? 0) > 0
  return !isStated && !namesOfImages.test(id) && speaksAny(channels, translatable)
}

const namesOfImages = /image|dall-e|diffusion|sdxl|flux|ideogram|recraft/i

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
