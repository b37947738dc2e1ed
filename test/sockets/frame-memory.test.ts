import { expect, test } from 'vitest'
import { BodyMemory } from '../../src/http/body-memory.ts'
import { FrameMemory } from '../../src/sockets/frame-memory.ts'
import { type Random, seeded } from '../support/random.ts'

/** A client's messages are counted while they arrive, however they are cut into frames and chunks. */

const bounds = {
  bodiesBytesMax: 4_000_000,
  keyBodiesBytesMax: 2_000_000,
  decodedBytesMax: 1,
  bodyBytesMax: 1_000_000,
}

const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000]
const opcodes = { continuation: 0, text: 1, ping: 9, pong: 10 }

function frame(opcode: number, isLast: boolean, bytes: number): Buffer {
  const head = bytes < 126 ? Buffer.alloc(2) : Buffer.alloc(bytes < 65_536 ? 4 : 10)
  head[0] = (isLast ? 0x80 : 0) | opcode
  head[1] = 0x80 | (bytes < 126 ? bytes : bytes < 65_536 ? 126 : 127)
  if (head.length === 4) head.writeUInt16BE(bytes, 2)
  if (head.length === 10) head.writeBigUInt64BE(BigInt(bytes), 2)
  return Buffer.concat([head, Buffer.alloc(4 + bytes)])
}

/** A message in frames, with pongs in between, and its bytes. */
function message(random: Random): { frames: Buffer[]; bytes: number } {
  const fragments = Array.from({ length: 1 + random.upTo(3) }, () => random.pick(lengths))
  const frames = fragments.flatMap((bytes, at) => [
    frame(at === 0 ? opcodes.text : opcodes.continuation, at === fragments.length - 1, bytes),
    ...(random.upTo(1) === 1
      ? [frame(random.pick([opcodes.ping, opcodes.pong]), true, random.upTo(125))]
      : []),
  ])
  return { frames, bytes: fragments.reduce((sum, bytes) => sum + bytes, 0) }
}

test('whatever the cuts, each message counts its bytes until it is whole, and nothing stays', () => {
  const random = seeded(34)
  for (let round = 0; round < 40; round++) {
    const memory = new BodyMemory({ ...bounds, keyBodiesBytesMax: 4_000_000 })
    const frames = new FrameMemory(() => memory.begin('key'))
    const messages = Array.from({ length: 1 + random.upTo(3) }, () => message(random))
    const wire = Buffer.concat(messages.flatMap((each) => each.frames))
    for (const chunk of random.split(wire, random.pick([30, 2_000, 100_000]))) frames.arrive(chunk)
    for (const { bytes } of messages) {
      const before = memory.bytes
      frames.take().release()
      // Each fragment but the last counts 256 bytes more.
      expect((before - memory.bytes - bytes) % 256).toBe(0)
      expect(before - memory.bytes).toBeGreaterThanOrEqual(bytes)
    }
    expect(memory.bytes).toBe(0)
  }
})

test.each([
  ['one frame', [frame(opcodes.text, true, 3_000_000)]],
  ['fragments', Array.from({ length: 30 }, (_, at) => frame(at === 0 ? 1 : 0, false, 100_000))],
  [
    'fragments with pongs in between',
    Array.from({ length: 60 }, (_, at) =>
      at % 2 === 0 ? frame(at === 0 ? 1 : 0, false, 100_000) : frame(opcodes.pong, true, 5),
    ),
  ],
  ['fragments of nothing', Array.from({ length: 20_000 }, (_, at) => frame(at === 0 ? 1 : 0, false, 0))],
])('a message that never ends, in %s, is refused where its key has no more room', (_how, sent) => {
  const memory = new BodyMemory(bounds)
  const frames = new FrameMemory(() => memory.begin('key'))
  const wire = Buffer.concat(sent)
  const arrive = () => {
    for (let at = 0; at < wire.length; at += 10_000) frames.arrive(wire.subarray(at, at + 10_000))
  }
  expect(arrive).toThrow(expect.objectContaining({ kind: 'rate_limited' }))
  expect(memory.bytes).toBeGreaterThan(1_900_000)
  expect(memory.bytes).toBeLessThanOrEqual(2_000_000)
  frames.release()
  expect(memory.bytes).toBe(0)
})

test('pings and pongs alone count nothing, because nothing holds them', () => {
  const memory = new BodyMemory(bounds)
  const frames = new FrameMemory(() => memory.begin('key'))
  for (let at = 0; at < 30_000; at++) frames.arrive(frame(opcodes.pong, true, 125))
  expect(memory.bytes).toBe(0)
})
