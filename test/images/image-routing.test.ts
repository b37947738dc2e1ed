import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { OfferTraits } from '../../src/catalog/traits/offer-traits.ts'
import { generate } from '../../src/images/generate.ts'
import type { Generation } from '../../src/images/generation.ts'
import type { ImageGateway } from '../../src/images/image-gateway.ts'
import type { Job } from '../../src/jobs/job.ts'
import { imageClient } from '../../src/protocols/index.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import type { Routing } from '../../src/routing/routing.ts'
import { fileStorage } from '../../src/storage/files.ts'
import { silentLog } from '../../src/telemetry/relay-log.ts'
import { Upstreams } from '../../src/upstream/upstreams.ts'
import { errorOfKind } from '../support/error-of-kind.ts'
import { type ImageUpstream, startImageUpstream } from '../support/image-upstream.ts'
import { localRouting } from '../support/local-routing.ts'
import { socketBounds } from '../support/socket-bounds.ts'

/** How making images affects its channels: two of them, `best` before `next`. */

let upstream: ImageUpstream
let directory: string
let routing: Routing
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
beforeAll(async () => {
  upstream = await startImageUpstream()
  directory = await mkdtemp(join(tmpdir(), 'tollgate-images-'))
})
afterAll(async () => {
  await upstreams.destroy()
  await upstream.close()
  await rm(directory, { recursive: true })
})
beforeEach(() => {
  routing = localRouting()
})
afterEach(() => routing.end())

function begin(
  prompt: string,
  { channels = ['best', 'next'], takeTurn, more = {}, baseUrl = upstream.url }: Beginning = {},
) {
  const offers = channels.map((name, at) => ({
    channel: {
      id: name,
      name,
      protocols: { 'openai-images': baseUrl },
      priority: 9 - at,
      weight: 1,
      allowPrivateAddress: true,
      credentials: [''],
    },
    upstreamModel: '*',
    traits: new OfferTraits({ vendor: undefined, stated: [], verdicts: [] }),
  }))
  const gateway = {
    bounds: { attemptsMax: 3, imageBytesMax: 100_000, imageAnswerBytesMax: 1_000_000 },
    catalog: {
      snapshot: {
        models: new Map([['two', { id: 'two', images: {}, offers }]]),
        groups: new Map([['group', { channels: ['*'] }]]),
      },
    },
    upstreams,
    routing,
    log: silentLog,
    images: { storage: fileStorage({ directory }) },
  } as unknown as ImageGateway
  const body = { model: 'two', prompt, n: 1, ...more }
  const generation: Generation = {
    job: { model: 'two', groupId: 'group' } as unknown as Job,
    request: imageClient.readRequest(Buffer.from(JSON.stringify(body)), {
      jsonDepthMax: 10,
      jsonValuesMax: 1000,
    }),
    attempts: [],
    previews: [],
    credentials: new Set(),
    running: new Set(),
    ended: undefined,
    trace: undefined,
    takeTurn: async ({ name }) => takeTurn?.(name) ?? 0,
    noteAttempts: async () => {},
    notePartial: async () => {},
  }
  return { generation, made: generate(gateway, generation) }
}

interface Beginning {
  channels?: string[]
  takeTurn?: (channel: string) => number
  more?: object
  baseUrl?: string
}

const asked = ({ attempts }: Generation) => attempts.map(({ channel }) => channel)
/** After this many failures the breaker is still closed: the next call decides. */
const failuresBefore = 4

function failOften(channel: string): void {
  for (let i = 0; i < failuresBefore; i++) routing.breakers.begin(channel, channel).end('failure', 'x')
}

test('a job waits for a busy channel and does not call a last resort', async () => {
  routing.breakers.begin('best', 'best').end('failure', 'x', 60_000)
  const { generation, made } = begin('busy', { takeTurn: (name) => (name === 'next' ? 500 : 0) })
  expect(await made).toMatchObject({ waitMs: 500, images: [] })
  expect(generation.attempts).toEqual([])
  // Without a busy channel to wait for, it calls the last resort.
  routing.breakers.begin('next', 'next').end('failure', 'x', 60_000)
  const alone = begin('nobody else')
  expect((await alone.made).images).toHaveLength(1)
  expect(asked(alone.generation)).toEqual(['best'])
})

test.each([
  ['before anything came', 'hang until cancelled', {}],
  ['when a preview had come', 'breaks:1 cancelled', { n: 2, stream: true, partial_images: 1 }],
])('a job that is cancelled %s does not affect the breaker of its channel', async (_when, prompt, more) => {
  failOften('best')
  const ended = errorOfKind('invalid_request', 'It was cancelled.', { fault: 'client' })
  const { generation, made } = begin(prompt, { more })
  const end = () => {
    generation.ended = ended
    for (const call of generation.running) call.abort(ended)
  }
  generation.notePartial = async () => end()
  if (prompt.startsWith('hang')) {
    await expect.poll(() => upstream.count(prompt)).toBe(1)
    end()
  }
  await made.catch(() => {})
  expect(asked(generation)).toEqual(['best'])
  // The call counted neither as a failure nor as a success: one more failure opens the breaker.
  expect(routing.breakers.whyNot('best')).toBeUndefined()
  routing.breakers.begin('best', 'best').end('failure', 'x')
  expect(routing.breakers.whyNot('best')).toBeDefined()
})

test('dead links are not a failure of the channel that gave them', async () => {
  for (let i = 0; i < 12; i++) {
    const { made } = begin('links deadlink:0', { channels: ['best'] })
    await expect(made).resolves.toMatchObject({ images: [], error: { kind: 'upstream_error' } })
  }
  expect(routing.breakers.whyNot('best')).toBeUndefined()
})

test('a channel that breaks off its answer was reached, and one that refuses the connection was not', async () => {
  const cut = begin('cut', { channels: ['best', 'next'] })
  await cut.made
  expect(asked(cut.generation)).toEqual(['best', 'next'])
  expect(cut.generation.attempts.map(({ status }) => status)).toEqual([200, 200])
})
