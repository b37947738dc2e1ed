// Runs of characters of one kind. Every search in a text that has no bound of its own goes through these
// loops: each reads forward from its place and stops at the first other character, so nothing is tried twice.

/** A set of characters: a bit in `bitsOf`. */
type Kind = number

const bitsOf = new Uint32Array(256)
/**
 * All other characters. They are either white space or belong to the kinds that a list of excluded characters
 * makes.
 */
let spaceBits = 0
let otherBits = 0
let kinds = 0

/** `pattern`: of one character. */
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

/** Asterisks: upstreams show keys half masked in their errors. */
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
/** Of a value in quotes, which may have backticks. */
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

/** No bits for NaN, the code after the end of a text. */
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

/** True when the character at `at` is there and of this kind. */
export function isAt(text: string, at: number, kind: Kind): boolean {
  return has(text.charCodeAt(at), kind)
}

/** The end of the characters of this kind that begin at `at`, at most `most`; `at` when there is none. */
export function runEnd(text: string, at: number, kind: Kind, most = text.length): number {
  let end = at
  while (end < most && has(text.charCodeAt(end), kind)) end++
  return end
}

/** The start of the characters of this kind that end before `at`, not below `least`. */
export function runStart(text: string, at: number, kind: Kind, least: number): number {
  let start = at
  while (start > least && has(text.charCodeAt(start - 1), kind)) start--
  return start
}

/** The end of a value whose slashes may be escaped: `\/`, or `\\\/` in JSON within JSON. */
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

/** True for a word of prose, as in "password: required." */
export function isWord(text: string, start: number, end: number): boolean {
  const letters = runEnd(text, isAt(text, start, capitals) ? start + 1 : start, smallLetters)
  return letters >= end || runEnd(text, letters, wordEndings) >= end
}

/**
 * The runs of one text, for places in ascending order. Each character is read once for each kind: places of
 * the same run have the same end.
 */
export class Runs {
  readonly #text: string
  #runs: Map<Kind, Run> | undefined
  #lastWord = Number.NEGATIVE_INFINITY
  /** -1: there are no more. */
  #nextWord: number | undefined

  constructor(text: string) {
    this.#text = text
  }

  /** As `runEnd`. */
  end(at: number, kind: Kind): number {
    return this.#around(at, kind).end
  }

  /** True when there are a digit, a capital and a small letter between `at` and the end of its run. */
  looksRandom(at: number, kind: Kind): boolean {
    const { digit, capital, small } = this.#around(at, kind)
    return digit >= at && capital >= at && small >= at
  }

  /** The last place of the word before `at`; below any place when there is none. One word for each text. */
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
  /** The last place of each; -1: there is none. */
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
