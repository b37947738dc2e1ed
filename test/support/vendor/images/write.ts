import { drawPicture } from 'tollgate-demo/picture.ts'
import type { Json } from '../../../../src/canonical/json.ts'
import { tokensOf } from '../question.ts'
import type { ImageOptions, Size } from './read.ts'

/** The answer in one JSON object. */
export async function writeImages(options: ImageOptions, createdAtSeconds: number): Promise<Json> {
  const data: Json[] = []
  // One after the other: a picture takes some megabytes while it is drawn.
  for (let index = 0; index < options.count; index++)
    data.push({ b64_json: await draw(options, options.size, index) })
  const { output_tokens: image } = usageOf(options)
  return {
    created: createdAtSeconds,
    data,
    ...settingsOf(options),
    usage: { ...usageOf(options), output_tokens_details: { image_tokens: image, text_tokens: 0 } },
  }
}

/** The frames of a streamed answer: each picture after its previews. No frame marks the end. */
export async function* streamImages(options: ImageOptions, createdAtSeconds: number): AsyncGenerator<string> {
  const opening = { created_at: createdAtSeconds, ...settingsOf(options) }
  for (let index = 0; index < options.count; index++) {
    const coarse = options.previews > 0 ? await draw(options, previewOf(options.size), index) : ''
    for (let number = 0; number < options.previews; number++) {
      yield frame('partial_image', { b64_json: coarse, ...opening, partial_image_index: number })
    }
    const b64_json = await draw(options, options.size, index)
    yield frame('completed', { b64_json, ...opening, usage: usageOf(options) })
  }
}

async function draw({ prompt }: ImageOptions, size: Size, index: number): Promise<string> {
  return (await drawPicture(size, `${index} ${prompt}`)).toString('base64')
}

/** A quarter of each side: the label still fits into the smallest preview. */
function previewOf({ width, height }: Size): Size {
  return { width: width / 4, height: height / 4 }
}

function settingsOf({ size, quality }: ImageOptions) {
  return { background: 'opaque', output_format: 'png', quality, size: `${size.width}x${size.height}` }
}

/** Usage of the whole request. Every event of a stream repeats it. */
function usageOf({ prompt, size, count }: ImageOptions) {
  const text = tokensOf(prompt)
  const image = Math.ceil((size.width * size.height) / pixelsPerToken) * count
  return {
    input_tokens: text,
    input_tokens_details: { image_tokens: 0, text_tokens: text },
    output_tokens: image,
    total_tokens: text + image,
  }
}

const pixelsPerToken = 1024

function frame(name: string, event: Json): string {
  const type = `image_generation.${name}`
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...event })}\n\n`
}
