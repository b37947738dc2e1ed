import { expect, it } from 'vitest'
import { closingQuote, int32View } from '../../src/canonical/json-quote.ts'
import { seeded } from '../support/random.ts'

it('finds the closing quote, wherever the bytes are in memory', () => {
  const random = seeded(3)
  // Neighbours of the quote and the backslash, where bit tricks fail, and bytes above 127.
  const pieces = ['"', '"', '\\', '\\', '!', '#', '[', ']', '\u0000', '\u0001', 'é', '漢', 'abcdefgh']
  let found = 0
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: random.upTo(24) }, () => random.pick(pieces)).join('')
    const offset = random.upTo(9)
    // Any bytes may be around the text, above all quotes.
    const memory = Buffer.from(`${'"'.repeat(offset)}${text}${'"'.repeat(random.upTo(9))}`)
    const bytes = memory.subarray(offset)
    const end = Buffer.byteLength(text)
    const from = random.upTo(end)
    const expected = byLoop(bytes, from, end)
    if (expected !== -1) found++
    expect({ text, from, at: closingQuote(bytes, int32View(bytes), from, end) }).toEqual({
      text,
      from,
      at: expected,
    })
  }
  expect(found).toBeGreaterThan(5000)
})

it('reads text of nothing but escaped quotes in one pass', () => {
  const bytes = Buffer.from(`${'\\"'.repeat(100_000)}"`)
  expect(closingQuote(bytes, int32View(bytes), 0, bytes.length)).toBe(200_000)
  expect(closingQuote(bytes, int32View(bytes), 0, bytes.length - 1)).toBe(-1)
})

function byLoop(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at += bytes[at] === 0x5c ? 2 : 1) if (bytes[at] === 0x22) return at
  return -1
}
