import type { TranslationNote } from '../../canonical/chat.ts'
import type { ImageAnswer, ImageEvent, ImageRequest } from '../../canonical/image.ts'
import { isRecord, type Json, recordsOf, textOf } from '../../canonical/json.ts'
import { addUsage, type Usage } from '../../canonical/usage.ts'
import { imageSource } from '../base64-extractor.ts'
import { decodeImageError, decodeImageFailure, notMade } from '../image-failures.ts'
import { dropped, type Fates, noteMembers, ownDelivery, said, severalCalls } from '../image-notes.ts'
import type { ImageContext, ImageSide, ImageStreamDecoder } from '../image-protocol.ts'
import { given, readUsage } from './wire.ts'

/**
 * Models of `POST /v1/responses` that generate images with the vendor's image tool.
 *
 * https://platform.openai.com/docs/guides/tools-image-generation, read 2026-11-21
 */
export const openaiResponsesImages: ImageSide = {
  name: 'openai-responses',
  path: '/responses',
  imagesPerCall: 1,
  encodeRequest,
  decodeAnswer,
  decodeStream: () => new ResponseStream(),
  decodeError: decodeImageError,
}

function encodeRequest(
  request: ImageRequest,
  { upstreamModel, stream }: ImageContext,
): { body: Json; notes: TranslationNote[] } {
  const notes = noteMembers(request.body, fates(stream))
  const tool: Json = {
    type: 'image_generation',
    ...given('size', request.size),
    ...given('quality', isLegacyQuality(request.quality) ? undefined : request.quality),
    ...given('background', request.background),
    ...given('output_format', request.outputFormat),
    ...given('output_compression', request.outputCompression),
    ...given('moderation', request.moderation),
    ...given('partial_images', stream && request.partialImages > 0 ? request.partialImages : undefined),
  }
  for (const name of sharedMembers) Object.assign(tool, given(name, request.body[name] ?? undefined))
  const body: Json = {
    model: upstreamModel,
    input: request.prompt,
    tools: [tool],
    tool_choice: { type: 'image_generation' },
    store: false,
    ...(stream ? { stream: true } : {}),
    ...given('user', request.user),
    ...given('safety_identifier', request.safetyIdentifier),
  }
  return { body, notes }
}

/** Members that the image tool supports under the same name. */
const sharedMembers = ['complexity', 'frame_count', 'frame_duration_ms', 'svg'] as const

function fates(stream: boolean): Fates {
  return {
    ...Object.fromEntries(
      [
        'model',
        'prompt',
        'size',
        'background',
        'output_format',
        'output_compression',
        'moderation',
        'user',
        'safety_identifier',
        ...sharedMembers,
      ].map((name) => [name, said]),
    ),
    n: severalCalls,
    quality: (value) =>
      isLegacyQuality(value)
        ? dropped('the image tool supports only the qualities low, medium and high')
        : said,
    style: dropped('the image tool has no style setting: describe the style in the prompt'),
    response_format: ownDelivery,
    stream: (value) =>
      stream || value === false
        ? said
        : { action: 'emulated', reason: 'the gateway creates the stream from a complete answer' },
    partial_images: (value) =>
      stream || value === 0
        ? said
        : dropped('the gateway does not request a stream from this channel, so there are no previews'),
  }
}

/** Qualities of the discontinued DALL-E models. */
function isLegacyQuality(quality: unknown): boolean {
  return quality === 'standard' || quality === 'hd'
}

function decodeAnswer(body: Json): ImageAnswer {
  if (isRecord(body.error)) throw decodeImageFailure(body.error)
  const output = recordsOf(body.output)
  const calls = output.filter(({ type }) => type === 'image_generation_call')
  const made = calls.filter(({ result }) => textOf(result) !== undefined)
  const [first] = made
  if (first === undefined) {
    const failed = calls.find(({ error }) => isRecord(error))
    if (failed !== undefined) throw decodeImageFailure(failed.error)
    const isFiltered =
      isRecord(body.incomplete_details) && body.incomplete_details.reason === 'content_filter'
    throw notMade(wordsOf(output), isFiltered)
  }
  return {
    images: made.map((call) => ({
      source: imageSource(String(call.result)),
      revisedPrompt: textOf(call.revised_prompt),
    })),
    usage: usageOf(body),
    size: textOf(first.size),
    quality: textOf(first.quality),
    background: textOf(first.background),
    outputFormat: textOf(first.output_format),
    servedModel: textOf(body.model),
  }
}

/**
 * The vendor bills the model that writes the call separately from the model that draws. The usage is the sum
 * of both.
 */
function usageOf(body: Json): Usage | undefined {
  const model = readUsage(body.usage)
  const tool = isRecord(body.tool_usage) ? body.tool_usage.image_gen : undefined
  const drawn = isRecord(tool) ? readUsage(tool) : undefined
  return model && drawn ? addUsage(model, drawn) : (model ?? drawn)
}

/** The model's text if it did not generate an image. */
function wordsOf(output: readonly Json[]): string | undefined {
  const parts = output.flatMap(({ content }) => recordsOf(content))
  return textOf(parts.map((part) => textOf(part.refusal) ?? textOf(part.text) ?? '').join(''))
}

/**
 * The image arrives complete with its item. The last event repeats it or, on some upstreams, has no output.
 * The item takes precedence.
 */
class ResponseStream implements ImageStreamDecoder {
  readonly #items: Json[] = []
  #isOver = false

  push(data: Json): ImageEvent[] {
    if (this.#isOver) return []
    switch (data.type) {
      case 'response.image_generation_call.partial_image': {
        const image = textOf(data.partial_image_b64)
        const index = typeof data.partial_image_index === 'number' ? data.partial_image_index : 0
        return image === undefined ? [] : [{ type: 'partial', source: imageSource(image), index }]
      }
      case 'response.output_item.done':
        if (isRecord(data.item)) this.#items.push(data.item)
        return []
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return this.#complete(isRecord(data.response) ? data.response : {})
      case 'error':
        throw decodeImageFailure(isRecord(data.error) ? data.error : data)
      default:
        if (isRecord(data.error)) throw decodeImageFailure(data.error)
        return []
    }
  }

  end(): ImageEvent[] {
    const hasImage = this.#items.some(
      ({ type, result }) => type === 'image_generation_call' && textOf(result) !== undefined,
    )
    return this.#isOver || !hasImage ? [] : this.#complete({})
  }

  #complete(response: Json): ImageEvent[] {
    this.#isOver = true
    const output = this.#items.length > 0 ? this.#items : response.output
    return [{ type: 'completed', answer: decodeAnswer({ ...response, output }) }]
  }
}
