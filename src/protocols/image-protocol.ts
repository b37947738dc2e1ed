import type { TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Headers } from '../canonical/headers.ts'
import type { ImageAnswer, ImageEvent, ImageRequest, ImageTraits } from '../canonical/image.ts'
import type { Json } from '../canonical/json.ts'
import type { JsonBounds } from './json-scan.ts'
import type { ProtocolName, RenderedError } from './protocol.ts'

/**
 * How the gateway asks an upstream for images. Pure. Decoders see answers whose images were already
 * extracted.
 */
export interface ImageSide {
  name: ProtocolName
  /** Path below the channel's base URL. */
  path: string
  authHeaders(secret: string): Record<string, string>
  /** Most images in one upstream call; more images need more calls. Undefined: no bound. */
  imagesPerCall: number | undefined
  /**
   * The request in this format, for `context.count` of its images. A note reports each member that the format
   * lacks. Throws GatewayError `unsupported_parameter` with the client's member if the image would not be
   * what the client asked for.
   */
  encodeRequest(request: ImageRequest, context: ImageContext): { body: Json; notes: TranslationNote[] }
  /**
   * Throws GatewayError `upstream_error` if the body is no answer, `content_filtered` if the model refused.
   */
  decodeAnswer(body: Json): ImageAnswer
  /** A decoder for one stream. Absent: answers always come whole, even if `context.stream` is true. */
  decodeStream?(): ImageStreamDecoder
  decodeError(status: number, headers: Headers, body: Buffer): GatewayError
}

export interface ImageStreamDecoder {
  /**
   * Decode the `data` of one server-sent event; never called with `[DONE]`. Returns [] for events other than
   * previews and the end. Throws as `decodeAnswer` does.
   */
  push(data: Json): ImageEvent[]
  /**
   * The upstream ended the stream. Returns an image that it made without an event of completion; [] if there
   * is none.
   */
  end(): ImageEvent[]
}

export interface ImageContext {
  /** The upstream's name of the model. */
  upstreamModel: string
  /** Images of this call, 1 to `imagesPerCall`. */
  count: number
  /** Whether the gateway asks for a stream with previews. */
  stream: boolean
}

/** How our clients ask for images. */
export interface ImageClient {
  /**
   * Read the request and check types and ranges. `checkTraits` checks the values that differ between models.
   * Throws GatewayError `invalid_request` with the field, or `body` for broken JSON.
   */
  readRequest(raw: Buffer, bounds: JsonBounds): ImageRequest & { model: string }
  /**
   * Check the request against a model's traits. Where the traits say nothing, the values of OpenAI's models
   * count. Throws GatewayError `invalid_request` that names the field, the given value and the allowed ones.
   */
  checkTraits(request: ImageRequest, traits: ImageTraits | undefined, model: string): void
  /** A whole answer. */
  answerPieces(result: ImagesResult): ImagePiece[]
  /** Server-sent events. The last `completed` is the end of a stream. */
  partialEventPieces(preview: PreviewEvent): ImagePiece[]
  completedEventPieces(image: ImageOfResult, settings: ImageSettings): ImagePiece[]
  encodeError(error: GatewayError, requestId: string): RenderedError
  encodeStreamError(error: GatewayError, requestId: string): Buffer
}

/** JSON text, or the number of an image whose base64 goes there, without quotes. */
export type ImagePiece = string | { image: number }

/** The facts of an answer about its images. It omits undefined values. */
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
  /** A link; undefined: the answer has the image itself. */
  url?: string | undefined
  revisedPrompt?: string | undefined
}

export interface PreviewEvent extends ImageSettings {
  /** The number of the preview, from 0. */
  index: number
}
