import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodePng } from '../png.ts'
import { startVendor, type Vendor } from './vendor.ts'

let vendor: Vendor
let client: OpenAI

beforeAll(async () => {
  vendor = await startVendor({ tokenDelayMs: 0 })
  client = new OpenAI({ apiKey: 'none', baseURL: `${vendor.url}/v1`, maxRetries: 0 })
})
afterAll(() => vendor.close())

const model = 'demo-image'
const cat = { model, prompt: 'a cat on a mat', size: '256x256' } as const

describe('the strict vendor’s images, called by the official SDK', () => {
  it('are PNGs of the requested size, or of 1024x1024 without one', async () => {
    const sizes = ['256x256', '512x512', '1536x1024', '2048x2048', '768x256', 'auto', undefined]
    for (const size of sizes) {
      const answer = await client.images.generate({ model, prompt: 'a cat', ...(size && { size }) })
      const { width, height, rows } = decodePng(answer.data?.[0]?.b64_json)
      const expectedSize = size === undefined || size === 'auto' ? '1024x1024' : size
      expect(`${width}x${height}`).toBe(expectedSize)
      expect(rows).toHaveLength((width + 1) * height)
      expect(answer).toMatchObject({
        size: expectedSize,
        quality: 'medium',
        background: 'opaque',
        output_format: 'png',
      })
    }
  })

  it('come with their usage, which grows with the prompt, the size and the number', async () => {
    const usageOf = async (more: Partial<OpenAI.ImageGenerateParamsNonStreaming>) => {
      const { usage } = await client.images.generate({ ...cat, ...more })
      const { input_tokens = 0, output_tokens = 0 } = usage ?? {}
      expect(usage).toEqual({
        input_tokens,
        input_tokens_details: { text_tokens: input_tokens, image_tokens: 0 },
        output_tokens,
        output_tokens_details: { text_tokens: 0, image_tokens: output_tokens },
        total_tokens: input_tokens + output_tokens,
      })
      return { input: input_tokens, output: output_tokens }
    }
    const one = await usageOf({})
    expect(one.output).toBe(64)
    expect(await usageOf({ n: 3 })).toEqual({ input: one.input, output: 3 * one.output })
    expect(await usageOf({ size: '512x512' })).toEqual({ input: one.input, output: 4 * one.output })
    expect((await usageOf({ prompt: 'a cat '.repeat(100) })).input).toBeGreaterThan(one.input + 100)
  })

  it('stream each picture after its previews, and end without a marker', async () => {
    const stream = await client.images.generate({ ...cat, n: 2, stream: true, partial_images: 3 })
    const events: OpenAI.Images.ImageGenStreamEvent[] = []
    for await (const event of stream) events.push(event)
    const previews = [0, 1, 2].map((number) => `image_generation.partial_image ${number}`)
    const each = [...previews, 'image_generation.completed']
    expect(
      events.map(
        (event) => event.type + ('partial_image_index' in event ? ` ${event.partial_image_index}` : ''),
      ),
    ).toEqual([...each, ...each])
    const settings = { background: 'opaque', output_format: 'png', quality: 'medium', size: cat.size }
    for (const event of events) {
      expect(event).toMatchObject({ ...settings, created_at: expect.any(Number) })
    }

    const whole = await client.images.generate({ ...cat, n: 2 })
    const completed = events.filter((event) => event.type === 'image_generation.completed')
    expect(completed.map(({ b64_json }) => ({ b64_json }))).toEqual(whole.data)
    const { output_tokens_details: _, ...usage } = whole.usage ?? {}
    expect(completed.map((event) => event.usage)).toEqual([usage, usage])

    const raw = await fetch(`${vendor.url}/v1/images/generations`, {
      method: 'POST',
      body: JSON.stringify({ ...cat, stream: true }),
    })
    expect(raw.headers.get('content-type')).toBe('text/event-stream')
    const text = await raw.text()
    expect(text.match(/^event: .*$/gm)).toEqual(['event: image_generation.completed'])
    expect(text).not.toContain('[DONE]')
  })

  it('are refused where the vendor refuses, by name and in its envelope', async () => {
    const wrong: [RegExp, string, object][] = [
      [/Invalid size "100x100"/, 'size', { size: '100x100' }],
      [/Invalid size "2064x1024"/, 'size', { size: '2064x1024' }],
      [/Invalid size "1000x1000"/, 'size', { size: '1000x1000' }],
      [/Invalid size "1024x256"/, 'size', { size: '1024x256' }],
      [/Invalid size "256x1024"/, 'size', { size: '256x1024' }],
      [/Invalid size "big"/, 'size', { size: 'big' }],
      [/size: expected a string, got number/, 'size', { size: 512 }],
      [/Missing required parameter: 'prompt'/, 'prompt', { prompt: null }],
      [/prompt: expected a non-empty string/, 'prompt', { prompt: '' }],
      [/prompt: expected at most 32000 characters, got 32001/, 'prompt', { prompt: '🐈'.repeat(32_001) }],
      [/model: expected a string/, 'model', { model: 1 }],
      [/n: expected a number from 1 to 10/, 'n', { n: 0 }],
      [/n: expected a number from 1 to 10/, 'n', { n: 11 }],
      [/n: expected an integer/, 'n', { n: 1.5 }],
      [/quality: expected one of auto, low/, 'quality', { quality: 'hd' }],
      [/style: expected one of/, 'style', { style: 'plain' }],
      [/moderation: expected one of/, 'moderation', { moderation: 'none' }],
      [/complexity: expected one of/, 'complexity', { complexity: 'max' }],
      [/response_format: expected one of/, 'response_format', { response_format: 'png' }],
      [/makes only png, not webp/, 'output_format', { output_format: 'webp' }],
      [/output_format: expected one of/, 'output_format', { output_format: 'bmp' }],
      [/less than 100 is not supported/, 'output_compression', { output_compression: 50 }],
      [/only opaque images/, 'background', { background: 'transparent' }],
      [/frame_count: not supported for png/, 'frame_count', { frame_count: 4 }],
      [/svg: not supported for png/, 'svg', { svg: { model: 'x' } }],
      [/stream: expected a boolean, got string/, 'stream', { stream: 'true' }],
      [/from 0 to 3/, 'partial_images', { stream: true, partial_images: 4 }],
      [/only allowed when 'stream'/, 'partial_images', { partial_images: 1 }],
      [/Unknown parameter: 'seed'/, 'seed', { seed: 1 }],
    ]
    for (const [words, param, more] of wrong) {
      const refused = await client
        .post('/images/generations', { body: { ...cat, ...more } })
        .then(String, (error: unknown) => error)
      expect(refused, String(words)).toBeInstanceOf(OpenAI.BadRequestError)
      expect(refused).toMatchObject({ message: expect.stringMatching(words), param })
      expect(refused).toMatchObject({ type: 'invalid_request_error' })
    }
  })

  it('accept every member without an effect here', async () => {
    const answer = await client.images.generate({
      ...cat,
      n: 10,
      quality: 'high',
      style: 'vivid',
      background: 'auto',
      moderation: 'low',
      output_format: 'png',
      output_compression: 100,
      response_format: 'url',
      partial_images: 0,
      user: '',
      safety_identifier: 'someone',
      stream: false,
    })
    expect(answer).toMatchObject({ quality: 'high', output_format: 'png' })
    expect(answer.data).toHaveLength(10)
    for (const image of answer.data ?? []) expect(decodePng(image.b64_json).width).toBe(256)
  })

  it('do no harm to the strict vendor when the reader leaves in the middle', async () => {
    const stream = await client.images.generate({ ...cat, n: 10, stream: true, partial_images: 3 })
    for await (const _ of stream) break
    expect((await client.images.generate(cat)).data).toHaveLength(1)
  })
})
