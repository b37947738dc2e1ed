import type { Json } from './json.ts'
import type { Usage } from './usage.ts'

/** A request for images in no vendor's format. Undefined: the client did not say. */
export interface ImageRequest {
  prompt: string
  /** 1 to 10. */
  count: number
  /** `1024x1024`, or `auto`. */
  size: string | undefined
  quality: string | undefined
  style: string | undefined
  background: string | undefined
  outputFormat: string | undefined
  /** Percent, 0 to 100. */
  outputCompression: number | undefined
  moderation: string | undefined
  user: string | undefined
  safetyIdentifier: string | undefined
  /** How the client wants to get the images; undefined: as the model gives them by default. */
  delivery: 'url' | 'b64_json' | undefined
  stream: boolean
  /** Previews of each image while the upstream makes it, 0 to 3; only with `stream`. */
  partialImages: number
  /**
   * The client's whole body, for upstreams that speak its format. It has the members that we do not know,
   * too.
   */
  body: Json
}

/** The values that a model accepts in image requests. Without a list, it accepts all values of the format. */
export interface ImageTraits {
  sizes?: readonly string[]
  qualities?: readonly string[]
  styles?: readonly string[]
  backgrounds?: readonly string[]
  outputFormats?: readonly string[]
  /** Most images in one request. */
  imagesMax?: number
  partialImagesMax?: number
  promptCharactersMax?: number
}

/** Where an upstream's answer has the bytes of an image. */
export type ImageSource =
  /**
   * The number of an image that protocols/base64-extractor.ts took out of the answer. Decoders see a
   * placeholder and return it as `base64`; the reader of the answer turns the placeholder into the number.
   */
  | { kind: 'extracted'; index: number }
  /** An image small enough to stay in the answer, or a placeholder. Without the head of a `data:` URL. */
  | { kind: 'base64'; data: string }
  /** The gateway has to fetch it. */
  | { kind: 'url'; url: string }

/** One finished image of an answer. */
export interface MadeImage {
  source: ImageSource
  /** The prompt as the upstream rewrote it. */
  revisedPrompt: string | undefined
}

/** An upstream's whole answer. Undefined: the upstream did not say. */
export interface ImageAnswer {
  images: MadeImage[]
  usage: Usage | undefined
  size: string | undefined
  quality: string | undefined
  background: string | undefined
  outputFormat: string | undefined
  servedModel: string | undefined
}

/** An event of an upstream's stream. `completed` comes at most once for each image of the request. */
export type ImageEvent =
  | { type: 'partial'; source: ImageSource; index: number }
  | { type: 'completed'; answer: ImageAnswer }
