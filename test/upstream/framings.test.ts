import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { GatewayError } from '../../src/canonical/error.ts'
import { settingsOfChannels } from '../../src/db/settings/channel-settings.ts'
import { defaultsOf } from '../../src/db/settings/setting.ts'
import { ChannelLoad } from '../../src/routing/channel-load.ts'
import { CallHandler, type Listener } from '../../src/upstream/upstream-call.ts'
import { type ResponseHeaders, Upstreams } from '../../src/upstream/upstreams.ts'
import { amazonFrame, amazonFraming, amazonType } from '../support/amazon-framing.ts'
import { answerBytes, type RawUpstream, startRawUpstream } from '../support/raw-upstream.ts'
import { socketBounds } from '../support/socket-bounds.ts'

/** Streams whose frames are not server-sent events, on real sockets. */

const bounds = {
  ...socketBounds,
  upstreamFrameBytesMax: 1000,
  upstreamConnectMs: 5_000,
  upstreamFirstByteMs: 5_000,
  upstreamIdleMs: 5_000,
  upstreamTotalMs: 10_000,
}
const ways = { framings: new Map([[amazonType, amazonFraming]]) }
const frames = Buffer.concat(['{"text":"a"}', '{"text":"ä"}', '[DONE]'].map(amazonFrame))
const events = 'data: {"text":"a"}\n\ndata: {"text":"ä"}\n\ndata: [DONE]\n\n'

let raw: RawUpstream
let pieces: Buffer[]
let upstreams: Upstreams

beforeAll(async () => {
  raw = await startRawUpstream({
    async onRequest({ socket }) {
      for (const piece of pieces) {
        socket.write(piece)
        await new Promise((written) => setImmediate(() => setImmediate(written)))
      }
    },
  })
  upstreams = new Upstreams(bounds, new ChannelLoad(1_000), new Map(), undefined, ways)
})
afterAll(async () => {
  await upstreams.destroy()
  await raw.close()
})
afterEach(() => {
  pieces = []
})

interface Heard {
  headers: ResponseHeaders
  text: string
  chunks: Buffer[]
  error: GatewayError | undefined
}

function listen(): { listener: Listener; over: Promise<Heard> } {
  const { promise: over, resolve } = Promise.withResolvers<Heard>()
  const heard: Heard = { headers: {}, text: '', chunks: [], error: undefined }
  const end = (error?: GatewayError) =>
    resolve({ ...heard, text: Buffer.concat(heard.chunks).toString(), error })
  const listener: Listener = {
    start(_call, _status, headers) {
      heard.headers = headers
    },
    data: (_call, chunk) => void heard.chunks.push(chunk),
    end,
    fail: end,
  }
  return { listener, over }
}

function ask(...answer: Buffer[]): Promise<Heard> {
  pieces = answer
  const { listener, over } = listen()
  const channel = {
    id: '00000000-0000-7000-8000-000000000001',
    name: 'raw',
    protocols: {},
    ...defaultsOf(settingsOfChannels),
    allowPrivateAddress: true,
    credentials: [''],
    vendor: undefined,
  }
  upstreams.call(
    { channel, credential: { secret: '', name: '' }, protocol: 'openai-chat', baseUrl: raw.url },
    { method: 'POST', path: '/chat', body: Buffer.from('{}'), stream: true, headers: [] },
    listener,
  )
  return over
}

test('a stream in another framing is read as server-sent events, wherever its bytes are split', async () => {
  const answer = answerBytes(frames, { type: `${amazonType}; charset=x` })
  const bodyAt = answer.length - frames.length
  for (let split = bodyAt; split < answer.length; split += 7) {
    const heard = await ask(answer.subarray(0, split), answer.subarray(split))
    expect(heard).toMatchObject({ text: events, error: undefined })
    expect(heard.headers['content-type']).toBe('text/event-stream')
    expect(heard.headers).not.toHaveProperty('content-length')
  }
})

test('so is one that is compressed', async () => {
  const headers = 'content-encoding: gzip\r\n'
  expect(await ask(answerBytes(gzipSync(frames), { type: amazonType, headers }))).toMatchObject({
    text: events,
  })
})

const corrupt = Buffer.from(frames)
corrupt[20] = 0
test.each([
  [
    'is cut off',
    frames.subarray(0, -3),
    'upstream_ended_early',
    events.slice(0, events.indexOf('data: [DONE]')),
  ],
  ['is corrupt', corrupt, 'upstream_answer_unreadable', ''],
  ['is too large', amazonFrame('x'.repeat(1000)), 'upstream_event_too_large', ''],
])('a frame that %s ends the answer with an error', async (_how, body, reason, text) => {
  expect(await ask(answerBytes(body, { type: amazonType }))).toMatchObject({ error: { reason }, text })
})

test('an answer of another type passes unchanged, even if its bytes look like frames', async () => {
  const heard = await ask(answerBytes(frames, { type: 'application/json' }))
  expect(Buffer.concat(heard.chunks).equals(frames)).toBe(true)
})

test('the chunks of server-sent events are passed on themselves, not copied', async () => {
  const { listener, over } = listen()
  const call = new CallHandler(
    listener,
    10_000,
    () => {},
    () => undefined,
  )
  const controller = {} as Parameters<CallHandler['onResponseStart']>[0]
  const chunks = [Buffer.from('data: a\n'), Buffer.from('\ndata: b\n\n')]
  call.onResponseStart(controller, 200, { 'content-type': 'text/event-stream' })
  for (const chunk of chunks) call.onResponseData(controller, chunk)
  call.onResponseEnd()
  const heard = await over
  expect(heard.chunks).toHaveLength(2)
  for (const [at, chunk] of heard.chunks.entries()) expect(chunk).toBe(chunks[at])
})
