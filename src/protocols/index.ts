import { openaiChat } from './openai-chat/index.ts'
import type { ClientSide, Protocol, ProtocolName, UpstreamSide } from './protocol.ts'

/** The protocols that this version speaks. A name without an entry is known to the catalog but not spoken yet. */
export const protocols: Readonly<Partial<Record<ProtocolName, Protocol>>> = {
  'openai-chat': openaiChat,
}

/** How clients speak the protocol of a public endpoint. Throws for a protocol that has no client side here. */
export function clientSide(name: ProtocolName): ClientSide {
  const side = protocols[name]?.client
  if (side === undefined) throw new Error(`no client side for protocol ${name}`)
  return side
}

/** How upstreams speak the protocol of a target. Throws for a protocol that has no upstream side here. */
export function upstreamSide(name: ProtocolName): UpstreamSide {
  const side = protocols[name]?.upstream
  if (side === undefined) throw new Error(`no upstream side for protocol ${name}`)
  return side
}
