/**
 * Where the frames of a stream show that they have a choice: how `"choices":[{` is spelled, and how far from a frame's
 * start. Text of a user or a model cannot fake it: its quotes are escaped.
 */
export class ChoiceMark {
  readonly #spelling: Buffer
  /** The spelling in words of four bytes, the last of which may overlap the one before. */
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

  /** Whether a frame has it, spelled as here. Looks first where the last frame had it. `words`: see `wordsOf`. */
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

/** How many bytes four words cover. A spelling with more white space than fits is not worth a mark. */
const spellingBytesMax = 16

/** The mark of a frame that shows a choice; undefined when it has none, or in an odd spelling. */
export function markOf(bytes: Buffer, start: number, end: number): ChoiceMark | undefined {
  const text = bytes.toString('latin1', start, end)
  const found = /"choices"\s*:\s*\[\s*\{/.exec(text)
  if (!found || found[0].length > spellingBytesMax) return undefined
  return new ChoiceMark(Buffer.from(found[0]), found.index)
}

/** The same bytes to be compared by words, which is quicker; undefined for so few that making the view costs more. */
export function wordsOf(bytes: Buffer): DataView | undefined {
  return bytes.length < 2048 ? undefined : new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
}
