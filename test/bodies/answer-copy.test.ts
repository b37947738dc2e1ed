import { expect, test } from 'vitest'
import { AnswerCopy, type CopiedAnswer } from '../../src/bodies/answer-copy.ts'
import { seeded } from '../support/random.ts'

/** A copy of an answer, and what it came to. */
function copyWith(bytesMax: number, memory = Number.MAX_SAFE_INTEGER) {
  const ended: CopiedAnswer[] = []
  let left = memory
  const take = (bytes: number) => {
    if (bytes > left) return false
    left -= bytes
    return true
  }
  return { copy: new AnswerCopy(take, bytesMax, (copied) => void ended.push(copied)), ended }
}

const textOf = ({ pieces }: CopiedAnswer) => Buffer.concat(pieces).toString('latin1')

test('the bytes are copied in order, however they are split, and later changes of a chunk do not matter', () => {
  const random = seeded(39)
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))
  const { copy, ended } = copyWith(1_000_000)
  for (const piece of random.split(bytes, 9_000)) {
    const chunk = Buffer.from(piece)
    copy.take(chunk)
    chunk.fill(0)
  }
  copy.end()
  copy.end()
  expect(ended).toHaveLength(1)
  expect(ended.map(textOf)).toEqual([bytes.toString('latin1')])
  expect(ended[0]?.isCut).toBe(false)
  // Each piece moves to a thread: it shares its memory with nothing.
  for (const { buffer, byteLength } of ended[0]?.pieces ?? [])
    expect(buffer.byteLength).toBeLessThan(2 * byteLength + 65_537)
})

test.each([100, 4_096, 65_536, 100_000])('an answer of more than %i bytes is cut there', (bytesMax) => {
  for (const chunkBytes of [1_000, 300_000]) {
    const { copy, ended } = copyWith(bytesMax)
    for (let at = 0; at < 300_000; at += chunkBytes) copy.take(Buffer.alloc(chunkBytes, 'x'))
    copy.end()
    expect(textOf(ended[0] ?? { pieces: [], bytesTaken: 0, isCut: false })).toBe('x'.repeat(bytesMax))
    expect(ended[0]?.isCut).toBe(true)
    expect(ended[0]?.bytesTaken).toBeLessThanOrEqual(2 * bytesMax + 65_536)
  }
})

test('an answer of exactly its bound is not cut', () => {
  const { copy, ended } = copyWith(5_000)
  copy.take(Buffer.alloc(5_000))
  copy.end()
  expect(ended[0]?.isCut).toBe(false)
})

test('without memory the copy keeps what it has; it gives back no more than it took', () => {
  const { copy, ended } = copyWith(1_000_000, 12 * 1024)
  copy.take(Buffer.alloc(100_000, 'y'))
  copy.end()
  expect(ended[0]).toMatchObject({ isCut: true, bytesTaken: 12 * 1024 })
  const none = copyWith(1_000_000, 0)
  none.copy.take(Buffer.from('lost'))
  none.copy.end()
  expect(none.ended).toEqual([{ pieces: [], bytesTaken: 0, isCut: true }])
})

test('an answer without a byte takes no memory, and ends unseen', () => {
  const { copy, ended } = copyWith(1_000)
  copy.take(Buffer.alloc(0))
  copy.end()
  copy.take(Buffer.from('late'))
  expect(ended).toEqual([])
})
