import { decodeImageError } from '../image-failures.ts'
import type { ImageClient, ImageSide } from '../image-protocol.ts'
import { encodeError } from '../openai-errors.ts'
import { decodeAnswer, decodeStream } from './decode-answer.ts'
import { answerPieces, completedEventPieces, encodeStreamError, partialEventPieces } from './encode-answer.ts'
import { encodeRequest } from './encode-request.ts'
import { checkTraits, readImageRequest } from './request.ts'

/**
 * Images: `POST /v1/images/generations`.
 *
 * https://platform.openai.com/docs/api-reference/images/create, read 2026-11-21
 */
export const openaiImages: ImageSide = {
  name: 'openai-images',
  path: '/images/generations',
  imagesPerCall: undefined,
  encodeRequest,
  decodeAnswer,
  decodeStream,
  decodeError: decodeImageError,
}

export const openaiImagesClient: ImageClient = {
  readRequest: readImageRequest,
  checkTraits,
  answerPieces,
  partialEventPieces,
  completedEventPieces,
  encodeError,
  encodeStreamError,
}
