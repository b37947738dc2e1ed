import { expect, test } from 'vitest'
import { checksum } from '../../src/journal/checksum.ts'

function of(bytes: Buffer, start = 0, end = bytes.length): string {
  return checksum(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), start, end).toString(16)
}

// Made by xxhsum 0.8.3, https://github.com/Cyan4973/xxHash.
test.each([
  ['', '2cc5d05'],
  ['a', '550d7456'],
  ['abc', '32d153ff'],
  ['Nobody inspects the spammish repetition', 'e2293b2f'],
])('the check of %o is XXH32', (text, hash) => {
  expect(of(Buffer.from(text))).toBe(hash)
  expect(of(Buffer.from(`before${text}behind`), 6, 6 + text.length)).toBe(hash)
})

test('any flipped bit changes the checksum, and so does any missing byte', () => {
  const bytes = Buffer.from(Array.from({ length: 67 }, (_, i) => (i * 37) & 255))
  const seen = new Set([of(bytes)])
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
    seen.add(of(bytes))
    bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  }
  for (let end = 0; end < bytes.length; end++) seen.add(of(bytes, 0, end))
  expect(seen.size).toBe(1 + bytes.length * 8 + bytes.length)
})
