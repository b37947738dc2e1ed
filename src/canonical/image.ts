import type { Json } from './json.ts'
import type { Usage } from './usage.ts'

/** A wish for images, whatever format it came in. Undefined: the client did not say. */
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
  /** How the client wants to get them; undefined: as the model has always given them. */
  delivery: 'url' | 'b64_json' | undefined
  stream: boolean
  /** Previews of each image while it is made, 0 to 3; only with `stream`. */
  partialImages: number
  /** The client's whole body, for upstreams that speak its format: every member that we do not know is in it. */
  body: Json
}

/** What a model takes of image requests. Absent lists take whatever the format knows. */
export interface ImageTraits {
  sizes?: readonly string[]
  qualities?: readonly string[]
  styles?: readonly string[]
  backgrounds?: readonly string[]
  outputFormats?: readonly string[]
  /** Images of one request. */
  imagesMax?: number
  partialImagesMax?: number
  promptCharactersMax?: number
}

/** Where the bytes of an image are, in an answer of an upstream. */
export type ImageSource =
  /**
   * In a value that was taken out of the answer while it came (protocols/base64-extractor.ts): its number. Decoders see a placeholder
   * and give it as base64; who read the answer knows its number.
   */
  | { kind: 'extracted'; index: number }
  /** Small enough to have stayed, or a placeholder. Without the head of a `data:` URL. */
  | { kind: 'base64'; data: string }
  /** To be fetched. */
  | { kind: 'url'; url: string }

/** One finished image of an answer. */
export interface MadeImage {
  source: ImageSource
  /** What the upstream made of the prompt. */
  revisedPrompt: string | undefined
}

/** An upstream's whole answer. What is undefined was not told. */
export interface ImageAnswer {
  images: MadeImage[]
  usage: Usage | undefined
  size: string | undefined
  quality: string | undefined
  background: string | undefined
  outputFormat: string | undefined
  servedModel: string | undefined
}

/** What an upstream's stream tells, event by event; `completed` comes at most once for each image it is asked for. */
export type ImageEvent =
  | { type: 'partial'; source: ImageSource; index: number }
  | { type: 'completed'; answer: ImageAnswer }
