import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Channel } from '../../src/catalog/snapshot.ts'
import { OfferTraits } from '../../src/catalog/traits/offer-traits.ts'
import { generate } from '../../src/images/generate.ts'
import type { Generation } from '../../src/images/generation.ts'
import type { ImageGateway } from '../../src/images/image-gateway.ts'
import type { Job as KeptJob } from '../../src/jobs/job.ts'
import { imageClient } from '../../src/protocols/index.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { fileStorage } from '../../src/storage/files.ts'
import { Upstreams } from '../../src/upstream/upstreams.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import {
  freeKey,
  type ImageTestbed,
  imagesYaml,
  type Job,
  paidKey,
  startImageTestbed,
} from '../support/image-testbed.ts'
import { type ImageUpstream, png, startImageUpstream } from '../support/image-upstream.ts'
import { localRouting } from '../support/local-routing.ts'
import { socketBounds } from '../support/socket-bounds.ts'
import { patienceMs } from '../support/until.ts'

const channels = (upstream: string) => `
  - { name: best, priority: 9, protocols: { openai-images: ${upstream} }, api_keys: [ "" ], models: { two: best-two }, allow_private_address: true }
  - { name: next, priority: 1, protocols: { openai-images: ${upstream} }, api_keys: [ "" ], models: { two: next-two, mixed: next-mixed }, allow_private_address: true }
  - { name: first-chat, priority: 9, protocols: { openai-chat: ${upstream} }, api_keys: [ "" ], models: { mixed: chat-mixed }, allow_private_address: true }
  - { name: by-token, protocols: { openai-images: ${upstream} }, api_keys: [ "" ], models: [ by-token ], allow_private_address: true }
  - { name: turns, protocols: { openai-images: ${upstream} }, api_keys: [ "credential-of-turn-a", "credential-of-turn-b" ], models: [ turns ], allow_private_address: true }
`

const yaml = (upstream: string) =>
  imagesYaml(upstream, channels(upstream)).replace(
    'channels:',
    ['two', 'mixed', 'turns']
      .map((id) => `  - { id: ${id}, price: { image: "0.04" }, images: {} }\n`)
      .join('')
      .concat(
        '  - { id: by-token, context_length: 2000, max_output_tokens: 1000, price: { input: "0", output: "10" }, images: {} }\n',
      )
      .concat('channels:'),
  )

describe('images that were made count, even if others failed', () => {
  let bed: ImageTestbed
  beforeAll(async () => {
    const env = { IMAGE_BYTES_MAX: '100000', IMAGE_RUNS_MAX: '2' }
    bed = await startImageTestbed({ backend: 'postgres', role: 'all', yaml, env })
  })
  afterAll(() => bed?.close())

  /** The texts in the images of a job, and its cost. */
  async function outcome(body: Record<string, unknown>) {
    const id = await bed.submit(body)
    const job = await bed.ended(id)
    const texts: string[] = []
    for (const { url } of job.result?.data ?? []) {
      const image = Buffer.from(await (await fetch(url)).arrayBuffer())
      texts.push(image.subarray(png().length).toString())
    }
    const row = await bed.row(id)
    return { id, job, texts, cost: row?.cost_nano, images: row?.images }
  }

  const streamed = { stream: true, partial_images: 1 }

  test.each([
    ['the connection breaks', 'breaks:1', 'The connection to the upstream was lost.'],
    ['an error is told', 'tells:1', 'made to fail within'],
  ])('a stream in which %s after the first of two images delivers the one', async (_, word, why) => {
    const { job, texts, cost, images } = await outcome({ prompt: word, n: 2, ...streamed })
    expect(texts).toEqual([`${word} 0`])
    expect({ cost, images, status: job.status }).toEqual({
      cost: '40000000',
      images: 1,
      status: 'succeeded',
    })
    expect(job.attempts).toMatchObject([{ status: 200, error: { kind: 'upstream_error' } }])
    expect(job.attempts[0]?.error?.message).toContain(why)
    expect(bed.upstream.count(word)).toBe(1)
  })

  test('the next channel makes the images that a broken stream did not make, and none is made twice', async () => {
    const { job, texts, cost } = await outcome({ model: 'two', prompt: 'breaks:1 on', n: 2, ...streamed })
    expect(texts).toEqual(['breaks:1 on 0', 'breaks:1 on 0'])
    expect(cost).toBe('80000000')
    expect(job.attempts.map(({ channel }) => channel)).toEqual(['best', 'next'])
    const asked = bed.upstream.calls.filter(({ body }) => body.prompt === 'breaks:1 on')
    expect(asked.map(({ body }) => body.n)).toEqual([2, 1])
  })

  test('a stream that breaks before any image has a known cost of 0', async () => {
    const { job, cost, images } = await outcome({ prompt: 'breaks:0 previews:0', n: 2, ...streamed })
    expect(job).toMatchObject({ status: 'failed', result: null, cost_nano_usd: '0' })
    expect({ cost, images }).toEqual({ cost: '0', images: 0 })
    expect(bed.upstream.count('breaks:0 previews:0')).toBe(2)
  })

  test('a job that fails after a preview pays for the previewed image, once for all its runs', async () => {
    const { job, cost, images } = await outcome({ prompt: 'breaks:0 seen', n: 2, ...streamed })
    expect(job).toMatchObject({ status: 'failed', result: null, cost_nano_usd: '40000000' })
    expect(job.partial_images).toHaveLength(2)
    expect({ cost, images }).toEqual({ cost: '40000000', images: 1 })
    expect(bed.upstream.count('breaks:0 seen')).toBe(2)
    expect(await bed.differences()).toEqual([])
  })

  /** A job that is cancelled when the client has its previews. */
  async function cancelledWithPreviews(prompt: string, previews: number, more = {}, key = freeKey) {
    const id = await bed.submit({ prompt, stream: true, partial_images: 3, ...more }, key)
    const path = `/v1/images/generations/${id}`
    const shown = async () => ((await (await bed.call(path, { key })).json()) as Job).partial_images.length
    await expect.poll(shown, { timeout: patienceMs }).toBe(previews)
    await bed.call(path, { key, method: 'DELETE' })
    const job = await bed.ended(id, key)
    const row = await bed.row(id)
    const [entry] = await bed.database.sql`SELECT amount_nano FROM entries WHERE id = ${id}`
    return { status: job.status, job: job.cost_nano_usd, row: row?.cost_nano, images: row?.images, entry }
  }

  test.each([
    ['all previews of one image cost one image', 'rests:3', 3, {}, '40000000', 1],
    ['previews of two images cost two', 'rests:3 twice', 6, { n: 3 }, '80000000', 2],
    ['the size and quality that were asked for decide', 'rests:3 low', 3, { quality: 'low' }, '10000000', 1],
  ])('of a cancelled job %s', async (_, prompt, previews, more, cost, images) => {
    const paid = await cancelledWithPreviews(prompt, previews, more)
    expect(paid).toEqual({
      status: 'cancelled',
      job: cost,
      row: cost,
      images,
      entry: { amount_nano: `-${cost}` },
    })
    expect(await bed.differences()).toEqual([])
  })

  test('a previewed image that is charged by tokens costs its part of what was held', async () => {
    const more = { model: 'by-token', n: 2 }
    const { job, entry } = await cancelledWithPreviews('rests:3 tokens', 3, more, paidKey)
    // At most 1,000 tokens for each of two images, at $10 a million, and 3 for rounding.
    expect(job).toBe('10000003')
    expect(entry).toEqual({ amount_nano: '-10000003' })
    // Nothing was held of a tenant without a limit: the cost is not known.
    expect((await cancelledWithPreviews('rests:3 free', 3, more)).job).toBeNull()
    expect(await bed.differences()).toEqual([])
  })

  test('of four links, only the image of the dead one is missing', async () => {
    const { job, texts, cost } = await outcome({ prompt: 'links deadlink:1', n: 4 })
    expect(texts).toEqual(['linked', 'linked', 'linked'])
    expect(cost).toBe('120000000')
    expect(job.attempts[0]?.error?.message).toContain('responded with status 404')
    const dead = await outcome({ prompt: 'links deadlink:0' })
    expect(await bed.row(dead.id)).toMatchObject({ error_reason: 'upstream_image_link_failed' })
  })

  test.each([
    ['spoilt:0', 'not an image'],
    ['huge:0', 'more than 100000 bytes'],
  ])('of two images the one that cannot be kept (%s) is missing', async (word, why) => {
    const { job, texts, cost } = await outcome({ prompt: word, n: 2 })
    expect(texts).toEqual([`${word} 1`])
    expect(cost).toBe('40000000')
    expect(job.attempts[0]?.error?.message).toContain(why)
  })

  test('of six chat calls, the answered ones count', async () => {
    const { job, texts, cost } = await outcome({ model: 'chat-draw', prompt: 'calls:5', n: 6 })
    expect(texts.length).toBe(5)
    expect(cost).toBe('200000000')
    expect(job.attempts.filter(({ error }) => error !== null).length).toBe(1)
  })

  test('the client neither gets nor pays for images beyond the number that it asked for', async () => {
    const { texts, cost, images } = await outcome({ prompt: 'over:2', n: 1 })
    expect(texts).toEqual(['over:2 0'])
    expect({ cost, images }).toEqual({ cost: '40000000', images: 1 })
  })

  test('previews beyond the number asked for are not sent', async () => {
    const events = await bed.openai.images.generate({
      model: 'draw',
      prompt: 'previews:9',
      stream: true,
      partial_images: 2,
    })
    const types: string[] = []
    for await (const { type } of events) types.push(type)
    expect(types).toEqual([
      'image_generation.partial_image',
      'image_generation.partial_image',
      'image_generation.completed',
    ])
  })

  test('a stream delivers images that came as links', async () => {
    const answer = await bed.call('/v1/images/generations', {
      body: { model: 'draw', prompt: 'links', stream: true },
    })
    const [, data = ''] = /data: (.*)/.exec(await answer.text()) ?? []
    expect(JSON.parse(data)).toMatchObject({ b64_json: png('linked').toString('base64') })
  })

  test('the gateway reads an event without an end up to a bound', async () => {
    const { id, job } = await outcome({ prompt: 'endless', ...streamed })
    expect(await bed.row(id)).toMatchObject({ error_reason: 'upstream_image_unreadable' })
    expect(job.error?.message).toContain('more than 4194304 bytes in addition to its images')
  })

  test('a channel whose format cannot express the request is passed over', async () => {
    const { job, texts } = await outcome({ model: 'mixed', prompt: 'unsaid', size: '512x512' })
    expect(texts).toEqual(['unsaid 0'])
    expect(job.attempts.map(({ channel }) => channel)).toEqual(['next'])
  })

  test("a request that no channel's format can express is refused with the reason of the format", async () => {
    const answer = await bed.call('/v1/images/generations', {
      body: { model: 'chat-draw', prompt: 'never said', size: '512x512' },
    })
    const { error } = (await answer.json()) as { error: { param: string; message: string } }
    expect(answer.status).toBe(400)
    expect(error.param).toBe('size')
    expect(bed.upstream.calls.some(({ body }) => JSON.stringify(body).includes('never said'))).toBe(false)
  })

  test("fetching a link does not use a turn of the channel's credentials up", async () => {
    for (let i = 0; i < 3; i++) await outcome({ model: 'turns', prompt: 'links in turn' })
    const used = bed.upstream.calls.filter(({ body }) => body.prompt === 'links in turn')
    expect(used.map(({ authorization }) => authorization?.at(-1))).toEqual(['a', 'b', 'a'])
  })

  test('a running job that is cancelled has a known cost of 0', async () => {
    bed.upstream.hold()
    const id = await bed.submit({ prompt: 'held then cancelled' })
    await expect.poll(() => bed.upstream.count('held then cancelled'), { timeout: patienceMs }).toBe(1)
    await bed.call(`/v1/images/generations/${id}`, { method: 'DELETE' })
    expect(await bed.ended(id)).toMatchObject({ status: 'cancelled', cost_nano_usd: '0' })
    bed.upstream.release()
    expect(await bed.differences()).toEqual([])
  })

  test.each(['kept nowhere', 'links kept nowhere'])(
    'a storage failure is not a fault of the upstream (%s)',
    async (prompt) => {
      const images = join(bed.api.dataDir, 'images')
      await rename(images, `${images}-away`)
      await writeFile(images, '')
      try {
        const { job } = await outcome({ prompt })
        expect(job).toMatchObject({ status: 'failed', error: { kind: 'unavailable' }, cost_nano_usd: '0' })
        // Before the second run, the worker checks the storage, so that it does not pay the upstream again.
        expect(bed.upstream.count(prompt)).toBe(1)
      } finally {
        await rename(images, `${images}-blocked`)
        await rename(`${images}-away`, images)
      }
    },
  )
})

describe('the end of making images', () => {
  let upstream: ImageUpstream
  let directory: string
  const upstreams = new Upstreams(
    {
      ...socketBounds,
      upstreamConnectMs: 5_000,
      upstreamFirstByteMs: 5_000,
      upstreamIdleMs: 5_000,
      upstreamTotalMs: 10_000,
    },
    new ChannelLoad(1_000),
  )
  const routing = localRouting()
  beforeAll(async () => {
    upstream = await startImageUpstream()
    directory = await mkdtemp(join(tmpdir(), 'tollgate-images-'))
  })
  afterAll(async () => {
    await routing.end()
    await upstreams.destroy()
    await upstream.close()
    await rm(directory, { recursive: true })
  })

  /** Two channels in turn should make two images by a stream. */
  function begun(prompt: string, takeTurn: (generation: Generation, channel: Channel) => Promise<number>) {
    const channels = ['best', 'next'].map((name, at) => ({
      id: name,
      name,
      protocols: { 'openai-images': upstream.url },
      priority: 9 - at,
      weight: 1,
      allowPrivateAddress: true,
      credentials: [''],
    }))
    const model = {
      id: 'two',
      images: {},
      offers: channels.map((channel) => ({
        channel,
        upstreamModel: '*',
        traits: new OfferTraits({ vendor: undefined, stated: [], verdicts: [] }),
      })),
    }
    const gateway = {
      bounds: { attemptsMax: 3, imageBytesMax: 100_000, imageAnswerBytesMax: 1_000_000 },
      catalog: {
        snapshot: { models: new Map([['two', model]]), groups: new Map([['group', { channels: ['*'] }]]) },
      },
      upstreams,
      routing,
      images: { storage: fileStorage({ directory }) },
    } as unknown as ImageGateway
    const body = { model: 'two', prompt, n: 2, stream: true, partial_images: 1 }
    const bounds = { jsonDepthMax: 10, jsonValuesMax: 1000 }
    const generation: Generation = {
      job: { model: 'two', groupId: 'group' } as unknown as KeptJob,
      request: imageClient.readRequest(Buffer.from(JSON.stringify(body)), bounds),
      attempts: [],
      previews: [],
      credentials: new Set(),
      running: new Set(),
      ended: undefined,
      trace: undefined,
      takeTurn: (channel) => takeTurn(generation, channel),
      noteAttempts: async () => {},
      notePartial: async () => {},
    }
    return generate(gateway, generation)
  }

  const away = errorOfKind('unavailable', 'Postgres is down.')

  test('when takeTurn fails, the images made before are kept', async () => {
    const made = await begun('breaks:1 then away', async (_, { name }) => {
      if (name === 'next') throw away
      return 0
    })
    expect(made.images.length).toBe(1)
    expect(made.target?.channel.name).toBe('best')
    expect(made.waitMs).toBeUndefined()
    expect(upstream.count('breaks:1 then away')).toBe(1)
  })

  test('when takeTurn fails before any image was made, generate rejects', async () => {
    await expect(begun('never asked', () => Promise.reject(away))).rejects.toBe(away)
  })

  test('an ended job keeps its images, and calls no other channel', async () => {
    const ended = errorOfKind('unavailable', 'It is over.')
    const wanted = (prompt: string) =>
      begun(prompt, async (generation) => {
        // The job ends while the call runs, as when the worker loses the lease.
        generation.notePartial = async () => {
          generation.ended = ended
        }
        return 0
      })
    expect((await wanted('breaks:1 then over')).images.length).toBe(1)
    expect(upstream.count('breaks:1 then over')).toBe(1)
    await expect(wanted('breaks:0 then over')).rejects.toBe(ended)
    expect(upstream.count('breaks:0 then over')).toBe(1)
  })
})
