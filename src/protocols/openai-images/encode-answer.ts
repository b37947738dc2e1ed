import type { GatewayError } from '../../canonical/error.ts'
import type {
  ImageOfResult,
  ImagePiece,
  ImageSettings,
  ImagesResult,
  PreviewEvent,
} from '../image-protocol.ts'
import { errorBody } from '../openai-errors.ts'

/**
 * Implements `ImageClient#answerPieces`. The caller sends the base64 between the pieces, so it never has to
 * be held in memory.
 */
export function answerPieces(result: ImagesResult): ImagePiece[] {
  const pieces: ImagePiece[] = [`{"created":${result.created},"data":[`]
  result.images.forEach((image, index) => {
    pieces.push(index === 0 ? '{' : ',{', ...imagePieces(image, index), '}')
  })
  pieces.push(`]${members({ ...settings(result), usage: usage(result) })}}`)
  return joined(pieces)
}

/** Implements `ImageClient#partialEventPieces`. The image has number 0. */
export function partialEventPieces(preview: PreviewEvent): ImagePiece[] {
  return eventPieces('image_generation.partial_image', imagePieces({}, 0), {
    created_at: preview.created,
    ...eventSettings(preview),
    partial_image_index: preview.index,
  })
}

/** Implements `ImageClient#completedEventPieces`. The image has number 0. */
export function completedEventPieces(image: ImageOfResult, of: ImageSettings): ImagePiece[] {
  return eventPieces('image_generation.completed', imagePieces(image, 0), {
    created_at: of.created,
    ...eventSettings(of),
    usage: usage(of),
  })
}

/** Implements `ImageClient#encodeStreamError`. Ends the stream. */
export function encodeStreamError(error: GatewayError, requestId: string): Buffer {
  const data = { type: 'error', ...errorBody(error, requestId), request_id: requestId }
  return Buffer.from(`event: error\ndata: ${JSON.stringify(data)}\n\n`)
}

function eventPieces(type: string, image: ImagePiece[], rest: Record<string, unknown>): ImagePiece[] {
  return joined([`event: ${type}\ndata: {"type":${JSON.stringify(type)},`, ...image, `${members(rest)}}\n\n`])
}

function imagePieces({ url, revisedPrompt }: ImageOfResult, image: number): ImagePiece[] {
  const rest = members({ revised_prompt: revisedPrompt })
  return url === undefined ? ['"b64_json":"', { image }, `"${rest}`] : [`"url":${JSON.stringify(url)}${rest}`]
}

function settings({ background, outputFormat, quality, size }: ImageSettings) {
  return { background, output_format: outputFormat, quality, size }
}

/** Events always contain all settings, with `auto` for unknown values. */
function eventSettings(of: ImageSettings) {
  return {
    size: of.size ?? 'auto',
    quality: of.quality ?? 'auto',
    background: of.background ?? 'auto',
    output_format: of.outputFormat,
  }
}

/** The input of an image generation is only text. */
function usage({ usage: counts }: ImageSettings) {
  return counts === undefined
    ? undefined
    : {
        input_tokens: counts.inputTokens,
        input_tokens_details: { text_tokens: counts.inputTokens, image_tokens: 0 },
        output_tokens: counts.outputTokens,
        total_tokens: counts.inputTokens + counts.outputTokens,
      }
}

/** Returns `,"name":value` for each known value. */
function members(values: Record<string, unknown>): string {
  const text = JSON.stringify(values).slice(1, -1)
  return text === '' ? '' : `,${text}`
}

/** Joins adjacent texts. */
function joined(pieces: readonly ImagePiece[]): ImagePiece[] {
  const whole: ImagePiece[] = []
  for (const piece of pieces) {
    const last = whole.at(-1)
    if (typeof piece === 'string' && typeof last === 'string') whole[whole.length - 1] = last + piece
    else whole.push(piece)
  }
  return whole
}
