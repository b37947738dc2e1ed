import { endianness } from 'node:os'

const quote = 0x22
const backslash = 0x5c

if (endianness() !== 'LE')
  throw new Error('Tollgate reads memory in 32-bit words and requires a little-endian machine.')

/**
 * Returns the offset of the quote that closes the JSON string whose text begins at `from`, or -1 if there is
 * none before `end`. `words` must be `int32View(bytes)`.
 *
 * For long strings. Native search is fastest for text without quotes, but each escaped quote ends a search:
 * in text that is full of them, such as code, `closingByWords` is three times as fast.
 */
export function closingQuote(bytes: Buffer, words: Int32Array, from: number, end: number): number {
  let at = from
  for (;;) {
    const found = bytes.indexOf(quote, at)
    if (found === -1 || found >= end) return -1
    if (!isEscaped(bytes, from, found)) return found
    if (found - at < nativeFromBytes) return closingByWords(bytes, words, found + 1, end)
    at = found + 1
  }
}

/** Native search is worth its call if it goes as far as this. */
const nativeFromBytes = 512

/** Checks four bytes per step, which is three times as fast as a loop over bytes. */
function closingByWords(bytes: Buffer, words: Int32Array, from: number, end: number): number {
  const offset = bytes.byteOffset
  const last = (offset + end) >> 2
  let word = (offset + from) >> 2
  for (;;) {
    let marks = 0
    while (word < last) {
      marks = quoteMarks(words[word] ?? 0)
      if (marks !== 0) break
      word++
    }
    if (word >= last) break
    for (; marks !== 0; marks &= marks - 1) {
      const at = word * 4 - offset + ((31 - Math.clz32(marks & -marks)) >> 3)
      if (at >= from && bytes[at] === quote && !isEscaped(bytes, from, at)) return at
    }
    word++
  }
  for (let at = Math.max(from, last * 4 - offset); at < end; at++) {
    if (bytes[at] === quote && !isEscaped(bytes, from, at)) return at
  }
  return -1
}

/**
 * The memory of a buffer as 32-bit words. The first word starts at the beginning of the underlying
 * ArrayBuffer.
 */
export function int32View(bytes: Buffer): Int32Array {
  return new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2)
}

/**
 * Returns a word in which the top bit of each byte that is a quote is set. Because of borrows, the bit can
 * also be set in a byte after a quote.
 */
function quoteMarks(word: number): number {
  const zeroed = word ^ 0x22222222
  return (zeroed - 0x01010101) & ~zeroed & 0x80808080
}

function isEscaped(bytes: Buffer, from: number, at: number): boolean {
  let before = at - 1
  while (before >= from && bytes[before] === backslash) before--
  return (at - before) % 2 === 0
}
