import { tokensOf } from './canned-answers.ts'
import type { Head } from './format.ts'
import { type Json, textOf } from './json.ts'
import { drawPicture, type Size } from './picture.ts'
import { DemoRefusal } from './request.ts'

/** The members of an image request that the demo reads. It ignores all others. */
export interface DemoImages {
  prompt: string
  count: number
  size: Size
  quality: string
  /** One per picture. */
  previews: number
}

/** Throws a DemoRefusal. https://platform.openai.com/docs/api-reference/images/create */
export function readDemoImages(body: Json): DemoImages {
  const size = textOf(body.size) ?? 'auto'
  const [, width, height] =
    /^(\d{3,4})x(\d{3,4})$/.exec(size === 'auto' ? '1024x1024' : size)?.map(Number) ?? []
  return {
    prompt: textOf(body.prompt) ?? refuse('prompt', 'a text'),
    count: wholeNumber(body.n ?? 1, 'n', 1, 10),
    size: { width: wholeNumber(width, 'size', 256, 2048), height: wholeNumber(height, 'size', 256, 2048) },
    quality: body.quality === 'low' || body.quality === 'high' ? body.quality : 'medium',
    previews: wholeNumber(body.partial_images ?? 0, 'partial_images', 0, 3),
  }
}

function wholeNumber(value: unknown, name: string, least: number, most: number): number {
  const isIn = typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most
  return isIn ? value : refuse(name, `a whole number from ${least} to ${most}`)
}

function refuse(name: string, wanted: string): never {
  throw new DemoRefusal(400, `${name}: the demo channel expects ${wanted}.`)
}

export async function wholeImages(wanted: DemoImages, { createdAtSeconds }: Head): Promise<Json> {
  const data: Json[] = []
  // One after the other, because a picture takes several megabytes while it is drawn.
  for (let index = 0; index < wanted.count; index++)
    data.push({ b64_json: await draw(wanted, wanted.size, index) })
  return { created: createdAtSeconds, data, ...settingsOf(wanted), usage: usageOf(wanted) }
}

/** The events of a stream: each picture follows its previews. */
export async function* imageEvents(wanted: DemoImages, { createdAtSeconds }: Head): AsyncGenerator<Json> {
  const opening = { created_at: createdAtSeconds, ...settingsOf(wanted) }
  const coarse = { width: wanted.size.width >> 2, height: wanted.size.height >> 2 }
  for (let index = 0; index < wanted.count; index++) {
    for (let partial_image_index = 0; partial_image_index < wanted.previews; partial_image_index++) {
      const b64_json = await draw(wanted, coarse, index)
      yield { type: 'image_generation.partial_image', ...opening, partial_image_index, b64_json }
    }
    const b64_json = await draw(wanted, wanted.size, index)
    yield { type: 'image_generation.completed', ...opening, b64_json, usage: usageOf(wanted) }
  }
}

async function draw({ prompt }: DemoImages, size: Size, index: number): Promise<string> {
  return (await drawPicture(size, `${index} ${prompt}`)).toString('base64')
}

function settingsOf({ size, quality }: DemoImages): Json {
  return { background: 'opaque', output_format: 'png', quality, size: `${size.width}x${size.height}` }
}

/** The usage of the whole request, at about a thousand pixels per token. */
function usageOf({ prompt, size, count }: DemoImages): Json {
  const text = tokensOf(prompt)
  const image = Math.ceil((size.width * size.height) / 1024) * count
  return {
    input_tokens: text,
    input_tokens_details: { image_tokens: 0, text_tokens: text },
    output_tokens: image,
    total_tokens: text + image,
  }
}
