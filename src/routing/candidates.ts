import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { Traits } from '../canonical/traits.ts'
import { blockedFor, modelIdOf } from '../catalog/catalog.ts'
import type { Channel, Group, LibraryPrices, Model, Offer, Price } from '../catalog/snapshot.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { Credential } from './credentials.ts'
import { type Session, scoreOf } from './session.ts'
import type { ModelNamedBy } from './verdict.ts'

/** The target of an attempt: a candidate and the credential to use. */
export interface Target extends Candidate {
  credential: Credential
}

/** A channel that can serve a request, in one protocol. */
export interface Candidate {
  channel: Channel
  protocol: ProtocolName
  /** Whether the client speaks the same protocol, so that its bytes are passed through unchanged. */
  native: boolean
  /** From the channel's configuration, without a trailing slash. */
  baseUrl: string
  upstreamModel: string
  /** The traits of the offer in this protocol. */
  traits: Traits
  /** The price of a response; absent if unknown. */
  price?: Price | undefined
  libraryPrices?: LibraryPrices | undefined
  /**
   * `client` means that the client's model name is passed through, so that a wrong name is the client's
   * mistake.
   */
  modelNamedBy: ModelNamedBy
  /** The reason for its position in the order, for the attempts table. */
  reason: string
  /** The name of the only credential that can be used; absent if any can. */
  pinned?: string | undefined
}

/**
 * The protocols that can be translated to. Those that carry more of a chat come first: reasoning that a
 * client can send back, tool calls with ids, errors within a stream.
 */
export const translatable: readonly ProtocolName[] = [
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'openai-chat',
]

/** The protocols besides the client's own in which a channel can be asked for images, best first. */
export const imageProtocols: readonly ProtocolName[] = ['openai-responses', 'openai-chat']

/**
 * Returns all candidates for an image request, in the order of planRoute. A chat model is asked for images
 * only if the catalog says that it generates them.
 */
export function planImageRoute(
  model: Model,
  requestedModel: string,
  group: Group,
  chance = Math.random,
): Candidate[] {
  const others = model.images === undefined ? [] : imageProtocols
  return planRoute(model, requestedModel, group, 'openai-images', { others, chance })
}

/**
 * Returns all candidates for a request in the order of attempts: by priority, then those that speak the
 * client's protocol, then by weight. The weighted choice follows the session's score, or is random for a
 * request without a session. If there are no candidates, throws `model_not_found` or
 * `endpoint_not_supported`, or `unavailable` if a person has blocked their channels.
 * `others` are the protocols that can replace the client's, best first. `sessionOf` is called only if there
 * is a choice.
 */
export function planRoute(
  model: Model,
  requestedModel: string,
  group: Group,
  protocol: ProtocolName,
  {
    others = translatable,
    chance = Math.random,
    sessionOf = noSession,
  }: { others?: readonly ProtocolName[]; chance?: () => number; sessionOf?: () => Session | undefined } = {},
): Candidate[] {
  const usable = model.offers.filter(
    (offer) => group.channels.includes('*') || group.channels.includes(offer.channel.name),
  )
  if (usable.length === 0)
    throw isBlocked(model, group, [protocol, ...others])
      ? allBlocked(requestedModel)
      : noChannel(requestedModel)
  const name: ModelName = {
    id: modelIdOf(model, requestedModel),
    requested: requestedModel,
    filePrice: model.price,
  }
  const spoken: SpokenOffer[] = []
  for (const offer of usable) {
    const upstream = protocolFor(offer, protocol, others, name)
    if (upstream !== undefined) spoken.push({ offer, protocol: upstream, native: upstream === protocol })
  }
  if (spoken.length === 0)
    throw isBlocked(model, group, [protocol, ...others])
      ? allBlocked(requestedModel)
      : notSpoken(requestedModel, usable)
  const only = spoken[0]
  if (spoken.length === 1 && only !== undefined) return [candidateOf(only, name, 'only candidate')]
  return inOrder(spoken, chance, sessionOf()).map(({ spoken, reason }) => candidateOf(spoken, name, reason))
}

function noSession(): undefined {}

/** An offer and the protocol in which its channel is called. */
interface SpokenOffer {
  offer: Offer
  protocol: ProtocolName
  native: boolean
}

function inOrder(
  all: readonly SpokenOffer[],
  chance: () => number,
  session: Session | undefined,
): { spoken: SpokenOffer; reason: string }[] {
  const ordered: { spoken: SpokenOffer; reason: string }[] = []
  const tiers = [...new Set(all.map(({ offer }) => offer.channel.priority))].sort((a, b) => b - a)
  for (const priority of tiers) {
    for (const native of [true, false]) {
      const tier = all.filter((one) => one.offer.channel.priority === priority && one.native === native)
      const how = `${native ? '' : 'translated, '}${session === undefined ? '' : 'session, '}`
      while (tier.length > 0) {
        const weights = tier.map(({ offer }) => offer.channel.weight)
        const sum = weights.reduce((a, b) => a + b, 0)
        const [spoken] = tier.splice(
          session === undefined ? draw(weights, sum, chance) : bestOf(tier, session),
          1,
        )
        if (spoken === undefined) break
        const reason = `${how}priority ${priority}, weight ${spoken.offer.channel.weight} of ${sum}`
        ordered.push({ spoken, reason })
      }
    }
  }
  return ordered
}

/** If all weights are zero, the order of the catalog decides. */
function draw(weights: readonly number[], sum: number, chance: () => number): number {
  let rest = chance() * sum
  const at = weights.findIndex((weight) => {
    rest -= weight
    return rest < 0
  })
  return Math.max(at, 0)
}

function bestOf(tier: readonly SpokenOffer[], session: Session): number {
  let best = 0
  let most = -1
  for (const [at, { offer }] of tier.entries()) {
    const score = scoreOf(session, offer.channel.id, offer.channel.weight)
    if (score <= most) continue
    best = at
    most = score
  }
  return best
}

interface ModelName {
  id: string
  /** The name in the client's request. */
  requested: string
  /** Takes precedence over the prices of offers. */
  filePrice: Price | undefined
}

/**
 * Returns the client's protocol if the channel speaks it, otherwise the first of the others that it speaks.
 * If the vendor is known not to serve this model in a protocol, any other protocol is preferred.
 */
function protocolFor(
  offer: Offer,
  protocol: ProtocolName,
  others: readonly ProtocolName[],
  name: ModelName,
): ProtocolName | undefined {
  const { protocols } = offer.channel
  let first: ProtocolName | undefined
  if (protocols[protocol] !== undefined) {
    if (protocol === 'openai-images' || serves(offer, protocol, name)) return protocol
    first = protocol
  }
  for (const other of others) {
    if (other === protocol || protocols[other] === undefined) continue
    if (serves(offer, other, name)) return other
    first ??= other
  }
  return first
}

/** Returns false only if the vendor is known not to serve the model in this protocol. */
function serves({ traits, upstreamModel }: Offer, protocol: ProtocolName, { id }: ModelName): boolean {
  const { protocols } = traits.of(protocol, upstreamModel === '*' ? id : upstreamModel)
  return protocols === undefined || protocols.includes(protocol)
}

function candidateOf(
  { offer, protocol, native }: SpokenOffer,
  { id, requested, filePrice }: ModelName,
  reason: string,
): Candidate {
  const passesName = offer.upstreamModel === '*'
  const upstreamModel = passesName ? id : offer.upstreamModel
  return {
    channel: offer.channel,
    protocol,
    native,
    baseUrl: offer.channel.protocols[protocol] ?? '',
    upstreamModel,
    traits: offer.traits.of(protocol, upstreamModel),
    price: filePrice ?? offer.libraryPrices?.of(upstreamModel),
    libraryPrices: offer.libraryPrices,
    modelNamedBy: passesName && id === requested ? 'client' : 'operator',
    reason,
  }
}

function noChannel(model: string): GatewayError {
  return gatewayError('model_without_channel', { model }, { field: 'model' })
}

/** Whether a blocked channel would serve the model in one of these protocols. */
function isBlocked(model: Model, group: Group, protocols: readonly ProtocolName[]): boolean {
  return blockedFor(model, group).some((channel) =>
    protocols.some((one) => channel.protocols[one] !== undefined),
  )
}

/** The error if only blocked channels could serve the request. */
export function allBlocked(model: string): GatewayError {
  return gatewayError('channels_blocked', { model }, { field: 'model' })
}

function notSpoken(model: string, offers: readonly Offer[]): GatewayError {
  const spoken = [...new Set(offers.flatMap((offer) => Object.keys(offer.channel.protocols)))].sort()
  return gatewayError('endpoint_not_spoken', { model, spoken: spoken.join(', ') }, { field: 'model' })
}
