/**
 * The offset and the spelling of `"choices":[{` in the frames of one stream, which show that a frame contains
 * a choice. Text from users or models cannot imitate it, because its quotes are escaped.
 */
export class ChoiceMark {
  readonly #spelling: Buffer
  /** The spelling as four-byte words. The last word can overlap with the previous one. */
  readonly #words: readonly [number, number, number, number]
  readonly #lastWordAt: number
  #offset: number

  constructor(spelling: Buffer, offset: number) {
    this.#spelling = spelling
    this.#lastWordAt = spelling.length - 4
    const wordAt = (at: number) => spelling.readInt32BE(at)
    this.#words = [wordAt(0), wordAt(4), wordAt(8), wordAt(this.#lastWordAt)]
    this.#offset = offset
  }

  /**
   * Whether a frame contains the mark in this spelling. Checks the offset of the previous frame first.
   * `words`: see `comparisonView`.
   */
  isIn(bytes: Buffer, words: DataView | undefined, start: number, end: number): boolean {
    const at = start + this.#offset
    if (at + this.#spelling.length <= end && (words ? this.#isAtWord(words, at) : this.#isAt(bytes, at)))
      return true
    const offset = bytes.subarray(start, end).indexOf(this.#spelling)
    if (offset === -1) return false
    this.#offset = offset
    return true
  }

  #isAt(bytes: Buffer, at: number): boolean {
    const spelling = this.#spelling
    let i = 0
    while (i < spelling.length && bytes[at + i] === spelling[i]) i++
    return i === spelling.length
  }

  #isAtWord(words: DataView, at: number): boolean {
    const [first, second, third, last] = this.#words
    return (
      words.getInt32(at) === first &&
      words.getInt32(at + 4) === second &&
      words.getInt32(at + 8) === third &&
      words.getInt32(at + this.#lastWordAt) === last
    )
  }
}

/** The number of bytes that four words cover. A spelling with more white space gets no mark. */
const spellingBytesMax = 16

/** The mark of a frame; undefined if it has no choice or an unusual spelling. */
export function markOf(bytes: Buffer, start: number, end: number): ChoiceMark | undefined {
  const text = bytes.toString('latin1', start, end)
  const found = /"choices"\s*:\s*\[\s*\{/.exec(text)
  if (!found || found[0].length > spellingBytesMax) return undefined
  return new ChoiceMark(Buffer.from(found[0]), found.index)
}

/**
 * A view of the bytes for faster comparison by words. Undefined for short buffers, for which creating the
 * view is slower.
 */
export function comparisonView(bytes: Buffer): DataView | undefined {
  return bytes.length < 2048 ? undefined : new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
