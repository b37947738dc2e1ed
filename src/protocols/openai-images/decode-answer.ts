import type { ImageAnswer, ImageEvent, MadeImage } from '../../canonical/image.ts'
import { countOf, isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import type { Usage } from '../../canonical/usage.ts'
import { imageSource } from '../base64-extractor.ts'
import { decodeImageFailure, notMade } from '../image-failures.ts'
import type { ImageStreamDecoder } from '../image-protocol.ts'

/** Implements `ImageSide#decodeAnswer`. */
export function decodeAnswer(body: Json): ImageAnswer {
  if (isRecord(body.error)) throw decodeImageFailure(body.error)
  const items = recordsOf(body.data)
  const images = items.flatMap((item) => imageOf(item) ?? [])
  if (images.length === 0) {
    // xAI returns 200 for content blocked by its moderation: https://docs.x.ai/docs/guides/image-generations
    throw notMade(
      undefined,
      items.some((item) => item.respect_moderation === false),
    )
  }
  return { images, ...settingsOf(body) }
}

/** Implements `ImageSide#decodeStream`, with one `completed` event per image. */
export function decodeStream(): ImageStreamDecoder {
  return { push: decodeEvent, end: () => [] }
}

function decodeEvent(data: Json): ImageEvent[] {
  if (isRecord(data.error)) throw decodeImageFailure(data.error)
  switch (data.type) {
    case 'image_generation.partial_image': {
      const image = textOf(data.b64_json)
      if (image === undefined) return []
      return [{ type: 'partial', source: imageSource(image), index: countOf(data.partial_image_index) ?? 0 }]
    }
    case 'image_generation.completed': {
      const image = imageOf(data)
      if (image === undefined) throw notMade(undefined, false)
      return [{ type: 'completed', answer: { images: [image], ...settingsOf(data) } }]
    }
    case 'error':
      throw decodeImageFailure(data)
    default:
      return []
  }
}

function imageOf(item: Json): MadeImage | undefined {
  const value = textOf(item.b64_json) ?? textOf(item.url)
  return value === undefined
    ? undefined
    : { source: imageSource(value), revisedPrompt: textOf(item.revised_prompt) }
}

function settingsOf(answer: Json): Omit<ImageAnswer, 'images'> {
  return {
    usage: readUsage(answer.usage),
    size: textOf(answer.size),
    quality: textOf(answer.quality),
    background: textOf(answer.background),
    outputFormat: textOf(answer.output_format),
    servedModel: textOf(answer.model),
  }
}

/** Undefined for an object without counts or with only zeros, because a prompt has at least one token. */
function readUsage(value: unknown): Usage | undefined {
  if (!isRecord(value)) return undefined
  const input = countOf(value.input_tokens) ?? 0
  const output = countOf(value.output_tokens) ?? 0
  return input + output === 0 ? undefined : { input, cacheRead: 0, cacheWrite: 0, output, reasoning: 0 }
}
