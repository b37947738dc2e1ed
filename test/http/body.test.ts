import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { allocateBody, readBody } from '../../src/http/body.ts'
import { BodyMemory } from '../../src/http/body-memory.ts'

const large = 200_000

const bounds = {
  bodiesBytesMax: 10_000_000,
  keyBodiesBytesMax: 0,
  decodedBytesMax: 1,
  bodyBytesMax: 1_000_000,
}
const share = () => new BodyMemory(bounds).begin('key')

async function bodyOf(fill: string) {
  const request = new IncomingMessage(new Socket())
  request.headers = { 'content-length': String(large) }
  const reading = readBody(request, 1_000_000, share())
  for (let sent = 0; sent < large; sent += 50_000) request.push(Buffer.alloc(50_000, fill))
  request.complete = true
  request.push(null)
  const body = await reading
  if (body === undefined) throw new Error('no body was read')
  return body
}

it('the memory of a body is reused after its release, and not before', async () => {
  const first = await bodyOf('a')
  const second = await bodyOf('b')
  expect(first.bytes.equals(Buffer.alloc(large, 'a'))).toBe(true)
  expect(second.bytes.equals(Buffer.alloc(large, 'b'))).toBe(true)
  first.release()
  first.release()
  const third = await bodyOf('c')
  const fourth = await bodyOf('d')
  expect(third.bytes.buffer).toBe(first.bytes.buffer)
  expect(fourth.bytes.buffer).not.toBe(first.bytes.buffer)
  expect(second.bytes.equals(Buffer.alloc(large, 'b'))).toBe(true)
})

it('the memory of a chunk is freed when its bytes have been copied, unless it is a part of a larger one', async () => {
  const whole = Buffer.alloc(large, 'b')
  const chunks = [Buffer.alloc(50_000, 'a'), whole.subarray(0, 50_000)]
  const request = new IncomingMessage(new Socket())
  request.headers = { 'content-length': '100000' }
  const reading = readBody(request, 1_000_000, share())
  for (const chunk of chunks) request.push(chunk)
  request.complete = true
  request.push(null)
  expect((await reading)?.bytes.toString()).toBe('a'.repeat(50_000) + 'b'.repeat(50_000))
  expect(chunks.map(({ length }) => length)).toEqual([0, 50_000])
  expect(whole.equals(Buffer.alloc(large, 'b'))).toBe(true)
})

it('the memory of a changed body returns when its releases run', () => {
  const releases: (() => void)[] = []
  const first = allocateBody(large, releases)
  const second = allocateBody(large, releases)
  expect([first.length, second.length]).toEqual([large, large])
  expect(second.buffer).not.toBe(first.buffer)
  for (const release of releases) release()
  expect(allocateBody(large, []).buffer).toBe(second.buffer)
})

it('a client that left has no body, whether it came whole or not, and its memory is reused', async () => {
  const gone = new IncomingMessage(new Socket())
  gone.headers = { 'content-length': String(large) }
  gone.push(Buffer.alloc(large, 'a'))
  gone.push(null)
  gone.complete = true
  gone.destroy()
  expect(await readBody(gone, 1_000_000, share())).toBeUndefined()

  const { bytes, release } = await bodyOf('a')
  release()
  const leaving = new IncomingMessage(new Socket())
  leaving.headers = { 'content-length': String(large) }
  const reading = readBody(leaving, 1_000_000, share())
  leaving.push(Buffer.alloc(large - 1, 'b'))
  leaving.complete = true
  leaving.destroy()
  expect(await reading).toBeUndefined()
  expect((await bodyOf('c')).bytes.buffer).toBe(bytes.buffer)
})

it('small and very large bodies get memory of their own', () => {
  const releases: (() => void)[] = []
  expect(allocateBody(100, releases)).toHaveLength(100)
  expect(allocateBody(5_000_000, releases)).toHaveLength(5_000_000)
  expect(releases).toEqual([])
})
