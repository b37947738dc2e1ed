import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readBody } from '../../src/http/body.ts'
import { BodyMemory } from '../../src/http/body-memory.ts'
import { until } from '../support/until.ts'

/** The memory of bodies has one bound for the process and one for each key. */

const bodyBytesMax = 1_000_000
const bounds = {
  bodiesBytesMax: 3_000_000,
  keyBodiesBytesMax: 2_000_000,
  decodedBytesMax: 1_500_000,
  bodyBytesMax,
}

function aRequest(headers: Record<string, string>): IncomingMessage {
  const request = new IncomingMessage(new Socket())
  request.headers = headers
  return request
}

/** A request of a key, which begins to read its body. */
function reading(memory: BodyMemory, key: string, headers: Record<string, string>) {
  const request = aRequest(headers)
  const share = memory.begin(key)
  const body = readBody(request, bodyBytesMax, share)
  // Each test looks at it later.
  body.catch(() => {})
  return { request, share, body }
}

const large = { 'content-length': '800000' }
const chunked = { 'transfer-encoding': 'chunked' }
const ofKey = { kind: 'rate_limited', retryAfterSeconds: 1 }
const ofProcess = { kind: 'unavailable', retryAfterSeconds: 1 }

test('a declared length counts before its first byte, and one key cannot take the room of others', async () => {
  const memory = new BodyMemory(bounds)
  const unfinished = Array.from({ length: 20 }, () => reading(memory, 'greedy', large))
  const refused = unfinished.slice(2)
  for (const { body } of refused) {
    await expect(body).rejects.toMatchObject(ofKey)
    await expect(body).rejects.toMatchObject({ reason: 'key_body_memory_full' })
  }
  expect(memory.bytesOf('greedy')).toBe(1_600_000)
  const other = reading(memory, 'other', large)
  expect(memory.bytes).toBe(2_400_000)
  await expect(reading(memory, 'third', large).body).rejects.toMatchObject(ofProcess)
  other.request.push(Buffer.alloc(800_000))
  other.request.complete = true
  other.request.push(null)
  expect((await other.body)?.bytes).toHaveLength(800_000)
  expect(memory.bytesOf('other')).toBe(800_000)
  for (const { request, body } of unfinished.slice(0, 2)) {
    request.destroy()
    expect(await body).toBeUndefined()
  }
  for (const { share } of [...unfinished, other]) share.release()
  expect([memory.bytes, memory.bytesOf('greedy'), memory.bytesOf('other')]).toEqual([0, 0, 0])
})

test('a body in chunks counts as it arrives, and is refused in its middle', async () => {
  const memory = new BodyMemory({ ...bounds, keyBodiesBytesMax: 1_000_000 })
  const first = reading(memory, 'key', chunked)
  first.request.push(Buffer.alloc(600_000))
  await until(() => memory.bytes === 600_000)
  const second = reading(memory, 'key', chunked)
  second.request.push(Buffer.alloc(300_000))
  second.request.push(Buffer.alloc(300_000))
  await expect(second.body).rejects.toMatchObject(ofKey)
  expect(memory.bytes).toBe(900_000)
  second.share.release()
  expect(memory.bytes).toBe(600_000)
  first.share.release()
  expect(memory.bytes).toBe(0)
})

test('a decoded body counts instead of its encoded bytes, and has a bound of its own', async () => {
  const memory = new BodyMemory(bounds)
  const encoded = gzipSync(Buffer.alloc(900_000))
  const ask = () => {
    const asked = reading(memory, 'key', {
      'content-encoding': 'gzip',
      'content-length': String(encoded.length),
    })
    asked.request.push(encoded)
    asked.request.complete = true
    asked.request.push(null)
    return asked
  }
  const first = ask()
  expect((await first.body)?.bytes).toHaveLength(900_000)
  expect(memory.bytes).toBe(900_000)
  const second = ask()
  await expect(second.body).rejects.toMatchObject({ reason: 'decoded_body_memory_full' })
  second.share.release()
  expect(memory.bytes).toBe(900_000)
  first.share.release()
  expect(memory.bytes).toBe(0)
  const third = ask()
  expect((await third.body)?.bytes).toHaveLength(900_000)
})

test('a share counts a body in place of what it counted before', async () => {
  const memory = new BodyMemory(bounds)
  const share = memory.begin('key')
  share.grow(1_999_000)
  const request = aRequest(large)
  const body = readBody(request, bodyBytesMax, share)
  expect(memory.bytes).toBe(800_000)
  share.set(900_000)
  expect(() => share.set(2_000_001)).toThrow(expect.objectContaining(ofKey))
  expect(memory.bytesOf('key')).toBe(900_000)
  request.destroy()
  expect(await body).toBeUndefined()
  share.release()
  expect(memory.bytes).toBe(0)
})

test('a released share counts nothing any more, whatever still arrives', () => {
  const memory = new BodyMemory(bounds)
  const share = memory.begin('key')
  share.grow(1_000)
  share.release()
  share.release()
  share.grow(1_000)
  share.growDecoded(1_000)
  share.set(1_000)
  share.shrink(1_000)
  expect(memory.bytes).toBe(0)
})

test('by default a key may use half, or one whole body where that is more', () => {
  const half = new BodyMemory({ ...bounds, keyBodiesBytesMax: 0 })
  half.begin('key').grow(1_500_000)
  expect(() => half.begin('key').grow(1)).toThrow(/1500000 bytes/)
  const small = new BodyMemory({ ...bounds, keyBodiesBytesMax: 0, bodiesBytesMax: bodyBytesMax })
  small.begin('key').grow(bodyBytesMax)
  expect(() => small.begin('key').grow(1)).toThrow(/1000000 bytes/)
})
