import { hiddenInputMax } from '../canonical/hidden-input.ts'
import { skipSpace } from './json-scan.ts'
import { parsedOrNothing } from './json-words.ts'

/**
 * Describes the objects at one place of a request, or those in a list there: which of their members and types
 * have all their input in the body.
 */
export interface PlainPlace {
  /**
   * The known values of `type`. Absent: any value, because it does not select anything that a vendor stores
   * elsewhere.
   */
  types?: readonly string[]
  /** `data`: a value whose own members have no meaning in the format, such as a schema. */
  members: Readonly<Record<string, PlainPlace | 'data'>>
  /** True: text or numbers can be used instead of an object. */
  text?: true
  /**
   * Lists members by type, or under the empty string if there is no type: an object that has an `id` but none
   * of these members refers to an object stored at the vendor.
   */
  ownOf?: Readonly<Record<string, readonly string[]>>
}

/**
 * Finds the members and types of a request that are not known to be plain, for which the vendor may add input
 * that the body does not contain. Each is reported as the path of its place and its name, such as
 * `messages[].content[].file_url`; null counts as absent. Reports at most one more than `hiddenInputMax`.
 * `body` is JSON that `scanBody` has checked. Makes one pass over the bytes, in which every occurrence of a
 * repeated member counts.
 */
export function hiddenInputIn(body: Buffer, place: PlainPlace): string[] {
  const walk = new Walk(body)
  walk.value(place, '')
  return [...walk.found]
}

class Walk {
  readonly found = new Set<string>()
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  value(place: PlainPlace | 'data', path: string): void {
    const first = this.#next()
    if (place === 'data') this.#skip()
    else if (first === openBrace) this.#object(place, path)
    else if (first === openBracket) this.#list(place, `${path}[]`)
    else {
      if (place.text !== true && first !== letterN) this.#note(path)
      this.#skip()
    }
  }

  #list(place: PlainPlace, path: string): void {
    this.#at++
    while (this.#next() !== closeBracket) {
      if (this.#at >= this.#bytes.length) return
      this.value(place, path)
      if (this.#next() === comma) this.#at++
    }
    this.#at++
  }

  #object({ types, members, ownOf }: PlainPlace, path: string): void {
    const words = new Set<string>()
    const given = new Set<string>()
    this.#at++
    while (this.#next() !== closeBrace) {
      if (this.#at >= this.#bytes.length) return
      const name = this.#text()
      this.#next()
      this.#at++
      const first = this.#next()
      if (first === letterN) this.#skip()
      else if (name === 'type' && types !== undefined) this.#type(types, path, words)
      else if (Object.hasOwn(members, name)) {
        if (ownOf !== undefined && !this.#isEmpty()) given.add(name)
        this.value(members[name] ?? 'data', pathTo(path, name))
      } else {
        this.#note(pathTo(path, named(name)))
        this.#skip()
      }
      if (this.#next() === comma) this.#at++
    }
    this.#at++
    if (ownOf === undefined || !given.has('id')) return
    for (const word of words.size === 0 ? [''] : words) {
      const own = Object.hasOwn(ownOf, word) ? ownOf[word] : undefined
      if (own !== undefined && !own.some((name) => given.has(name))) this.#note(pathTo(path, 'id'))
    }
  }

  #type(types: readonly string[], path: string, words: Set<string>): void {
    if (this.#bytes[this.#at] !== quote) {
      this.#note(pathTo(path, 'type'))
      this.#skip()
      return
    }
    const word = this.#text()
    words.add(word)
    if (!types.includes(word)) this.#note(pathTo(path, named(word)))
  }

  /** Whether the value at the current position is an empty string, list or object. */
  #isEmpty(): boolean {
    if (this.#bytes[this.#at] === quote) return this.#bytes[this.#at + 1] === quote
    const second = this.#bytes[skipSpace(this.#bytes, this.#at + 1, this.#bytes.length)]
    return second === closeBracket || second === closeBrace
  }

  #note(path: string): void {
    if (this.found.size <= hiddenInputMax) this.found.add(path)
  }

  /** Reads the string at the current position. */
  #text(): string {
    const start = this.#at
    this.#skipText()
    const text = this.#bytes.toString('utf8', start + 1, this.#at - 1)
    return text.includes('\\') ? String(parsedOrNothing(`"${text}"`)) : text
  }

  #next(): number | undefined {
    this.#at = skipSpace(this.#bytes, this.#at, this.#bytes.length)
    return this.#bytes[this.#at]
  }

  /** Skips the value at the current position, whatever it contains. */
  #skip(): void {
    let depth = 0
    do {
      const byte = this.#next()
      if (byte === openBrace || byte === openBracket) depth++
      else if (byte === closeBrace || byte === closeBracket) depth--
      if (byte === quote) this.#skipText()
      else if (byte === undefined || marks[byte] === 1) this.#at++
      else this.#skipWord()
    } while (depth > 0 && this.#at < this.#bytes.length)
  }

  #skipText(): void {
    const bytes = this.#bytes
    let end = bytes.indexOf(quote, this.#at + 1)
    while (end !== -1) {
      let before = end - 1
      while (bytes[before] === backslash) before--
      if ((end - before) % 2 === 1) break
      end = bytes.indexOf(quote, end + 1)
    }
    this.#at = end === -1 ? bytes.length : end + 1
  }

  /** Skips a number, `true`, `false` or `null`. */
  #skipWord(): void {
    while (marks[this.#bytes[this.#at] ?? quote] === 0) this.#at++
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
/** The first letter of `null`. */
const letterN = 0x6e

/** 1 for each byte that ends a number, `true`, `false` or `null`. */
const marks = new Uint8Array(256).fill(1, 0, 0x21)
for (const mark of [quote, comma, colon, openBrace, closeBrace, openBracket, closeBracket]) marks[mark] = 1

function pathTo(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

/**
 * A name as used in a path. Unusual names are quoted and shortened, so that they cannot be mistaken for a
 * path.
 */
function named(name: string): string {
  return /^[\w:-]{1,128}$/.test(name) ? name : JSON.stringify(name.slice(0, 128))
}
