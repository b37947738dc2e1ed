import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/canonical/error.ts'
import type { ImageEvent, ImageSource } from '../../src/canonical/image.ts'
import type { Json } from '../../src/canonical/json.ts'
import { Base64Extractor } from '../../src/protocols/base64-extractor.ts'
import type { ImageSide } from '../../src/protocols/image-protocol.ts'
import { imageSide } from '../../src/protocols/index.ts'
import type { ProtocolName } from '../../src/protocols/protocol.ts'
import { Random, seeded } from '../support/random.ts'

/** Streams as upstreams send them, through the Base64Extractor and the format's decoder, as a worker reads them. */

const previews = [0, 1].map((index) => base64(40_000 + index))
const final = base64(90_000)
const second = base64(30_000)

const imagesStream = written([
  { type: 'image_generation.partial_image', b64_json: previews[0], partial_image_index: 0, size: 'auto' },
  { type: 'image_generation.partial_image', b64_json: previews[1], partial_image_index: 1, size: 'auto' },
  {
    type: 'image_generation.completed',
    b64_json: final,
    created_at: 1,
    size: '1024x1024',
    quality: 'low',
    background: 'opaque',
    output_format: 'png',
    usage: { input_tokens: 9, output_tokens: 100, total_tokens: 109 },
  },
  { type: 'image_generation.completed', b64_json: second, size: '1024x1024' },
])

const item = {
  type: 'image_generation_call',
  id: 'ig_1',
  status: 'completed',
  result: final,
  revised_prompt: 'a small cat',
  output_format: 'png',
}
const responsesEvents = (output: Json[]): Json[] => [
  { type: 'response.created', response: { status: 'in_progress', output: [] } },
  { type: 'response.image_generation_call.generating', item_id: 'ig_1' },
  {
    type: 'response.image_generation_call.partial_image',
    partial_image_b64: previews[0],
    partial_image_index: 0,
  },
  { type: 'response.output_item.done', output_index: 0, item },
  {
    type: 'response.completed',
    response: {
      status: 'completed',
      model: 'gpt-5.6',
      output,
      usage: { input_tokens: 9, output_tokens: 100 },
    },
  },
]

describe.each<[ProtocolName, string]>([
  ['openai-images', imagesStream],
  ['openai-responses', written(responsesEvents([item]))],
])('a stream of %s', (name, stream) => {
  test('gives the same previews and images in any split', () => {
    const whole = read(name, [Buffer.from(stream)])
    expect(whole.map(({ type }) => type)).toContain('completed')
    const random = seeded(30)
    for (let round = 0; round < 30; round++) {
      const split = random.split(Buffer.from(stream), random.pick([100, 5000, 40_000]))
      expect(isSame(read(name, split), whole), `round ${round}`).toBe(true)
    }
  })
})

test('openai-images: previews with their numbers, then one event for each image', () => {
  expect(read('openai-images', [Buffer.from(imagesStream)])).toEqual([
    { type: 'partial', image: previews[0], index: 0 },
    { type: 'partial', image: previews[1], index: 1 },
    {
      type: 'completed',
      images: [{ image: final, revisedPrompt: undefined }],
      usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 100, reasoning: 0 },
      size: '1024x1024',
    },
    {
      type: 'completed',
      images: [{ image: second, revisedPrompt: undefined }],
      usage: undefined,
      size: '1024x1024',
    },
  ])
})

describe('openai-responses', () => {
  const made = {
    type: 'completed',
    images: [{ image: final, revisedPrompt: 'a small cat' }],
    usage: { input: 9, cacheRead: 0, cacheWrite: 0, output: 100, reasoning: 0 },
    size: undefined,
  }

  // OpenAI may leave the image out of the last event: https://github.com/microsoft/agent-framework/pull/8424
  test.each<[string, Json[]]>([
    ['the image once more', [item]],
    ['its item without the image', [{ ...item, result: null }]],
    ['nothing', []],
  ])('the image comes once when the last event has %s', (_, output) => {
    const events = read('openai-responses', [Buffer.from(written(responsesEvents(output)))])
    expect(events).toEqual([{ type: 'partial', image: previews[0], index: 0 }, made])
  })

  test('the image is read from the last event if no event had its item', () => {
    const events = responsesEvents([item]).filter(({ type }) => type !== 'response.output_item.done')
    expect(read('openai-responses', [Buffer.from(written(events))]).at(-1)).toEqual(made)
  })

  test('an image is not lost when the stream breaks off after it', () => {
    const events = responsesEvents([]).slice(0, -1)
    expect(read('openai-responses', [Buffer.from(written(events))]).at(-1)).toEqual({
      ...made,
      usage: undefined,
    })
  })

  test('a stream that breaks off before its image has no image', () => {
    const events = responsesEvents([]).slice(0, 3)
    expect(read('openai-responses', [Buffer.from(written(events))])).toHaveLength(1)
  })

  test('a refusal that came instead of an image is read even if the last event is empty', () => {
    const said = { type: 'message', content: [{ type: 'refusal', refusal: 'I cannot.' }] }
    const events = [
      { type: 'response.output_item.done', item: said },
      { type: 'response.completed', response: { output: [] } },
    ]
    const error = failure(() => read('openai-responses', [Buffer.from(written(events))]))
    expect(error).toMatchObject({ kind: 'content_filtered', message: expect.stringContaining('I cannot.') })
  })
})

const blocked = { type: 'image_generation_user_error', code: 'moderation_blocked', message: 'Not this.' }
describe.each<[ProtocolName, Json]>([
  ['openai-images', { type: 'error', error: blocked }],
  ['openai-images', { error: blocked }],
  ['openai-images', { ...blocked, type: 'error' }],
  ['openai-responses', { type: 'error', error: blocked }],
  ['openai-responses', { ...blocked, type: 'error' }],
  ['openai-responses', { error: blocked }],
  ['openai-responses', { type: 'response.failed', response: { error: blocked } }],
])('%s: the event %j', (name, event) => {
  test('is a moderation error', () => {
    expect(failure(() => read(name, [Buffer.from(written([event]))]))).toMatchObject({
      kind: 'content_filtered',
      message: 'Not this.',
      code: 'moderation_blocked',
    })
  })

  test('is an upstream error when its code says so', () => {
    const text = written([event]).replaceAll('moderation_blocked', 'server_error')
    const words = text.replaceAll('image_generation_user_error', 'server_error')
    expect(failure(() => read(name, [Buffer.from(words)])).kind).toBe('upstream_error')
  })
})

test('unknown events, and events without their content, are ignored', () => {
  const events = [{ type: 'keepalive' }, {}, { type: 'image_generation.partial_image' }, { type: 7 }]
  for (const name of ['openai-images', 'openai-responses'] as const) {
    expect(read(name, [Buffer.from(written(events))])).toEqual([])
  }
})

/** Events with the images in place of the placeholders. */
function read(name: ProtocolName, chunks: readonly Buffer[]) {
  const decoder = sideOf(name).decodeStream?.()
  if (decoder === undefined) throw new Error(`${name} does not stream`)
  const extractor = new Base64Extractor()
  const extracted: Buffer[][] = []
  const text: Buffer[] = []
  for (const step of chunks.flatMap((chunk) => extractor.push(chunk))) {
    if (step.type === 'text') text.push(step.bytes)
    if (step.type === 'begin') extracted.push([])
    if (step.type === 'data') extracted[step.index]?.push(step.bytes)
  }
  expect(extractor.end()).toEqual([])
  const whole = Buffer.concat(text).toString()
  expect(whole.length).toBeLessThan(4000)
  const imageOf = (source: ImageSource) => {
    if (source.kind !== 'base64') return source
    const index = extractor.indexOf(source.data)
    return index === undefined ? source : Buffer.concat(extracted[index] ?? []).toString('base64')
  }
  const shown = (event: ImageEvent) =>
    event.type === 'partial'
      ? { type: event.type, image: imageOf(event.source), index: event.index }
      : {
          type: event.type,
          images: event.answer.images.map(({ source, revisedPrompt }) => ({
            image: imageOf(source),
            revisedPrompt,
          })),
          usage: event.answer.usage,
          size: event.answer.size,
        }
  const frames = whole.split('\n\n').flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
  return [...frames.flatMap((data) => decoder.push(JSON.parse(data))), ...decoder.end()].map(shown)
}

function sideOf(name: ProtocolName): ImageSide {
  const side = imageSide(name)
  if (side === undefined) throw new Error(`no images in ${name}`)
  return side
}

function written(events: readonly Json[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** Deterministic, with padding of every length. */
function base64(length: number): string {
  const random = new Random(length)
  return Buffer.from(Array.from({ length }, () => random.upTo(255))).toString('base64')
}

/** A failing `expect` would print megabytes. */
function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function failure(run: () => unknown): GatewayError {
  try {
    run()
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
