// Runs of characters of one kind. Every text search without a bound of its own uses these loops: each reads
// forward from its position and stops at the first character of another kind, so nothing is tried twice.

/** A set of characters, represented by a bit in `bitsOf`. */
type Kind = number

const bitsOf = new Uint32Array(256)
/**
 * The kinds of characters from code 256 on: white space has `spaceBits`; all others have `otherBits`, the
 * kinds that are defined by excluded characters.
 */
let spaceBits = 0
let otherBits = 0
let kinds = 0

/** `pattern` matches one character. */
function kindOf(pattern: RegExp): Kind {
  const kind = 1 << kinds++
  for (let code = 0; code < bitsOf.length; code++) {
    if (pattern.test(String.fromCharCode(code))) bitsOf[code] = (bitsOf[code] ?? 0) | kind
  }
  if (pattern.test('\u2003')) spaceBits |= kind
  if (pattern.test('東')) otherBits |= kind
  return kind
}

export const digits = kindOf(/[0-9]/)
export const capitals = kindOf(/[A-Z]/)
const smallLetters = kindOf(/[a-z]/)

/** Includes asterisks because upstreams show partly masked keys in their errors. */
export const keyCharacters = kindOf(/[\w*-]/)
export const wordCharacters = kindOf(/[\w-]/)
export const hexDigits = kindOf(/[0-9a-fA-F]/)
export const base64Characters = kindOf(/[\w+/=-]/)
export const dottedCharacters = kindOf(/[\w.-]/)
export const slackCharacters = kindOf(/[\w%.-]/)
export const capitalsAndDigits = kindOf(/[A-Z0-9]/)
export const letters = kindOf(/[A-Za-z]/)
export const quotes = kindOf(/["'`]/)
export const lettersAndDigits = kindOf(/[A-Za-z0-9]/)
export const schemeCharacters = kindOf(/[\w.~+/=*%-]/)
export const pemCharacters = kindOf(/[A-Za-z0-9+/=\s:,]/)
export const pemTailCharacters = kindOf(/[A-Za-z0-9+/=\r\n\\]/)
export const bareCharacters = kindOf(/[^\s"'`\\,;&<>(){}[\]|]/)
export const urlUserCharacters = kindOf(/[^\s"'<>\\/?#]/)
export const notAtSigns = kindOf(/[^@]/)
export const quotedCharacters = kindOf(/[^'"`\\\r\n]/)
/** The characters of a quoted value, which can contain backticks. */
export const lineCharacters = kindOf(/[^'"\\\r\n]/)
export const spaces = kindOf(/\s/)
export const gaps = kindOf(/[ +]/)
export const lineBreaks = kindOf(/[\r\n]/)
export const backslashes = kindOf(/\\/)
export const hyphens = kindOf(/-/)
const wordEndings = kindOf(/[.!?:]/)

function has(code: number, kind: Kind): boolean {
  return (bitsAt(code) & kind) !== 0
}

/** Returns no bits for NaN, the character code past the end of a text. */
function bitsAt(code: number): number {
  if (code < 256) return bitsOf[code] ?? 0
  if (code >= 256) return isWideSpace(code) ? spaceBits : otherBits
  return 0
}

function isWideSpace(code: number): boolean {
  if (code < 0x2000) return code === 0x1680
  if (code <= 0x202f) return code <= 0x200a || code === 0x2028 || code === 0x2029 || code === 0x202f
  return code === 0x205f || code === 0x3000 || code === 0xfeff
}

/** True if there is a character at `at` and it is of this kind. */
export function isAt(text: string, at: number, kind: Kind): boolean {
  return has(text.charCodeAt(at), kind)
}

/** The end of the run of this kind that starts at `at`, at most `most`. Returns `at` if there is no run. */
export function runEnd(text: string, at: number, kind: Kind, most = text.length): number {
  let end = at
  while (end < most && has(text.charCodeAt(end), kind)) end++
  return end
}

/** The start of the run of this kind that ends before `at`, at least `least`. */
export function runStart(text: string, at: number, kind: Kind, least: number): number {
  let start = at
  while (start > least && has(text.charCodeAt(start - 1), kind)) start--
  return start
}

/** The end of a value whose slashes can be escaped: `\/`, or `\\\/` in JSON within JSON. */
export function valueEnd(text: string, at: number, kind: Kind): number {
  let end = runEnd(text, at, kind)
  while (isAt(text, end, backslashes)) {
    const slash = runEnd(text, end, backslashes)
    if (text.charCodeAt(slash) !== slashCode) break
    end = runEnd(text, slash + 1, kind)
  }
  return end
}

const slashCode = 0x2f

/** True for an ordinary word, as in "password: required." */
export function isWord(text: string, start: number, end: number): boolean {
  const letters = runEnd(text, isAt(text, start, capitals) ? start + 1 : start, smallLetters)
  return letters >= end || runEnd(text, letters, wordEndings) >= end
}

/**
 * The runs of one text, looked up at ascending positions. Each character is read once per kind, because
 * positions in the same run have the same end.
 */
export class Runs {
  readonly #text: string
  #runs: Map<Kind, Run> | undefined
  #lastWord = Number.NEGATIVE_INFINITY
  /** -1 if there are no more. */
  #nextWord: number | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** Same as `runEnd`. */
  end(at: number, kind: Kind): number {
    return this.#around(at, kind).end
  }

  /** True if there is a digit, an upper-case and a lower-case letter between `at` and the end of its run. */
  looksRandom(at: number, kind: Kind): boolean {
    const { digit, capital, small } = this.#around(at, kind)
    return digit >= at && capital >= at && small >= at
  }

  /**
   * The last occurrence of the word before `at`, or negative infinity if there is none. Each text can be
   * searched for only one word.
   */
  lastOf(word: string, at: number): number {
    let next = this.#nextWord ?? this.#text.indexOf(word)
    while (next !== -1 && next < at) {
      this.#lastWord = next
      next = this.#text.indexOf(word, next + 1)
    }
    this.#nextWord = next
    return this.#lastWord
  }

  #around(at: number, kind: Kind): Run {
    this.#runs ??= new Map()
    const known = this.#runs.get(kind)
    if (known !== undefined && at >= known.start && at <= known.end) return known
    const run = readRun(this.#text, at, kind)
    this.#runs.set(kind, run)
    return run
  }
}

interface Run {
  start: number
  end: number
  /** The last position of each; -1 if there is none. */
  digit: number
  capital: number
  small: number
}

function readRun(text: string, start: number, kind: Kind): Run {
  let digit = -1
  let capital = -1
  let small = -1
  let end = start
  for (;;) {
    const bits = bitsAt(text.charCodeAt(end))
    if ((bits & kind) === 0) return { start, end, digit, capital, small }
    if ((bits & smallLetters) !== 0) small = end
    else if ((bits & capitals) !== 0) capital = end
    else if ((bits & digits) !== 0) digit = end
    end++
  }
}
