import { crc32, inflateSync } from 'node:zlib'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { modelJson } from '../../src/api/models.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { applyDemo } from '../../src/catalog/demo.ts'
import { type DemoUpstream, startDemoUpstream } from '../../src/demo/upstream.ts'
import { SecretKeeper } from '../../src/secret-key.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'

let demo: DemoUpstream
let client: OpenAI

beforeAll(async () => {
  demo = await startDemoUpstream({ tokenDelayMs: 0 })
  client = new OpenAI({ apiKey: 'none', baseURL: `${demo.url}/v1`, maxRetries: 0 })
})
afterAll(() => demo.close())

const model = 'demo-image'
const cat = { model, prompt: 'a cat on a mat', size: '256x256' } as const

describe('the demo channel’s images, called by the official SDK', () => {
  it('are PNGs of the size that was asked for, and of 1024x1024 where none was', async () => {
    const sizes = ['256x256', '512x512', '1536x1024', '2048x2048', '768x256', 'auto', undefined]
    for (const size of sizes) {
      const answer = await client.images.generate({ model, prompt: 'a cat', ...(size && { size }) })
      const { width, height, rows } = decodePng(answer.data?.[0]?.b64_json)
      const told = size === undefined || size === 'auto' ? '1024x1024' : size
      expect(`${width}x${height}`).toBe(told)
      expect(rows).toHaveLength((width + 1) * height)
      expect(answer).toMatchObject({
        size: told,
        quality: 'medium',
        background: 'opaque',
        output_format: 'png',
      })
    }
  })

  it('say on them that they are a demo, also in the smallest preview', async () => {
    const stream = await client.images.generate({ ...cat, stream: true, partial_images: 1 })
    const pictures: Png[] = []
    for await (const event of stream) pictures.push(decodePng(event.b64_json))
    expect(pictures.map(({ width }) => width)).toEqual([64, 256])
    for (const [at, picture] of pictures.entries()) {
      expect(labelOf(picture, at === 0 ? 1 : 4)).toEqual(label)
    }
  })

  it('are the same for the same prompt, and others for another one', async () => {
    const ask = async (prompt: string) => (await client.images.generate({ ...cat, prompt, n: 2 })).data ?? []
    const [first = [], again, other] = [await ask('a cat'), await ask('a cat'), await ask('a dog')]
    expect(again).toEqual(first)
    const all = [...first, ...(other ?? [])].map(({ b64_json }) => b64_json)
    expect(new Set(all).size).toBe(4)
    expect(new Set(all.map((data) => decodePng(data).colours)).size).toBe(4)
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

  it('stream each picture behind its previews, and end without a word', async () => {
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

    const raw = await fetch(`${demo.url}/v1/images/generations`, {
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

  it('take every member that has nothing to say here', async () => {
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

  it('leave the demo channel whole when their reader goes away in the middle', async () => {
    const stream = await client.images.generate({ ...cat, n: 10, stream: true, partial_images: 3 })
    for await (const _ of stream) break
    expect((await client.images.generate(cat)).data).toHaveLength(1)
  })
})

it('the demo’s catalog has a model for chats and one for images, each on a channel of its own', async () => {
  const origin = await freshDatabase()
  const database = openDatabase(origin.url)
  try {
    const keeper = new SecretKeeper('a secret key for tests, long enough')
    await applyDemo(database, keeper)
    const { snapshot } = await Catalog.load(database, keeper, () => {})
    const [group] = snapshot.groups.values()
    if (group === undefined) throw new Error('the demo has no group')
    const models = [...snapshot.models.values()].map((each) => modelJson(each, each.id, group))
    expect(models).toMatchObject([
      {
        id: 'demo-chat',
        endpoints: ['/v1/chat/completions', '/v1/responses', '/v1/messages'],
        capabilities: { streaming: true, images: null },
      },
      {
        id: 'demo-image',
        endpoints: ['/v1/images/generations'],
        capabilities: { streaming: false, images: { output_formats: ['png'], images_max: 10 } },
        pricing: { input: null, image: '0.01', images: [{ size: null, quality: 'high', usd: '0.04' }] },
      },
    ])
    const offers = snapshot.models.get('demo-image')?.offers ?? []
    expect(offers.map(({ channel }) => [channel.name, Object.keys(channel.protocols)])).toEqual([
      ['demo-images', ['openai-images']],
    ])
    const offered = models[1]?.capabilities.images
    for (const size of offered?.sizes ?? []) {
      for (const quality of ['low', 'medium', 'high'] as const) {
        expect(offered?.qualities).toContain(quality)
        await expect(client.images.generate({ ...cat, size, quality })).resolves.toMatchObject({
          size,
          quality,
        })
      }
    }
    expect(offered?.sizes).toHaveLength(5)
  } finally {
    await database.close()
    await origin.drop()
  }
})

/** In dots, as it must stand on every picture. */
const label = [
  '##### .###. #.... #.... .###. .###. ##### #####',
  '..#.. #...# #.... #.... #...# #...# ..#.. #....',
  '..#.. #...# #.... #.... #.... #...# ..#.. #....',
  '..#.. #...# #.... #.... #.### ##### ..#.. ####.',
  '..#.. #...# #.... #.... #...# #...# ..#.. #....',
  '..#.. #...# #.... #.... #...# #...# ..#.. #....',
  '..#.. .###. ##### ##### .###. #...# ..#.. #####',
  '',
  '',
  '            ####. ##### #...# .###.',
  '            #...# #.... ##.## #...#',
  '            #...# #.... #.#.# #...#',
  '            #...# ####. #.#.# #...#',
  '            #...# #.... #...# #...#',
  '            #...# #.... #...# #...#',
  '            ####. ##### #...# .###.',
].map((row) => row.replaceAll('.', ' ').trimEnd())

interface Png {
  width: number
  height: number
  /** A filter byte and then an index into the palette for each pixel, row by row. */
  rows: Buffer
  /** The palette in hex. */
  colours: string
}

/** By the standard's rules and no code of the demo's: https://www.w3.org/TR/png-3/ */
function decodePng(base64: string | undefined): Png {
  const bytes = Buffer.from(base64 ?? '', 'base64')
  expect(bytes.subarray(0, 8).toString('hex')).toBe('89504e470d0a1a0a')
  const chunks = new Map<string, Buffer>()
  for (let at = 8; at < bytes.length; ) {
    const end = at + 8 + bytes.readUInt32BE(at)
    expect(crc32(bytes.subarray(at + 4, end))).toBe(bytes.readUInt32BE(end))
    chunks.set(bytes.toString('latin1', at + 4, at + 8), bytes.subarray(at + 8, end))
    at = end + 4
  }
  expect([...chunks.keys()]).toEqual(['IHDR', 'PLTE', 'IDAT', 'IEND'])
  const header = chunks.get('IHDR') ?? Buffer.alloc(13)
  const palette = chunks.get('PLTE') ?? Buffer.alloc(0)
  // Eight bits each, of a palette, packed and filtered as there is only one way, not interlaced.
  expect([...header.subarray(8)]).toEqual([8, 3, 0, 0, 0])
  expect(palette).toHaveLength(256 * 3)
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)]
  const rows = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
  return { width, height, rows, colours: palette.toString('hex') }
}

/** What stands in white on a picture, in dots of `scale` pixels. */
function labelOf({ width, height, rows, colours }: Png, scale: number): string[] {
  const isWhite = (index: number) => colours.slice(index * 6, index * 6 + 6) === 'ffffff'
  const lines = Array.from({ length: height }, (_, y) => {
    const row = rows.subarray(y * (width + 1), (y + 1) * (width + 1))
    expect(row[0], 'a filter').toBe(0)
    return [...row.subarray(1)].map((index) => (isWhite(index) ? '#' : ' ')).join('')
  })
  const left = Math.min(...lines.map((line) => line.search('#')).filter((at) => at >= 0))
  const marked = lines.slice(
    lines.findIndex((line) => line.includes('#')),
    lines.findLastIndex((line) => line.includes('#')) + 1,
  )
  const stretched = (text: string) => [...text].map((dot) => dot.repeat(scale)).join('')
  const dots = marked.filter((_, y) => y % scale === 0).map((line) => thin(line.slice(left), scale))
  // Nothing but whole dots was drawn.
  expect(marked.map((line) => line.slice(left).trimEnd())).toEqual(
    dots.flatMap((row) => Array.from({ length: scale }, () => stretched(row))),
  )
  return dots
}

function thin(line: string, scale: number): string {
  return [...line]
    .filter((_, x) => x % scale === 0)
    .join('')
    .trimEnd()
}
