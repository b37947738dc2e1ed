import { z } from 'zod'
import { checked, integer, optionalMember } from '../../canonical/checked.ts'
import { invalid, quoted } from '../../canonical/field-error.ts'
import type { ImageRequest, ImageTraits } from '../../canonical/image.ts'
import { isRecord } from '../../canonical/json.ts'
import { type JsonBounds, parseSpan } from '../json-scan.ts'
import { readModel, scanBody } from '../scan-facts.ts'

/**
 * Implements `ImageClient#readRequest`. The scan refuses repeated members, which are no longer visible in a
 * parsed body.
 */
export function readImageRequest(raw: Buffer, bounds: JsonBounds): ImageRequest & { model: string } {
  const model = readModel(raw, scanBody(raw, memberNames, bounds).model)
  const body = parseSpan(raw, { start: 0, end: raw.length }, 'body')
  if (!isRecord(body)) throw invalid('body', 'expected a JSON object')
  const read = checked(imageBody, body)
  const stream = read.stream ?? false
  const partialImages = read.partial_images ?? 0
  if (partialImages > 0 && !stream)
    throw invalid('partial_images', 'previews require a stream: add "stream": true')
  return {
    model,
    prompt: read.prompt,
    count: read.n ?? 1,
    size: read.size,
    quality: read.quality,
    style: read.style,
    background: read.background,
    outputFormat: read.output_format,
    outputCompression: read.output_compression,
    moderation: read.moderation,
    // An empty user counts as absent, according to the vendor's rules.
    user: read.user || undefined,
    safetyIdentifier: read.safety_identifier || undefined,
    delivery: read.response_format,
    stream,
    partialImages,
    body,
  }
}

const text = z.string()

/** https://platform.openai.com/docs/api-reference/images/create and openai 7.55.0's types, read 2026-11-21 */
const imageBody = z.object({
  prompt: z
    .string({
      error: ({ input }) =>
        input === undefined ? 'required: send a text that describes the image' : undefined,
    })
    .refine((prompt) => prompt.trim() !== '', 'expected a text that describes the image, got an empty one'),
  n: optionalMember(integer(1, 10)),
  size: optionalMember(text),
  quality: optionalMember(text),
  style: optionalMember(text),
  background: optionalMember(text),
  output_format: optionalMember(text),
  output_compression: optionalMember(integer(0, 100)),
  response_format: optionalMember(text.pipe(z.enum(['url', 'b64_json']))),
  moderation: optionalMember(text.pipe(z.enum(['auto', 'low']))),
  user: optionalMember(text),
  safety_identifier: optionalMember(text),
  stream: optionalMember(z.boolean()),
  partial_images: optionalMember(integer(0, 3)),
})
const memberNames = ['model', ...Object.keys(imageBody.shape)]

/** Implements `ImageClient#checkTraits`. */
export function checkTraits(request: ImageRequest, traits: ImageTraits | undefined, model: string): void {
  const of = `model ${JSON.stringify(model)}`
  checkSize(request.size, traits?.sizes, of)
  checkWord(request.quality, 'quality', withAuto(traits?.qualities) ?? qualities, of)
  checkWord(request.style, 'style', traits?.styles ?? styles, of)
  checkWord(request.background, 'background', withAuto(traits?.backgrounds) ?? backgrounds, of)
  checkWord(request.outputFormat, 'output_format', traits?.outputFormats ?? outputFormats, of)
  if (request.background === 'transparent' && request.outputFormat === 'jpeg') {
    throw invalid('background', '"transparent" requires the output_format png or webp, not jpeg')
  }
  checkMost(request.count, 'n', traits?.imagesMax, of)
  checkMost(request.partialImages, 'partial_images', traits?.partialImagesMax, of)
  const charactersMax = traits?.promptCharactersMax ?? promptCharactersMax
  // Compares code units first, because their number is known and never less than that of characters.
  if (request.prompt.length > charactersMax) {
    const characters = charactersIn(request.prompt)
    if (characters > charactersMax) {
      throw invalid('prompt', `${of} accepts at most ${charactersMax} characters, got ${characters}`)
    }
  }
}

/** Counts characters without creating a string for each, because a prompt can have millions. */
function charactersIn(text: string): number {
  let characters = text.length
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) characters--
  }
  return characters
}

const qualities = ['auto', 'low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd']
const styles = ['vivid', 'natural']
const backgrounds = ['auto', 'transparent', 'opaque']
const outputFormats = ['png', 'jpeg', 'webp', 'gif', 'svg']
const promptCharactersMax = 32_000

function checkSize(size: string | undefined, sizes: readonly string[] | undefined, of: string): void {
  const allowed = withAuto(sizes)
  if (allowed !== undefined) checkWord(size, 'size', allowed, of)
  else if (size !== undefined && !/^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/.test(size)) {
    throw invalid(
      'size',
      `${of} does not accept ${quoted(size)}. Use WIDTHxHEIGHT such as 1024x1024, or auto`,
    )
  }
}

/** `auto` is always allowed. */
function withAuto(words: readonly string[] | undefined): readonly string[] | undefined {
  return words === undefined || words.includes('auto') ? words : [...words, 'auto']
}

function checkWord(given: string | undefined, path: string, words: readonly string[], of: string): void {
  if (given === undefined || words.includes(given)) return
  if (words.length === 0) throw invalid(path, `${of} does not support it: leave it out`)
  throw invalid(path, `${of} does not accept ${quoted(given)}. Use one of ${words.join(', ')}`)
}

function checkMost(given: number, path: string, most: number | undefined, of: string): void {
  if (most === undefined || given <= most) return
  throw invalid(path, `${of} accepts at most ${most}, got ${given}`)
}
