import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { until, untilSteady } from '../support/until.ts'

/** HTTP bodies, decoded ones and frames are on one account, as their bytes arrive. */

const MiB = 1024 * 1024
const keyBytesMax = 16 * MiB

let bed: Testbed
beforeAll(async () => {
  bed = await startTestbed({
    env: {
      BODY_BYTES_MAX: String(8 * MiB),
      KEY_BODIES_BYTES_MAX: String(keyBytesMax),
      BODY_THREAD_BYTES: '100000000',
      KEEP_ALIVE_MS: '4000',
    },
  })
})
afterAll(() => bed?.close())

/** A handwritten WebSocket, which sends what no client library would. */
async function open(key = freeKey): Promise<Socket> {
  const { hostname, port } = new URL(bed.tollgate.url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => {})
  socket.write(
    `GET /v1/responses HTTP/1.1\r\nhost: ${hostname}\r\nauthorization: Bearer ${key}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
  )
  const [first] = (await once(socket, 'data')) as [Buffer]
  expect(first.toString('latin1')).toContain('101 Switching Protocols')
  return socket
}

/** The beginning of a text frame; all its bytes are masked with zeros. */
function beginning(announced: number, isLast = true): Buffer {
  const head = Buffer.alloc(14)
  head[0] = isLast ? 0x81 : 0x01
  head[1] = 0xff
  head.writeBigUInt64BE(BigInt(announced), 2)
  return head
}

const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0])

async function send(socket: Socket, bytes: number): Promise<void> {
  const piece = Buffer.alloc(MiB, ' ')
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  for (let sent = 0; sent < bytes && !socket.destroyed; sent += piece.length) {
    await Promise.race([closed, new Promise<void>((resolve) => socket.write(piece, () => resolve()))])
  }
}

const counted = () => bed.tollgate.context.bodies.bytes

test('60 connections of one key, each with a frame of 30 MB that does not end, hold no more than its key may', async () => {
  const sockets = await Promise.all(Array.from({ length: 60 }, () => open()))
  const heard = sockets.map((socket) => {
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
    })
    return () => text
  })
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, counted())
  }, 5)
  onTestFinished(() => clearInterval(watch))
  await Promise.all(
    sockets.map(async (socket) => {
      socket.write(beginning(30 * MiB))
      await send(socket, 3 * MiB)
    }),
  )
  const refused = () => heard.filter((text) => text().includes("this key's running requests take up"))
  await until(() => sockets.filter(({ destroyed }) => destroyed).length > 40)
  expect(refused().length).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(keyBytesMax)
  // Another key goes on meanwhile.
  const other = await fetch(`${bed.tollgate.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${paidKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'priced', max_tokens: 1, messages: [{ role: 'user', content: 'x' }] }),
  })
  expect(other.status).toBe(200)
  for (const socket of sockets) socket.destroy()
  await until(() => counted() === 0)
})

test.each<[how: string, end: (socket: Socket) => unknown]>([
  ['it is closed', (socket) => socket.end()],
  ['it is reset', (socket) => socket.resetAndDestroy()],
  [
    'its client sends a frame that closes it',
    (socket) => socket.write(Buffer.from([0x88, 0x80, 0, 0, 0, 0])),
  ],
  ['its client falls silent', (socket) => socket.pause()],
  ['a frame breaks the protocol', (socket) => socket.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]))],
  ['its message grows too large', (socket) => socket.write(beginning(40 * MiB).fill(0x80, 0, 1))],
])('what a connection had sent of a message counts until %s', async (_how, end) => {
  const socket = await open()
  socket.write(Buffer.concat([beginning(2 * MiB, false), Buffer.alloc(2 * MiB, ' '), pong]))
  await until(() => counted() >= 2 * MiB)
  end(socket)
  await until(() => counted() === 0)
})

test('a message that has come whole counts until its answer is there, and no longer', async () => {
  const release = Promise.withResolvers<void>()
  const before = bed.upstream.requests.length
  bed.upstream.script(async () => {
    await release.promise
    return { status: 500, chunks: ['{"error":{"message":"no"}}'], ending: 'end' }
  })
  const socket = await open()
  const text = JSON.stringify({ type: 'response.create', model: 'any', store: false, input: 'x'.repeat(MiB) })
  socket.write(Buffer.concat([beginning(text.length), Buffer.from(text)]))
  await bed.upstream.arrived(before + 1)
  expect(counted()).toBeGreaterThan(MiB)
  expect(counted()).toBeLessThan(1.1 * MiB)
  release.resolve()
  await until(() => counted() === 0)
})

test.each<[what: string, headers: Record<string, string>, body: Buffer]>([
  ['a body over HTTP', {}, Buffer.alloc(7 * MiB, ' ')],
  [
    'a body that is small until it is decoded',
    { 'content-encoding': 'gzip' },
    gzipSync(Buffer.alloc(7 * MiB, ' ')),
  ],
])('frames and %s share one bound', async (_what, headers, body) => {
  const ask = async () => {
    const response = await fetch(`${bed.tollgate.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${freeKey}`, 'content-type': 'application/json', ...headers },
      body: new Uint8Array(body),
    })
    await response.arrayBuffer()
    return response.status
  }
  const sockets = await Promise.all([open(), open()])
  for (const socket of sockets) {
    socket.write(beginning(7 * MiB))
    await send(socket, 5 * MiB)
  }
  await until(() => counted() >= 10 * MiB)
  expect(await ask()).toBe(429)
  for (const socket of sockets) socket.destroy()
  await until(() => counted() === 0)
  // It is not JSON, but there is room for it.
  expect(await ask()).toBe(400)
  await until(() => counted() === 0)
})

test('a client that pings and takes no answer is no longer read', async () => {
  const socket = await open()
  socket.pause()
  const pings = Buffer.concat(
    Array.from({ length: 1_000 }, () =>
      Buffer.concat([Buffer.from([0x89, 0xfd, 0, 0, 0, 0]), Buffer.alloc(125)]),
    ),
  )
  const flood = setInterval(() => {
    for (let at = 0; at < 20 && socket.writableLength < MiB; at++) socket.write(pings)
  }, 1)
  onTestFinished(() => clearInterval(flood))
  const taken = await untilSteady(() => socket.bytesWritten - socket.writableLength, 500)
  expect(taken).toBeGreaterThan(MiB)
  expect(taken).toBeLessThan(32 * MiB)
})
