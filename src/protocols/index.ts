import { anthropicMessages } from './anthropic-messages/index.ts'
import { gemini } from './gemini/index.ts'
import type { ImageClient, ImageSide } from './image-protocol.ts'
import { openaiChatImages } from './openai-chat/images.ts'
import { openaiChat } from './openai-chat/index.ts'
import { plainTexts } from './openai-chat/plain-input.ts'
import { type PlainFormat, plainReader } from './openai-chat/plain-request.ts'
import { openaiImages, openaiImagesClient } from './openai-images/index.ts'
import * as backgroundAnswers from './openai-responses/background.ts'
import { compacting } from './openai-responses/compaction.ts'
import { openaiResponsesImages } from './openai-responses/images.ts'
import { openaiResponses } from './openai-responses/index.ts'
import { preparedEvents } from './openai-responses/response-object.ts'
import type { ClientSide, Protocol, ProtocolName, UpstreamSide } from './protocol.ts'

/** The text protocols that this version speaks. */
export const protocols = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
} as const satisfies Readonly<Partial<Record<ProtocolName, Protocol>>>

const known: Readonly<Partial<Record<ProtocolName, Protocol>>> = protocols

/**
 * How clients speak the protocol of a public endpoint. Throws for a protocol that has no client side here.
 */
export function clientSide(name: ProtocolName): ClientSide {
  const side = known[name]?.client
  if (side === undefined) throw new Error(`no client side for protocol ${name}`)
  return side
}

/** How clients ask to have a conversation compacted. */
export function compactionClient(): ClientSide {
  return compacting(clientSide('openai-responses'))
}

/**
 * The answer to a request of the Responses format that only prepares the next one. `settings`: its
 * `answerSettings`.
 */
export const preparedAnswer: typeof preparedEvents = preparedEvents

/** Answers of the Responses format that the gateway makes in the background. */
export const background = backgroundAnswers

/** The reader of requests for an endpoint that we only pass on. It has the errors of OpenAI's chat. */
export function plainClient(format: PlainFormat): ClientSide {
  return { ...clientSide('openai-chat'), readRequest: plainReader(format), plainInput: plainTexts }
}

/** How upstreams speak the protocol of a target. Throws for a protocol that has no upstream side here. */
export function upstreamSide(name: ProtocolName): UpstreamSide {
  const side = known[name]?.upstream
  if (side === undefined) throw new Error(`no upstream side for protocol ${name}`)
  return side
}

export type { PlainFormat } from './openai-chat/plain-request.ts'

const imageSides: Readonly<Partial<Record<ProtocolName, ImageSide>>> = {
  'openai-images': openaiImages,
  'openai-responses': openaiResponsesImages,
  'openai-chat': openaiChatImages,
}

/** How the gateway asks upstreams of a protocol for images; undefined for a protocol without images. */
export function imageSide(name: ProtocolName): ImageSide | undefined {
  return imageSides[name]
}

/** How clients ask for images. There is only one format. */
export const imageClient: ImageClient = openaiImagesClient
