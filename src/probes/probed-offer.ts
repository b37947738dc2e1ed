import type { FormatId } from 'tollgate-verify/format.ts'
import { invalid } from '../canonical/field-error.ts'
import { findModel } from '../catalog/catalog.ts'
import type { Channel, Model, Offer, Snapshot } from '../catalog/snapshot.ts'
import type { ProtocolName } from '../protocols/protocol.ts'

/**
 * The format in which a probe calls a channel of each protocol. Gemini has no client side here, so its
 * answers are translated.
 */
const formatsOf: Readonly<Partial<Record<ProtocolName, FormatId>>> = {
  'openai-chat': 'chat',
  'openai-responses': 'responses',
  'anthropic-messages': 'messages',
  gemini: 'chat',
}

/** One offer in one protocol, as a probe calls it. */
export interface ProbedOffer {
  channel: Channel
  model: Model
  /** The name by which clients request the model. */
  name: string
  offer: Offer
  /** Never `*`. */
  upstreamModel: string
  protocol: ProtocolName
  format: FormatId
}

/** The protocols of a channel in which a model can be probed. */
export function probedProtocols(channel: Channel): ProtocolName[] {
  return Object.keys(formatsOf).flatMap((name) => {
    const protocol = protocolOf(name)
    return protocol !== undefined && channel.protocols[protocol] !== undefined ? [protocol] : []
  })
}

function protocolOf(name: string): ProtocolName | undefined {
  switch (name) {
    case 'openai-chat':
    case 'openai-responses':
    case 'anthropic-messages':
    case 'gemini':
      return name
    default:
      return undefined
  }
}

/** Throws a GatewayError `invalid_request` that says what is available instead. */
export function findProbedOffer(
  snapshot: Snapshot,
  wanted: { channel: string; model: string; protocol: string },
): ProbedOffer {
  const { channel, model, offer } = findOffer(snapshot, wanted)
  const protocol = probedProtocols(channel).find((name) => name === wanted.protocol)
  const format = protocol && formatsOf[protocol]
  if (protocol === undefined || format === undefined) {
    throw invalid(
      'protocol',
      `cannot probe channel "${channel.name}" in this protocol. The channel speaks ${Object.keys(channel.protocols).join(', ')}`,
    )
  }
  const name = model.id === '*' ? wanted.model : model.id
  const upstreamModel = offer.upstreamModel === '*' ? name : offer.upstreamModel
  return { channel, model, name, offer, upstreamModel, protocol, format }
}

/** Throws a GatewayError `invalid_request`. */
export function findOffer(snapshot: Snapshot, wanted: { channel: string; model: string }) {
  const channel = [...snapshot.channels.values()].find(({ name }) => name === wanted.channel)
  if (channel === undefined)
    throw invalid('channel', 'no enabled channel has this name, or a person has blocked it')
  const model = findModel(snapshot, wanted.model)
  const offer = model?.offers.find((each) => each.channel.id === channel.id)
  if (model === undefined || offer === undefined) {
    throw invalid('model', `channel "${channel.name}" does not offer a model with this name`)
  }
  return { channel, model, offer }
}
