import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { Traits } from '../canonical/traits.ts'
import { modelIdOf } from '../catalog/catalog.ts'
import type { Channel, Group, LibraryPrices, Model, Offer, Price } from '../catalog/snapshot.ts'
import type { ProtocolName } from '../protocols/protocol.ts'
import type { Credential } from './credentials.ts'
import { type Session, scoreOf } from './session.ts'
import type { ModelNamedBy } from './verdict.ts'

/** Where an attempt goes: a candidate, and the credential to use. */
export interface Target extends Candidate {
  credential: Credential
}

/** A channel that may serve a request, in one protocol. */
export interface Candidate {
  channel: Channel
  protocol: ProtocolName
  /** True when the client speaks this protocol too: its bytes pass unchanged. */
  native: boolean
  /** From the channel's configuration, without a trailing slash. */
  baseUrl: string
  upstreamModel: string
  /** Of its offer, in this protocol. */
  traits: Traits
  /** What an answer is paid by; absent: not known. */
  price?: Price | undefined
  libraryPrices?: LibraryPrices | undefined
  /** `client`: we pass the client's name of the model through, so a wrong name is the client's mistake. */
  modelNamedBy: ModelNamedBy
  /** Why it has its place in the order, for the attempts table. */
  reason: string
  /** Name of the only credential that may be used; absent: any. */
  pinned?: string | undefined
}

/**
 * Protocols whose answers we can translate. A protocol that carries more of a chat comes earlier: reasoning
 * that a client can send back, tool calls with ids, errors inside a stream.
 */
export const translatable: readonly ProtocolName[] = [
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'openai-chat',
]

/** Protocols other than the client's own in which we can ask a channel for images, best first. */
export const imageProtocols: readonly ProtocolName[] = ['openai-responses', 'openai-chat']

/**
 * All candidates for an image request, in the order of planRoute. We ask a chat model for images only where
 * the catalog says that it makes them.
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
 * All candidates for a request, in the order of attempts: by priority; within a priority those that speak the
 * client's protocol first; then by weight, from the session's score, or by chance for a request without a
 * session. Throws `model_not_found` or `endpoint_not_supported` when there is none. `others`: protocols that
 * may replace the client's, best first. It calls `sessionOf` only where there is a choice.
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
  if (usable.length === 0) throw noChannel(requestedModel)
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
  if (spoken.length === 0) throw notSpoken(requestedModel, usable)
  const only = spoken[0]
  if (spoken.length === 1 && only !== undefined) return [candidateOf(only, name, 'only candidate')]
  return inOrder(spoken, chance, sessionOf()).map(({ spoken, reason }) => candidateOf(spoken, name, reason))
}

function noSession(): undefined {}

/** An offer, and the protocol in which its channel is asked. */
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

/** All weights may be zero: then the order of the catalog decides. */
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
  /** The name that the client wrote. */
  requested: string
  /** It has precedence over prices of offers. */
  filePrice: Price | undefined
}

/**
 * The client's protocol if the channel speaks it, otherwise the first of the others that it speaks. A channel
 * may speak a protocol in which its vendor does not serve this model: any other is better.
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

/** False only where it is known that the vendor does not. */
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

function notSpoken(model: string, offers: readonly Offer[]): GatewayError {
  const spoken = [...new Set(offers.flatMap((offer) => Object.keys(offer.channel.protocols)))].sort()
  return gatewayError('endpoint_not_spoken', { model, spoken: spoken.join(', ') }, { field: 'model' })
}
