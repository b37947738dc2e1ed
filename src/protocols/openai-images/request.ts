import type { ImageRequest, ImageTraits } from '../../canonical/image.ts'
import { isRecord } from '../../canonical/json.ts'
import {
  checkText,
  invalid,
  type JsonBounds,
  kindAt,
  parseSpan,
  type Span,
  scanMembers,
} from '../json-scan.ts'
import { readBoolean, readInteger, readModel, wrongKind } from '../scan-facts.ts'

/** As `ImageClient#readRequest`. */
export function readImageRequest(raw: Buffer, bounds: JsonBounds): ImageRequest & { model: string } {
  checkText(raw)
  const { jsonDepthMax: depthMax, jsonValuesMax: valuesMax } = bounds
  const whole = { start: 0, end: raw.length }
  const members = scanMembers(raw, whole, memberNames, { depthMax, valuesMax })
  const text = (name: MemberName) => readText(raw, members[name], name)

  const model = readModel(raw, members.model)
  const stream = readBoolean(raw, members.stream, 'stream')
  const partialImages = readInteger(raw, members.partial_images, 'partial_images', 0, 3) ?? 0
  if (partialImages > 0 && !stream)
    throw invalid('partial_images', 'previews come in a stream: add "stream": true')
  const request = {
    model,
    prompt: readPrompt(raw, members.prompt),
    count: readInteger(raw, members.n, 'n', 1, 10) ?? 1,
    size: text('size'),
    quality: text('quality'),
    style: text('style'),
    background: text('background'),
    outputFormat: text('output_format'),
    outputCompression: readInteger(raw, members.output_compression, 'output_compression', 0, 100),
    moderation: readWord(text('moderation'), ['auto', 'low'], 'moderation'),
    // An empty one counts as none: the vendor's own rule.
    user: text('user') || undefined,
    safetyIdentifier: text('safety_identifier') || undefined,
    delivery: readWord(text('response_format'), ['url', 'b64_json'], 'response_format'),
    stream,
    partialImages,
  }
  const body = parseSpan(raw, whole, 'body')
  if (!isRecord(body)) throw invalid('body', 'expected a JSON object')
  return { ...request, body }
}

/** As `ImageClient#checkTraits`. */
export function checkTraits(request: ImageRequest, traits: ImageTraits | undefined, model: string): void {
  const of = `model ${JSON.stringify(model)}`
  checkSize(request.size, traits?.sizes, of)
  checkWord(request.quality, 'quality', withAuto(traits?.qualities) ?? qualities, of)
  checkWord(request.style, 'style', traits?.styles ?? styles, of)
  checkWord(request.background, 'background', withAuto(traits?.backgrounds) ?? backgrounds, of)
  checkWord(request.outputFormat, 'output_format', traits?.outputFormats ?? outputFormats, of)
  if (request.background === 'transparent' && request.outputFormat === 'jpeg') {
    throw invalid('background', '"transparent" needs another output_format than "jpeg": png or webp')
  }
  checkMost(request.count, 'n', traits?.imagesMax, of)
  checkMost(request.partialImages, 'partial_images', traits?.partialImagesMax, of)
  const charactersMax = traits?.promptCharactersMax ?? promptCharactersMax
  // Code units first: they are never fewer than characters, and cost nothing to count.
  if (request.prompt.length > charactersMax) {
    const characters = charactersIn(request.prompt)
    if (characters > charactersMax) {
      throw invalid('prompt', `${of} takes at most ${charactersMax} characters, got ${characters}`)
    }
  }
}

/** Without a piece of memory for each: a prompt that is refused may have millions. */
function charactersIn(text: string): number {
  let characters = text.length
  for (let i = 1; i < text.length; i++) {
    if ((text.charCodeAt(i) & 0xfc00) === 0xdc00 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800) characters--
  }
  return characters
}

/** https://platform.openai.com/docs/api-reference/images/create and openai 7.55.0's types, read 2026-11-21 */
const memberNames = [
  'model',
  'prompt',
  'n',
  'size',
  'quality',
  'style',
  'background',
  'output_format',
  'output_compression',
  'response_format',
  'moderation',
  'user',
  'safety_identifier',
  'stream',
  'partial_images',
] as const
type MemberName = (typeof memberNames)[number]

const qualities = ['auto', 'low', 'medium', 'high', 'xhigh', 'max', 'standard', 'hd']
const styles = ['vivid', 'natural']
const backgrounds = ['auto', 'transparent', 'opaque']
const outputFormats = ['png', 'jpeg', 'webp', 'gif', 'svg']
const promptCharactersMax = 32_000

/** Undefined when absent or null. */
function readText(raw: Buffer, span: Span | undefined, path: string): string | undefined {
  if (!span) return undefined
  const kind = kindAt(raw, span.start)
  if (kind === 'null') return undefined
  if (kind !== 'string') throw wrongKind(raw, span, path, 'a string')
  return String(parseSpan(raw, span, path))
}

function readPrompt(raw: Buffer, span: Span | undefined): string {
  if (!span) throw invalid('prompt', 'required: a text that describes the image')
  if (kindAt(raw, span.start) !== 'string') throw wrongKind(raw, span, 'prompt', 'a string')
  const prompt = String(parseSpan(raw, span, 'prompt'))
  if (prompt.trim() === '')
    throw invalid('prompt', 'expected a text that describes the image, got an empty one')
  return prompt
}

function readWord<Word extends string>(
  given: string | undefined,
  words: readonly Word[],
  path: string,
): Word | undefined {
  if (given === undefined) return undefined
  const word = words.find((known) => known === given)
  if (word === undefined) throw invalid(path, `expected ${listed(words)}, got ${quoted(given)}`)
  return word
}

function checkSize(size: string | undefined, sizes: readonly string[] | undefined, of: string): void {
  const allowed = withAuto(sizes)
  if (allowed !== undefined) checkWord(size, 'size', allowed, of)
  else if (size !== undefined && !/^(?:auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/.test(size)) {
    throw invalid(
      'size',
      `${quoted(size)} is not one that ${of} takes: WIDTHxHEIGHT such as 1024x1024, or auto`,
    )
  }
}

/** A model may always be left the choice. */
function withAuto(words: readonly string[] | undefined): readonly string[] | undefined {
  return words === undefined || words.includes('auto') ? words : [...words, 'auto']
}

function checkWord(given: string | undefined, path: string, words: readonly string[], of: string): void {
  if (given === undefined || words.includes(given)) return
  if (words.length === 0) throw invalid(path, `${of} takes none: leave it out`)
  throw invalid(path, `${quoted(given)} is not one that ${of} takes: ${words.join(', ')}`)
}

function checkMost(given: number, path: string, most: number | undefined, of: string): void {
  if (most === undefined || given <= most) return
  throw invalid(path, `${given} is more than ${of} takes: at most ${most}`)
}

function listed(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(' or ')
}

function quoted(given: string): string {
  return JSON.stringify(given.length > 40 ? `${given.slice(0, 40)}…` : given)
}
