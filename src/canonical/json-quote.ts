import { endianness } from 'node:os'

const quote = 0x22
const backslash = 0x5c

if (endianness() !== 'LE')
  throw new Error('Tollgate reads memory in words and needs a little-endian machine.')

/**
 * Offset of the quote that closes the JSON string whose text begins at `from`; -1 when none does before
 * `end`. `words` are `int32View(bytes)`.
 *
 * For long strings. It looks at four bytes in one step, which is three times as fast as a loop over bytes. It
 * is also three times as fast as native searches if the text is full of escaped quotes, each of which ends a
 * search.
 */
export function closingQuote(bytes: Buffer, words: Int32Array, from: number, end: number): number {
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

/** The memory under a buffer, as words of four bytes. The first word begins where the memory begins. */
export function int32View(bytes: Buffer): Int32Array {
  return new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2)
}

/**
 * A word with the top bit set in each byte that is a quote. A borrow may also set it in a byte after a
 * quote.
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
