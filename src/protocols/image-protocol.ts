import type { TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Headers } from '../canonical/headers.ts'
import type { ImageAnswer, ImageEvent, ImageRequest, ImageTraits } from '../canonical/image.ts'
import type { Json } from '../canonical/json.ts'
import type { JsonBounds } from './json-scan.ts'
import type { ProtocolName, RenderedError } from './protocol.ts'

/** How an upstream that makes images is asked. Pure; large values are extracted from what it answers. */
export interface ImageSide {
  name: ProtocolName
  /** Path below the channel's base URL. */
  path: string
  authHeaders(secret: string): Record<string, string>
  /** Most images that one call makes: more are more calls. Undefined: as many as the client may ask for. */
  imagesPerCall: number | undefined
  /**
   * The request in this format, for `count` of its images. What it cannot say is noted as dropped; what would change
   * the meaning is refused with GatewayError `unsupported_parameter` naming the client's member.
   */
  encodeRequest(request: ImageRequest, context: ImageContext): { body: Json; notes: TranslationNote[] }
  /** Throws GatewayError `upstream_error` for what is no answer, `content_filtered` for a refusal to make it. */
  decodeAnswer(body: Json): ImageAnswer
  /** One for each stream. Absent: an answer always comes whole, whatever `context.stream` says. */
  decodeStream?(): ImageStreamDecoder
  decodeError(status: number, headers: Headers, body: Buffer): GatewayError
}

export interface ImageStreamDecoder {
  /**
   * The `data` of one server-sent event (`[DONE]` is none): previews and the end, [] for all else. Throws as
   * `decodeAnswer` does.
   */
  push(data: Json): ImageEvent[]
  /** The upstream ended the stream: what it made and did not complete. [] does not mean that anything was made. */
  end(): ImageEvent[]
}

export interface ImageContext {
  /** The upstream's name of the model. */
  upstreamModel: string
  /** Images of this call, 1 to `imagesPerCall`. */
  count: number
  /** Whether the answer is wanted as a stream, with previews. */
  stream: boolean
}

/** How our clients ask for images. */
export interface ImageClient {
  /**
   * The request, each member of a documented type and range; words that models differ in are `checkTraits`'.
   * Throws GatewayError `invalid_request` naming the field, or `body` for broken JSON.
   */
  readRequest(raw: Buffer, bounds: JsonBounds): ImageRequest & { model: string }
  /**
   * Whether the model takes it. What the traits leave open is what the format knows, of OpenAI's own models.
   * Throws GatewayError `invalid_request` that names the field, what was given, and what the model takes.
   */
  checkTraits(request: ImageRequest, traits: ImageTraits | undefined, model: string): void
  /** A whole answer. */
  answerPieces(result: ImagesResult): ImagePiece[]
  /** Server-sent events; a stream has no other end than the last `completed`. */
  partialEventPieces(preview: PreviewEvent): ImagePiece[]
  completedEventPieces(image: ImageOfResult, settings: ImageSettings): ImagePiece[]
  encodeError(error: GatewayError, requestId: string): RenderedError
  encodeStreamError(error: GatewayError, requestId: string): Buffer
}

/** JSON text, or the place where the base64 of an image's bytes goes in: text without quotes around it. */
export type ImagePiece = string | { image: number }

/** What is told of images. Undefined is left out of an answer. */
export interface ImageSettings {
  /** Seconds since the epoch. */
  created: number
  size?: string | undefined
  quality?: string | undefined
  background?: string | undefined
  outputFormat?: string | undefined
  usage?: { inputTokens: number; outputTokens: number } | undefined
}

export interface ImagesResult extends ImageSettings {
  images: readonly ImageOfResult[]
}

export interface ImageOfResult {
  /** A link; undefined: the image itself goes in. */
  url?: string | undefined
  revisedPrompt?: string | undefined
}

export interface PreviewEvent extends ImageSettings {
  /** Which of the previews it is, from 0. */
  index: number
}
