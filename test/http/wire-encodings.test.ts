import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createDeflate,
  createDeflateRaw,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { freeKey } from '../support/gateway-yaml.ts'
import {
  answerBytes,
  chunkBytes,
  chunkedHead,
  type RawRequest,
  type RawUpstream,
  startRawUpstream,
} from '../support/raw-upstream.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { chatAnswer, chatStream } from '../support/upstream-plans.ts'

/** Encoded bodies: from upstreams that encode unasked, and from clients. */

const messages = [{ role: 'user', content: 'Hello' }]
const json = String(chatAnswer().body)
const events = [...(chatStream({ includeUsage: true }).chunks as Iterable<string>)]
const bodyBytesMax = 200_000
const decodedBytesMax = 300_000
const answerBytesMax = 300_000

const encoders = {
  gzip: { name: 'gzip', whole: gzipSync, stream: () => createGzip() },
  'x-gzip': { name: 'X-GZip', whole: gzipSync, stream: () => createGzip() },
  deflate: { name: 'deflate', whole: deflateSync, stream: () => createDeflate() },
  'deflate without its frame': { name: 'deflate', whole: deflateRawSync, stream: () => createDeflateRaw() },
  br: { name: 'br', whole: brotliCompressSync, stream: () => createBrotliCompress() },
  zstd: { name: 'zstd', whole: zstdCompressSync, stream: () => createZstdCompress() },
} as const
const names = Object.keys(encoders) as (keyof typeof encoders)[]

let raw: RawUpstream
let bed: Testbed
let act: (request: RawRequest) => void

beforeAll(async () => {
  raw = await startRawUpstream({ onRequest: (request) => act(request) })
  bed = await startTestbed({
    yaml: () => `
models: [ { id: '*' } ]
channels: [ { name: raw, protocols: { openai-chat: "${raw.url}/v1" }, api_keys: [ k ], models: '*', allow_private_address: true } ]
groups: [ { name: default, models: ['*'], channels: ['*'] } ]
tenants: [ { name: t, keys: [ { name: k, group: default, secret: ${freeKey} } ] } ]
`,
    env: {
      BODY_BYTES_MAX: String(bodyBytesMax),
      DECODED_BYTES_MAX: String(decodedBytesMax),
      WATCHED_ANSWER_BYTES_MAX: String(answerBytesMax),
      UPSTREAM_IDLE_MS: '3000',
      BREAKER_FAILURES: '1000',
    },
  })
})
afterAll(async () => {
  await bed.close()
  await raw.close()
})
beforeEach(() => {
  raw.requests.length = 0
  act = ({ socket }) => void socket.write(answerBytes(json))
})

test.for(names)('an answer in %s reaches its client decoded, with its usage on the row', async (name) => {
  const { name: said, whole } = encoders[name]
  act = ({ socket }) =>
    void socket.write(answerBytes(whole(json), { headers: `content-encoding: ${said}\r\n` }))
  const response = await bed.chat({ model: 'm', messages })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(response.headers.get('content-length')).toBe(String(json.length))
  expect(await response.text()).toBe(json)
  expect(raw.requests[0]?.head.toLowerCase()).toContain('accept-encoding: identity')
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    outcome: 'succeeded',
    usage_source: 'upstream',
    output_tokens: 5,
  })
})

test.for(names)('a stream in %s reaches its client event by event, while it arrives', async (name) => {
  const { name: said, stream } = encoders[name]
  const seen = events.map(() => Promise.withResolvers<void>())
  act = async ({ socket }) => {
    socket.write(chunkedHead('text/event-stream', `content-encoding: ${said}\r\n`))
    const encoder = stream()
    encoder.on('data', (bytes: Buffer) => void socket.write(chunkBytes(bytes)))
    encoder.on('end', () => void socket.write('0\r\n\r\n'))
    for (const [index, event] of events.entries()) {
      encoder.write(event)
      await new Promise<void>((resolve) => encoder.flush(resolve))
      // The upstream sends the next one only when the client has this one, but the last two together.
      if (index < events.length - 3) await seen[index]?.promise
    }
    encoder.end()
  }
  const response = await bed.chat({
    model: 'm',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  })
  expect(response.headers.get('content-encoding')).toBeNull()
  let text = ''
  for await (const bytes of response.body ?? []) {
    text += Buffer.from(bytes).toString()
    for (const [index] of events.entries()) {
      if (text.length >= events.slice(0, index + 1).join('').length) seen[index]?.resolve()
    }
  }
  expect(text).toBe(events.join(''))
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    outcome: 'succeeded',
    stream_end: 'complete',
    usage_source: 'upstream',
  })
})

const broken: [how: string, bytes: (whole: Buffer) => Buffer][] = [
  ['cut off', (whole) => whole.subarray(0, -9)],
  ['damaged', (whole) => Buffer.concat([whole.subarray(0, 20), Buffer.from('!!!!!!!!'), whole.subarray(28)])],
  ['with something after its end', (whole) => Buffer.concat([whole, Buffer.from('after')])],
]

test.for(names.flatMap((name) => broken.map(([how, bytes]) => ({ name, how, bytes }))))(
  'an answer in $name, $how, counts as a failure of the upstream',
  async ({ name, bytes }) => {
    const { name: said, whole } = encoders[name]
    act = ({ socket }) =>
      void socket.write(answerBytes(bytes(whole(json)), { headers: `content-encoding: ${said}\r\n` }))
    const response = await bed.chat({ model: 'm', messages })
    expect(response.status).toBe(502)
    expect(response.headers.get('x-tollgate-reason')).toBe('upstream_http_invalid')
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
      status: 502,
      outcome: 'failed',
      error_kind: 'upstream_error',
    })
  },
)

test('when the connection breaks within an encoded stream, the client gets the events so far, and an error', async () => {
  act = ({ socket }) => {
    const encoder = createGzip()
    encoder.on('data', (bytes: Buffer) => void socket.write(chunkBytes(bytes)))
    socket.write(chunkedHead('text/event-stream', 'content-encoding: gzip\r\n'))
    encoder.write(events.slice(0, 3).join(''))
    encoder.flush(() => socket.end())
  }
  const response = await bed.chat({ model: 'm', messages, stream: true })
  const text = await response.text()
  expect(text).toContain('token-1')
  expect(text).toMatch(/"error":\{"message":"The connection to the upstream was lost/)
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    outcome: 'failed',
    stream_end: 'upstream_cut',
    usage_source: 'estimated',
  })
})

test.for(['gzip, gzip', 'br, gzip', 'compress', 'aes128gcm'])(
  'an answer in "%s" counts as a failure of the upstream',
  async (encoding) => {
    act = ({ socket }) =>
      void socket.write(answerBytes(json, { headers: `content-encoding: ${encoding}\r\n` }))
    const response = await bed.chat({ model: 'm', messages })
    expect(response.status).toBe(502)
    expect(response.headers.get('x-tollgate-reason')).toBe('upstream_http_invalid')
  },
)

test.for(names)(
  'an answer in %s whose decoded size exceeds the watched size is broken off, and so is its upstream call',
  async (name) => {
    const { name: said, whole } = encoders[name]
    const swollen = whole(JSON.stringify({ ...JSON.parse(json), padding: ' '.repeat(50_000_000) }))
    expect(swollen.length).toBeLessThan(answerBytesMax)
    act = ({ socket }) =>
      void socket.write(answerBytes(swollen, { headers: `content-encoding: ${said}\r\n` }))
    const response = await bed.chat({ model: 'm', messages })
    expect(response.status).toBe(200)
    await expect(response.text()).rejects.toThrow(/terminated/)
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'failed',
      stream_end: 'upstream_cut',
      error_message: `The upstream's answer is larger than the limit of ${answerBytesMax} bytes. Request a shorter answer.`,
    })
  },
)

test.for(names.flatMap((name) => [true, false].map((asks) => ({ name, asks }))))(
  'a stream in $name whose decoded size exceeds the watched size is broken off, and so is its upstream call; asked for: $asks',
  async ({ name, asks }) => {
    const { name: said, whole } = encoders[name]
    const swollen = whole(`${events.slice(0, 3).join('')}${`: ${' '.repeat(1_000_000)}\n\n`.repeat(50)}`)
    const ended = Promise.withResolvers<void>()
    act = ({ socket }) => {
      socket.once('close', () => ended.resolve())
      socket.write(chunkedHead('text/event-stream', `content-encoding: ${said}\r\n`))
      socket.write(chunkBytes(swollen))
    }
    const response = await bed.chat({ model: 'm', messages, stream: asks })
    const text = await response.text().catch(() => '')
    expect(text.length).toBeLessThan(answerBytesMax + 1_000)
    if (asks) expect(text).toContain(`larger than the limit of ${answerBytesMax} bytes`)
    await ended.promise
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
      outcome: 'failed',
      error_message: `The upstream's answer is larger than the limit of ${answerBytesMax} bytes. Request a shorter answer.`,
    })
  },
)

test('an encoded error is read like any other', async () => {
  const error = { message: 'No such thing.', type: 'invalid_request_error', param: 'x', code: null }
  act = ({ socket }) =>
    void socket.write(
      answerBytes(gzipSync(JSON.stringify({ error })), {
        status: '400 Bad Request',
        headers: 'content-encoding: gzip\r\n',
      }),
    )
  const response = await bed.chat({ model: 'm', messages })
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({ error })
})

test.for(names)('a request in %s reaches the upstream and the usage log decoded', async (name) => {
  const { name: said, whole } = encoders[name]
  const sent = JSON.stringify({ model: 'm', messages, user: 'é'.repeat(30_000) })
  const response = await bed.chat(whole(sent), { headers: { 'content-encoding': said } })
  expect(response.status).toBe(200)
  await response.text()
  const [seen] = raw.requests
  expect(seen?.body.toString()).toBe(sent)
  expect(seen?.head).not.toMatch(/content-encoding/i)
  expect(seen?.head).toContain(`content-length: ${Buffer.byteLength(sent)}`)
  const id = response.headers.get('x-request-id')
  expect(await bed.row(id)).toMatchObject({ requested_model: 'm', outcome: 'succeeded' })
  const [payload] = await bed.database.sql`SELECT body FROM request_payloads WHERE request_id = ${id}`
  expect(payload?.body).toContain('"messages":[{"role":"user","content":"Hello"}]')
})

test.for(names.flatMap((name) => broken.map(([how, bytes]) => ({ name, how, bytes }))))(
  'a request in $name, $how, is a 400 that says so, and a row',
  async ({ name, bytes }) => {
    const { name: said, whole } = encoders[name]
    const body = bytes(whole(JSON.stringify({ model: 'm', messages, user: 'abcdefghijklmnopqrstuvwxyz' })))
    const response = await bed.chat(body, { headers: { 'content-encoding': said } })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        type: 'invalid_request_error',
        message: expect.stringMatching(/is not valid .*or is incomplete/),
      },
    })
    expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
      status: 400,
      outcome: 'refused',
      error_kind: 'invalid_request',
    })
    expect(raw.requests).toHaveLength(0)
  },
)

test.for(names)('a request in %s whose decoded size exceeds the bound is a 413, and a row', async (name) => {
  const { name: said, whole } = encoders[name]
  const body = whole(JSON.stringify({ model: 'm', messages, user: 'x'.repeat(100_000_000) }))
  expect(body.length).toBeLessThan(bodyBytesMax)
  const response = await bed.chat(body, { headers: { 'content-encoding': said } })
  expect(response.status).toBe(413)
  expect(await response.text()).toContain(`${bodyBytesMax} bytes`)
  expect(await bed.row(response.headers.get('x-request-id'))).toMatchObject({
    status: 413,
    outcome: 'refused',
    error_kind: 'request_too_large',
  })
})

test('the decoded bodies of running requests have a bound together: beyond it 503 and a row, and room again when one ends', async () => {
  const sent = (model: string) =>
    bed.chat(gzipSync(JSON.stringify({ model, messages, user: 'x'.repeat(190_000) })), {
      headers: { 'content-encoding': 'gzip' },
    })
  const held = Promise.withResolvers<RawRequest>()
  act = (request) => held.resolve(request)
  const running = sent('held')
  const { socket } = await held.promise
  act = ({ socket }) => void socket.write(answerBytes(json))
  for (let i = 0; i < 3; i++) {
    const refused = await sent('m')
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(await refused.json()).toMatchObject({
      error: { code: 'unavailable', message: expect.stringContaining(`${decodedBytesMax} bytes`) },
    })
    expect(await bed.row(refused.headers.get('x-request-id'))).toMatchObject({
      status: 503,
      error_kind: 'unavailable',
      attempt_count: 0,
    })
  }
  const small = await bed.chat(gzipSync(JSON.stringify({ model: 'm', messages })), {
    headers: { 'content-encoding': 'gzip' },
  })
  expect(small.status).toBe(200)
  // The upstream breaks off. The memory of the unsent body is not reused, but it counts no more.
  socket.destroy()
  expect((await running).status).toBe(502)
  for (let i = 0; i < 3; i++) expect((await sent('m')).status).toBe(200)
})

test('a frame that needs more memory than the standard allows is refused', async () => {
  const body = zstdCompressSync(Buffer.from(JSON.stringify({ model: 'm', messages })), {
    params: { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_contentSizeFlag]: 0 },
    pledgedSrcSize: undefined,
  })
  const header = Buffer.from(body)
  // The byte after the magic number and the descriptor: a window of 2^27 bytes.
  header[4] = 0
  header[5] = (27 - 10) << 3
  const response = await bed.chat(header, { headers: { 'content-encoding': 'zstd' } })
  expect(response.status).toBe(400)
  await response.text()
})

test.for(['gzip, gzip', 'br,gzip', 'compress', 'gzip;q=1', 'identity, gzip'])(
  'a request in "%s" is a 400 that lists the accepted encodings',
  async (encoding) => {
    const response = await bed.chat(gzipSync('{}'), { headers: { 'content-encoding': encoding } })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: {
        message: expect.stringMatching(/gzip, deflate, br, zstd, or send the body unencoded/),
        param: 'content-encoding',
      },
    })
  },
)
