import { anthropicMessages } from './anthropic-messages/index.ts'
import { gemini } from './gemini/index.ts'
import { openaiChat } from './openai-chat/index.ts'
import { openaiResponses } from './openai-responses/index.ts'
import type { ClientSide, Protocol, ProtocolName, UpstreamSide } from './protocol.ts'

/** The protocols that this version speaks. A name without an entry is known to the catalog but not spoken yet. */
export const protocols = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
} as const satisfies Readonly<Partial<Record<ProtocolName, Protocol>>>

const known: Readonly<Partial<Record<ProtocolName, Protocol>>> = protocols

/** How clients speak the protocol of a public endpoint. Throws for a protocol that has no client side here. */
export function clientSide(name: ProtocolName): ClientSide {
  const side = known[name]?.client
  if (side === undefined) throw new Error(`no client side for protocol ${name}`)
  return side
}

/** How upstreams speak the protocol of a target. Throws for a protocol that has no upstream side here. */
export function upstreamSide(name: ProtocolName): UpstreamSide {
  const side = known[name]?.upstream
  if (side === undefined) throw new Error(`no upstream side for protocol ${name}`)
  return side
}
