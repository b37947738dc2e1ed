import type { TranslationNote } from '../canonical/chat.ts'
import type { GatewayError } from '../canonical/error.ts'
import type { Headers } from '../canonical/headers.ts'
import type { ImageAnswer, ImageEvent, ImageRequest, ImageTraits } from '../canonical/image.ts'
import type { Json } from '../canonical/json.ts'
import type { JsonBounds } from './json-scan.ts'
import type { ProtocolName, RenderedError } from './protocol.ts'

/**
 * How the gateway requests images from an upstream. Pure. Decoders receive answers whose images have already
 * been extracted.
 */
export interface ImageSide {
  name: ProtocolName
  /** The path relative to the channel's base URL. */
  path: string
  /** The maximum number of images per upstream call. More images require more calls. Undefined: no limit. */
  imagesPerCall: number | undefined
  /**
   * Encodes the request in this format for `context.count` of its images. Adds a note for each member that
   * the format does not support. Throws GatewayError `unsupported_parameter` with the client's member if the
   * image would not be what the client requested.
   */
  encodeRequest(request: ImageRequest, context: ImageContext): { body: Json; notes: TranslationNote[] }
  /**
   * Throws GatewayError `upstream_error` if the body is not an answer, and `content_filtered` if the model
   * refused.
   */
  decodeAnswer(body: Json): ImageAnswer
  /**
   * Creates a decoder for one stream. Absent: answers are never streamed, even if `context.stream` is true.
   */
  decodeStream?(): ImageStreamDecoder
  decodeError(status: number, headers: Headers, body: Buffer): GatewayError
}

export interface ImageStreamDecoder {
  /**
   * Decodes the `data` of one server-sent event; never called with `[DONE]`. Returns [] for events other than
   * previews and completions. Throws the same errors as `decodeAnswer`.
   */
  push(data: Json): ImageEvent[]
  /**
   * Handles the end of the upstream's stream. Returns an image that was not followed by a completion event,
   * or [] if there is none.
   */
  end(): ImageEvent[]
}

export interface ImageContext {
  /** The upstream's name for the model. */
  upstreamModel: string
  /** The number of images requested in this call, 1 to `imagesPerCall`. */
  count: number
  /** Whether the gateway requests a stream with previews. */
  stream: boolean
}

/** How our clients request images. */
export interface ImageClient {
  /**
   * Reads the request and checks types and ranges. `checkTraits` checks the values that differ between
   * models. Throws GatewayError `invalid_request` with the field, or with `body` for invalid JSON.
   */
  readRequest(raw: Buffer, bounds: JsonBounds): ImageRequest & { model: string }
  /**
   * Checks the request against a model's traits. If a trait is absent, the values of OpenAI's models apply.
   * Throws GatewayError `invalid_request` with the field, the given value and the allowed ones.
   */
  checkTraits(request: ImageRequest, traits: ImageTraits | undefined, model: string): void
  /** Encodes a complete answer. */
  answerPieces(result: ImagesResult): ImagePiece[]
  /** Encodes server-sent events. The last `completed` event ends the stream. */
  partialEventPieces(preview: PreviewEvent): ImagePiece[]
  completedEventPieces(image: ImageOfResult, settings: ImageSettings): ImagePiece[]
  encodeError(error: GatewayError, requestId: string): RenderedError
  encodeStreamError(error: GatewayError, requestId: string): Buffer
}

/** JSON text, or the number of the image whose base64 is inserted there, without quotes. */
export type ImagePiece = string | { image: number }

/** What an answer reports about its images, without undefined values. */
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
  /** A link; undefined if the answer contains the image itself. */
  url?: string | undefined
  revisedPrompt?: string | undefined
}

export interface PreviewEvent extends ImageSettings {
  /** The number of the preview, starting at 0. */
  index: number
}
