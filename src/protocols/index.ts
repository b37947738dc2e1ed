import { anthropicMessages } from './anthropic-messages/index.ts'
import { gemini } from './gemini/index.ts'
import type { ImageClient, ImageSide } from './image-protocol.ts'
import { openaiChatImages } from './openai-chat/images.ts'
import { openaiChat } from './openai-chat/index.ts'
import { plainTexts } from './openai-chat/plain-input.ts'
import { type PlainFormat, plainReader } from './openai-chat/plain-request.ts'
import { speech } from './openai-chat/watch-speech.ts'
import { openaiImages, openaiImagesClient } from './openai-images/index.ts'
import { compacting } from './openai-responses/compaction.ts'
import { openaiResponsesImages } from './openai-responses/images.ts'
import { openaiResponses } from './openai-responses/index.ts'
import type { ClientSide, Protocol, ProtocolName, UpstreamSide } from './protocol.ts'
import type { BackgroundForm, ProtocolState } from './protocol-state.ts'

/** The text protocols that this version supports. */
export const protocols = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
} as const satisfies Readonly<Partial<Record<ProtocolName, Protocol>>>

const known: Readonly<Partial<Record<ProtocolName, Protocol>>> = protocols

/** The client side of a protocol, for public endpoints. Throws for a protocol without one. */
export function clientSide(name: ProtocolName): ClientSide {
  const side = known[name]?.client
  if (side === undefined) throw new Error(`Protocol ${name} has no client side.`)
  return side
}

/** How clients of a protocol refer to stored answers. Throws for a protocol without state. */
export function stateOf(name: ProtocolName): ProtocolState {
  const { state } = clientSide(name)
  if (state === undefined) throw new Error(`Protocol ${name} has no state.`)
  return state
}

/** Background answers of a protocol. Throws for a protocol without them. */
export function backgroundOf(name: ProtocolName | null): BackgroundForm {
  const background = knownBackgroundOf(name)
  if (background === undefined) throw new Error(`Protocol ${name} has no background answers.`)
  return background
}

/** Like `backgroundOf`; undefined for the format of another release, which is null in the row of a job. */
export function knownBackgroundOf(name: ProtocolName | null): BackgroundForm | undefined {
  return name === null ? undefined : known[name]?.client?.state?.background
}

/**
 * The format that has conversations, which stored conversations do not name because there is only one.
 */
export function conversationState(): ProtocolState &
  Required<Pick<ProtocolState, 'items' | 'conversations'>> {
  for (const { client } of Object.values<Protocol>(protocols)) {
    const { state } = client ?? {}
    const { items, conversations } = state ?? {}
    if (state !== undefined && items !== undefined && conversations !== undefined)
      return { ...state, items, conversations }
  }
  throw new Error('No protocol has conversations.')
}

/** The formats whose answers the gateway can store. */
export function protocolsWithState(): ProtocolName[] {
  return Object.values<Protocol>(protocols)
    .filter(({ client }) => client?.state !== undefined)
    .map(({ name }) => name)
}

/** How clients request the compaction of a conversation. */
export function compactionClient(): ClientSide {
  return compacting(clientSide('openai-responses'))
}

/**
 * The request reader for endpoints that are only passed through. Its errors are those of OpenAI's chat
 * format.
 */
export function plainClient(format: PlainFormat): ClientSide {
  const client = { ...clientSide('openai-chat'), readRequest: plainReader(format), plainInput: plainTexts }
  return format.answers === undefined ? client : { ...client, bytes: speech }
}

/** The upstream side of a protocol, for targets. Throws for a protocol without one. */
export function upstreamSide(name: ProtocolName): UpstreamSide {
  const side = known[name]?.upstream
  if (side === undefined) throw new Error(`Protocol ${name} has no upstream side.`)
  return side
}

export type { PlainFormat } from './openai-chat/plain-request.ts'

const imageSides: Readonly<Partial<Record<ProtocolName, ImageSide>>> = {
  'openai-images': openaiImages,
  'openai-responses': openaiResponsesImages,
  'openai-chat': openaiChatImages,
}

/** How the gateway requests images from upstreams of a protocol; undefined if the protocol has no images. */
export function imageSide(name: ProtocolName): ImageSide | undefined {
  return imageSides[name]
}

/** How clients request images. There is only one format. */
export const imageClient: ImageClient = openaiImagesClient
