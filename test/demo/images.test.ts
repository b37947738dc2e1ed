import OpenAI from 'openai'
import { type Demo, startDemo } from 'tollgate-demo/server.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { modelJson } from '../../src/api/model-json.ts'
import { Catalog } from '../../src/catalog/catalog.ts'
import { applyDemo } from '../../src/catalog/demo.ts'
import { SecretKeeper } from '../../src/secrets/secret-key.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { freshDatabase, openDatabase } from '../support/database.ts'
import { decodePng, type Png } from '../support/png.ts'

let demo: Demo
let client: OpenAI

beforeAll(async () => {
  demo = await startDemo({ eventDelayMs: 0 })
  client = new OpenAI({ apiKey: 'none', baseURL: `${demo.url}/v1`, maxRetries: 0 })
})
afterAll(() => demo.close())

const model = 'demo-image'
const cat = { model, prompt: 'a cat on a mat', size: '256x256' } as const

describe('the demo’s images, called by the official SDK', () => {
  it('show that they are a demo, even in the smallest preview', async () => {
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

  it('have the requested size and quality, and a usage that fits them', async () => {
    const plain = await client.images.generate({ model, prompt: 'a cat' })
    expect(plain).toMatchObject({ size: '1024x1024', quality: 'medium', background: 'opaque' })
    expect(decodePng(plain.data?.[0]?.b64_json)).toMatchObject({ width: 1024, height: 1024 })
    const wide = { model, prompt: 'a cat', size: '1536x1024', quality: 'high', n: 2 } as const
    const { data, usage, ...settings } = await client.images.generate(wide)
    expect(settings).toMatchObject({ size: '1536x1024', quality: 'high', output_format: 'png' })
    expect(data?.map(({ b64_json }) => decodePng(b64_json).width)).toEqual([1536, 1536])
    expect(usage?.output_tokens).toBe(3 * (plain.usage?.output_tokens ?? 0))
    expect(usage?.total_tokens).toBe((usage?.input_tokens ?? 0) + (usage?.output_tokens ?? 0))
  })

  it('stream each picture after its previews', async () => {
    const events: OpenAI.Images.ImageGenStreamEvent[] = []
    const stream = await client.images.generate({ ...cat, n: 2, stream: true, partial_images: 2 })
    for await (const event of stream) events.push(event)
    const each = ['partial_image', 'partial_image', 'completed'].map((name) => `image_generation.${name}`)
    expect(events.map(({ type }) => type)).toEqual([...each, ...each])
    expect(
      events.map((event) => ('partial_image_index' in event ? event.partial_image_index : 'last')),
    ).toEqual([0, 1, 'last', 0, 1, 'last'])
    const whole = await client.images.generate({ ...cat, n: 2 })
    const completed = events.filter((event) => event.type === 'image_generation.completed')
    expect(completed.map(({ b64_json }) => ({ b64_json }))).toEqual(whole.data)
    expect(completed.map(({ usage }) => usage)).toEqual([whole.usage, whole.usage])
  })

  it.each([
    ['prompt', { prompt: '' }],
    ['n', { n: 11 }],
    ['n', { n: 0.5 }],
    ['size', { size: '128x4096' }],
    ['size', { size: 'big' }],
    ['partial_images', { stream: true, partial_images: 4 }],
  ])('are refused for their %s: %j', async (name, more) => {
    const refused = client.post('/images/generations', { body: { ...cat, ...more } })
    await expect(refused).rejects.toThrow(`400 ${name}: the demo channel expects`)
  })

  it('do no harm to the demo when the reader leaves in the middle', async () => {
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
    const { snapshot } = await Catalog.load(database, keeper, silentLog)
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

/** The label in dots. Every picture must show it. */
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

/** The white parts of a picture, in dots of `scale` pixels. */
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
  // The picture has only whole dots.
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
