import type { Json } from './json.ts'
import type { Usage } from './usage.ts'

/** A request for images in a vendor-neutral format. Undefined members were not specified by the client. */
export interface ImageRequest {
  prompt: string
  /** 1 to 10. */
  count: number
  /** Such as `1024x1024`, or `auto`. */
  size: string | undefined
  quality: string | undefined
  style: string | undefined
  background: string | undefined
  outputFormat: string | undefined
  /** A percentage, 0 to 100. */
  outputCompression: number | undefined
  moderation: string | undefined
  user: string | undefined
  safetyIdentifier: string | undefined
  /** How the client wants to receive the images; undefined: the model's default. */
  delivery: 'url' | 'b64_json' | undefined
  stream: boolean
  /** The number of previews that the upstream sends for each image, 0 to 3; only with `stream`. */
  partialImages: number
  /**
   * The client's whole body, including members that we do not know, for upstreams that use the same format.
   */
  body: Json
}

/**
 * The values that a model accepts in image requests. If a list is absent, all values of the format are
 * accepted.
 */
export interface ImageTraits {
  sizes?: readonly string[]
  qualities?: readonly string[]
  styles?: readonly string[]
  backgrounds?: readonly string[]
  outputFormats?: readonly string[]
  /** The maximum number of images per request. */
  imagesMax?: number
  partialImagesMax?: number
  promptCharactersMax?: number
}

/** Where the bytes of an image are in an upstream's answer. */
export type ImageSource =
  /**
   * The number of an image that protocols/base64-extractor.ts took out of the answer. Decoders see a
   * placeholder and return it as `base64`; the answer's reader replaces the placeholder with the number.
   */
  | { kind: 'extracted'; index: number }
  /**
   * An image small enough to stay in the answer, or a placeholder. The prefix of a `data:` URL is removed.
   */
  | { kind: 'base64'; data: string }
  /** The gateway has to download the image. */
  | { kind: 'url'; url: string }

/** One finished image of an answer. */
export interface MadeImage {
  source: ImageSource
  /** The prompt as the upstream rewrote it. */
  revisedPrompt: string | undefined
}

/** A complete answer of an upstream. Undefined members were not reported. */
export interface ImageAnswer {
  images: MadeImage[]
  usage: Usage | undefined
  size: string | undefined
  quality: string | undefined
  background: string | undefined
  outputFormat: string | undefined
  servedModel: string | undefined
}

/** An event in an upstream's stream. `completed` occurs at most once per requested image. */
export type ImageEvent =
  | { type: 'partial'; source: ImageSource; index: number }
  | { type: 'completed'; answer: ImageAnswer }
