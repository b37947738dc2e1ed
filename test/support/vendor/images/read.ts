import type { Json } from '../../../../src/canonical/json.ts'
import { expectInteger, expectOneOf, expectText, isAbsent, kindOf, refuse, refuseUnknown } from '../check.ts'

/** What a client asks for. */
export interface ImageOptions {
  prompt: string
  /** 1 to 10. */
  count: number
  /** Each side a multiple of 16 from 256 to 2048, neither more than 3 times the other. */
  size: Size
  quality: string
  stream: boolean
  /** For each picture, 0 to 3. */
  previews: number
}

export interface Size {
  width: number
  height: number
}

/**
 * Reads an `/images/generations` body by the vendor's rules, for a model that makes opaque PNGs. A request for `url` gets
 * the picture itself, as from the vendor's newer models. Throws Refusal.
 *
 * https://platform.openai.com/docs/api-reference/images/create, read 2026-11-21
 */
export function readImageOptions(body: Json): ImageOptions {
  refuseUnknown(body, members, (name) => `Unknown parameter: '${name}'.`, 'unknown_parameter')
  checkTexts(body)
  checkForm(body)
  const stream = readStream(body.stream)
  const previews = expectInteger(body.partial_images, 'partial_images', 0, 3) ?? 0
  if (previews > 0 && !stream) {
    refuse("The 'partial_images' parameter is only allowed when 'stream' is enabled.", 'partial_images')
  }
  const quality = expectOneOf(body.quality, 'quality', ['auto', 'low', 'medium', 'high']) ?? 'auto'
  return {
    prompt: readPrompt(body.prompt),
    count: expectInteger(body.n, 'n', 1, 10) ?? 1,
    size: readSize(body.size),
    quality: quality === 'auto' ? 'medium' : quality,
    stream,
    previews,
  }
}

const texts = ['model', 'user', 'safety_identifier']
/** Only other formats than PNG have these. */
const gifAndSvg = ['frame_count', 'frame_duration_ms', 'svg']
const members = [
  ...['prompt', 'n', 'size', 'quality', 'style', 'background', 'complexity', 'moderation', 'response_format'],
  ...['output_format', 'output_compression', 'stream', 'partial_images', ...texts, ...gifAndSvg],
]

function checkTexts(body: Json): void {
  for (const name of texts) if (!isAbsent(body[name])) expectText(body[name], name)
}

/** These settings do not change the picture, or only one value is possible. */
function checkForm(body: Json): void {
  expectOneOf(body.style, 'style', ['vivid', 'natural'])
  expectOneOf(body.complexity, 'complexity', ['low', 'medium', 'high'])
  expectOneOf(body.moderation, 'moderation', ['auto', 'low'])
  expectOneOf(body.response_format, 'response_format', ['b64_json', 'url'])
  const format = expectOneOf(body.output_format, 'output_format', ['png', 'jpeg', 'webp', 'gif', 'svg'])
  if (format !== undefined && format !== 'png') {
    refuse(`output_format: the strict vendor makes only png, not ${format}`, 'output_format')
  }
  const background = expectOneOf(body.background, 'background', ['auto', 'opaque', 'transparent'])
  if (background === 'transparent') {
    refuse('background: the strict vendor makes only opaque images', 'background')
  }
  if ((expectInteger(body.output_compression, 'output_compression', 0, 100) ?? 100) < 100) {
    refuse('output_compression: less than 100 is not supported for png', 'output_compression')
  }
  const misplaced = gifAndSvg.find((name) => !isAbsent(body[name]))
  if (misplaced !== undefined) refuse(`${misplaced}: not supported for png`, misplaced)
}

function readStream(stream: unknown): boolean {
  if (isAbsent(stream)) return false
  if (typeof stream !== 'boolean') refuse(`stream: expected a boolean, got ${kindOf(stream)}`, 'stream')
  return stream
}

const promptCharactersMax = 32_000

function readPrompt(prompt: unknown): string {
  if (isAbsent(prompt)) {
    refuse("Missing required parameter: 'prompt'.", 'prompt', 'missing_required_parameter')
  }
  const text = expectText(prompt, 'prompt')
  if (text === '') refuse('prompt: expected a non-empty string', 'prompt')
  const characters = [...text].length
  if (characters > promptCharactersMax) {
    refuse(`prompt: expected at most ${promptCharactersMax} characters, got ${characters}`, 'prompt')
  }
  return text
}

const sideLeast = 256
const sideMost = 2048

function readSize(size: unknown): Size {
  const text = isAbsent(size) ? 'auto' : expectText(size, 'size')
  if (text === 'auto') return { width: 1024, height: 1024 }
  const [, width = 0, height = 0] = /^(\d{3,4})x(\d{3,4})$/.exec(text)?.map(Number) ?? []
  const isMade = [width, height].every((side) => side >= sideLeast && side <= sideMost && side % 16 === 0)
  if (!isMade || width > 3 * height || height > 3 * width) {
    refuse(
      `Invalid size ${JSON.stringify(text.slice(0, 60))}: expected auto, or WIDTHxHEIGHT with sides that are multiples of 16 from ${sideLeast} to ${sideMost}, at most 3 to 1.`,
      'size',
      'invalid_value',
    )
  }
  return { width, height }
}
