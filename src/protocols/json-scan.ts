import { isUtf8 } from 'node:buffer'
import type { GatewayError } from '../canonical/error.ts'
import { invalid } from '../canonical/field-error.ts'
import { closingQuote, int32View } from '../canonical/json-quote.ts'
import { nameAt, nameLike, parsedOrNothing, type Watch } from './json-words.ts'

/** The byte range of one JSON value: from its first byte to the one after its last. */
export interface ByteRange {
  start: number
  end: number
}

/** Limits for a client's JSON. */
export interface JsonBounds {
  jsonDepthMax: number
  jsonValuesMax: number
  /** Filled by the scan of a body, which goes on behind the elements that it has already. */
  outline?: Outline
}

/**
 * The list in a body that grows from request to request: where each of its elements ends, and what the scan
 * knew there, so that a scan of a body with the same beginning can go on behind any of them.
 */
export interface Outline {
  /** The name of the member. */
  readonly name: string
  /** Where the list starts; undefined until it was found. */
  start: number | undefined
  /** The members before it. */
  before: Partial<Record<string, ByteRange>>
  ends: number[]
  /** Up to the end of each element: the keys and values counted, and the state of the watch. */
  values: number[]
  marks: number[]
}

export interface ScanOptions {
  /** The maximum nesting depth. The scanned object itself has depth 1. */
  depthMax: number
  /**
   * The maximum number of keys and values in the whole document, so that parsing it does not block the
   * process. A value nested n * 16 levels deep counts as n more. By default there is no limit, for parts of a
   * document that an earlier scan has counted.
   */
  valuesMax?: number
  /** The path of the object in the body, for messages; empty for the body itself. */
  path?: string
  watch?: Watch
  /** If it has elements, the scan goes on behind the last of them. */
  outline?: Outline | undefined
  /** Filled with the members found, even if an error is thrown later. */
  found?: Partial<Record<string, ByteRange>>
}

/**
 * Finds named members of a JSON object in one pass over its bytes, without building objects. Hand-written
 * because it runs for every request, and zod would require the whole document to be parsed first.
 *
 * Checks the grammar like JSON.parse, with one exception: in documents over 32 KB it skips long strings, so
 * invalid control characters or escapes in them are left to the upstream. `checkText` checks the UTF-8.
 * Throws GatewayError `invalid_request` for invalid JSON (with line and column, but without quoting the body,
 * which may contain a secret), for nesting deeper than `depthMax`, and for more keys and values than
 * `valuesMax`. Also throws it for a named member that occurs twice or in other letter case, because parsers
 * disagree about which one counts.
 */
export function scanMembers<Name extends string>(
  bytes: Buffer,
  span: ByteRange,
  names: readonly Name[],
  options: ScanOptions,
): Partial<Record<Name, ByteRange>> {
  const members: Partial<Record<Name, ByteRange>> = options.found ?? {}
  const path = options.path ?? ''
  const text = startScan(bytes, span, options)
  let at = skipSpace(bytes, span.start, span.end)
  if (at === span.end) throw fault(text, at, 'expected an object, got nothing')
  if (bytes[at] !== openBrace) {
    throw invalid(path || 'body', `expected a JSON object, got ${kindAt(bytes, at)}`)
  }
  countOne(text)
  let end = options.outline && resume(text, options.outline, members)
  at = skipSpace(bytes, at + 1, span.end)
  if (end === undefined && byteAt(text, at) === closeBrace) return finish(text, at + 1, members)
  for (;;) {
    end ??= endOfMember(text, skipSpace(bytes, at, span.end), names, members, options)
    at = skipSpace(bytes, end, span.end)
    const byte = byteAt(text, at)
    if (byte === closeBrace) return finish(text, at + 1, members)
    if (byte !== comma) throw fault(text, at, "expected ',' or '}' after a property value")
    at++
    end = undefined
  }
}

/** The offset after the member that begins at `keyStart`. Adds it to `members` if it is a named one. */
function endOfMember<Name extends string>(
  text: Text,
  keyStart: number,
  names: readonly Name[],
  members: Partial<Record<Name, ByteRange>>,
  { path = '', outline }: ScanOptions,
): number {
  const { bytes } = text
  const keyEnd = endOfKey(text, keyStart)
  countOne(text)
  const name = nameAt(bytes, keyStart, keyEnd, names)
  if (name === undefined) refuseLike(bytes, keyStart, keyEnd, names, path)
  const start = skipSpace(bytes, afterColon(text, keyEnd), text.end)
  const isOutlined = outline !== undefined && name === outline.name && bytes[start] === openBracket
  if (isOutlined) outline.before = { ...members }
  const end = isOutlined ? endOfOutlined(text, start, outline) : endOfValue(text, start)
  if (name !== undefined) {
    if (members[name])
      throw invalid(path ? `${path}.${name}` : name, 'occurs twice in the same object: send it once')
    members[name] = { start, end }
  }
  return end
}

/** Goes on behind the outline's last element. Returns the offset after its list; undefined without one. */
function resume(
  text: Text,
  outline: Outline,
  members: Partial<Record<string, ByteRange>>,
): number | undefined {
  const { start, before, ends, values, marks } = outline
  const last = ends.at(-1)
  if (start === undefined || last === undefined) return undefined
  text.valuesLeft = text.valuesMax - (values.at(-1) ?? 0)
  if (text.valuesLeft < 0) throw tooMany(text)
  if (text.watch !== undefined) text.watch.state = marks.at(-1) ?? 0
  const end = endOfElements(text, last, outline)
  Object.assign(members, before, { [outline.name]: { start, end } })
  return end
}

/** The offset after a list, whose elements are added to the outline. */
function endOfOutlined(text: Text, start: number, outline: Outline): number {
  countOne(text)
  if (text.depthMax < 1) throw invalid('body', 'nested too deeply')
  outline.start = start
  const first = skipSpace(text.bytes, start + 1, text.end)
  if (byteAt(text, first) === closeBracket) return first + 1
  addElement(text, first, outline)
  return endOfElements(text, outline.ends.at(-1) ?? first, outline)
}

/** The same from the end of one of its elements. */
function endOfElements(text: Text, from: number, outline: Outline): number {
  for (let at = from; ; at = outline.ends.at(-1) ?? at) {
    at = skipSpace(text.bytes, at, text.end)
    const byte = byteAt(text, at)
    if (byte === closeBracket) return at + 1
    if (byte !== comma) throw fault(text, at, "expected ',' or ']' after a value")
    addElement(text, skipSpace(text.bytes, at + 1, text.end), outline)
  }
}

function addElement(text: Text, start: number, { ends, values, marks }: Outline): void {
  ends.push(endOfValue(text, start, 1))
  values.push(text.valuesMax - text.valuesLeft)
  marks.push(text.watch?.state ?? 0)
}

/**
 * The spans of the elements of a JSON array; empty if the value is not an array. Throws the same errors as
 * `scanMembers`.
 */
export function scanElements(bytes: Buffer, span: ByteRange, options: ScanOptions): ByteRange[] {
  const elements: ByteRange[] = []
  const text = startScan(bytes, span, options)
  if (bytes[span.start] !== openBracket) return elements
  let at = skipSpace(bytes, span.start + 1, span.end)
  if (byteAt(text, at) === closeBracket) return elements
  for (;;) {
    const start = skipSpace(bytes, at, span.end)
    const end = endOfValue(text, start)
    elements.push({ start, end })
    at = skipSpace(bytes, end, span.end)
    const byte = byteAt(text, at)
    if (byte === closeBracket) return elements
    if (byte !== comma) throw fault(text, at, "expected ',' or ']' after an element")
    at++
  }
}

/** The span of the first element of a JSON array, if any. Throws the same errors as `scanMembers`. */
export function scanFirstElement(
  bytes: Buffer,
  span: ByteRange,
  options: ScanOptions,
): ByteRange | undefined {
  const text = startScan(bytes, span, options)
  if (bytes[span.start] !== openBracket) return undefined
  const start = skipSpace(bytes, span.start + 1, span.end)
  return byteAt(text, start) === closeBracket ? undefined : { start, end: endOfValue(text, start) }
}

/**
 * Throws GatewayError `invalid_request` for a body that is not valid UTF-8 or starts with a byte order mark.
 * The bytes before `from` are known to be valid.
 */
export function checkText(bytes: Buffer, from = 0): void {
  if (!isUtf8(from === 0 ? bytes : bytes.subarray(from))) throw invalid('body', 'not valid UTF-8')
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    throw invalid('body', 'starts with a byte order mark; send plain UTF-8')
  }
}

/** Parses the value of a span. Throws GatewayError `invalid_request` with `path`. */
export function parseSpan(bytes: Buffer, span: ByteRange, path: string): unknown {
  const text = bytes.toString('utf8', span.start, span.end)
  if (text === 'true') return true
  if (text === 'false') return false
  if (text === 'null') return null
  if (plainString.test(text)) return text.slice(1, -1)
  const value = parsedOrNothing(text)
  if (value === undefined) throw invalid(path, 'not valid JSON')
  return value
}

/** The type name of the JSON value that starts at this byte, for messages. */
export function kindAt(bytes: Buffer, at: number): string {
  switch (bytes[at]) {
    case quote:
      return 'string'
    case openBrace:
      return 'object'
    case openBracket:
      return 'array'
    case 0x74:
    case 0x66:
      return 'boolean'
    case 0x6e:
      return 'null'
    default:
      return 'number'
  }
}

/** The offset of the first byte at or after `at` that is not JSON white space. */
export function skipSpace(bytes: Buffer, at: number, end: number): number {
  let i = at
  while (i < end) {
    const byte = bytes[i]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break
    i++
  }
  return i
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

/** The size up to which the scan checks every byte. */
export const strictBytesMax = 32 * 1024

/** A string without escapes, which most model names are. */
const plainString = /^"[\w.:/@-]*"$/

/** The state of one scan. */
interface Text {
  bytes: Buffer
  end: number
  /** The maximum nesting depth below the scanned object. */
  depthMax: number
  valuesMax: number
  /** The number of keys and values that are still allowed. */
  valuesLeft: number
  /** Only set for documents in which the scan skips long strings. */
  words: Int32Array | undefined
  watch: Watch | undefined
}

/** More than any body contains, but still a small integer in V8. */
const uncounted = 2 ** 30

function startScan(
  bytes: Buffer,
  span: ByteRange,
  { depthMax, valuesMax = uncounted, watch }: ScanOptions,
): Text {
  const words = bytes.length <= strictBytesMax ? undefined : int32View(bytes)
  return {
    bytes,
    end: span.end,
    depthMax: depthMax - 1,
    valuesMax,
    valuesLeft: valuesMax,
    words,
    watch,
  }
}

/** Counts a key or a value. */
function countOne(text: Text): void {
  if (--text.valuesLeft < 0) throw tooMany(text)
}

function tooMany({ valuesMax }: Text): GatewayError {
  return invalid(
    'body',
    `more than ${valuesMax} JSON keys and values; send fewer, or ask the operator to raise JSON_VALUES_MAX`,
  )
}

/** One parser would ignore such a member, and another would treat it as the named one. */
function refuseLike(bytes: Buffer, start: number, end: number, names: readonly string[], path: string): void {
  const name = nameLike(bytes, start, end, names)
  if (name === undefined) return
  throw invalid(
    path ? `${path}.${name}` : name,
    'contains capital or special letters, which upstreams interpret differently: spell it in lower case',
  )
}

function byteAt(text: Text, at: number): number | undefined {
  return at < text.end ? text.bytes[at] : undefined
}

function finish<T>(text: Text, from: number, members: T): T {
  const at = skipSpace(text.bytes, from, text.end)
  if (at < text.end) throw fault(text, at, 'unexpected text after the end of the object')
  return members
}

/** The offset after one value, found without recursion. `depth`: the lists it is in below the object. */
function endOfValue(text: Text, from: number, depth = 0): number {
  const { bytes, end } = text
  const first = bytes[from]
  if (first !== openBrace && first !== openBracket) {
    countOne(text)
    return endOfScalar(text, from)
  }
  const closers: number[] = []
  let left = text.valuesLeft
  let at = from
  for (;;) {
    const byte = byteAt(text, at)
    if (--left < 0) throw tooMany(text)
    if (byte === openBrace || byte === openBracket) {
      if (closers.length + depth >= text.depthMax) throw invalid('body', 'nested too deeply')
      // Nested values take longer to process than flat ones.
      left -= (closers.length + depth) >> 4
      // In ASCII, `]` and `}` are two positions after `[` and `{`.
      closers.push(byte + 2)
      at = skipSpace(bytes, at + 1, end)
      if (byteAt(text, at) !== byte + 2) {
        if (byte === openBrace) {
          at = skipSpace(bytes, afterColon(text, endOfKey(text, at)), end)
          left--
        }
        continue
      }
      closers.pop()
      at++
    } else at = endOfScalar(text, at)

    for (;;) {
      const closer = closers.at(-1)
      if (closer === undefined) {
        text.valuesLeft = left
        return at
      }
      at = skipSpace(bytes, at, end)
      const next = byteAt(text, at)
      if (next === closer) {
        closers.pop()
        at++
      } else if (next === comma) {
        at = skipSpace(bytes, at + 1, end)
        if (closer === closeBrace) {
          at = skipSpace(bytes, afterColon(text, endOfKey(text, at)), end)
          left--
        }
        break
      } else throw fault(text, at, `expected ',' or '${String.fromCharCode(closer)}' after a value`)
    }
  }
}

function endOfKey(text: Text, at: number): number {
  if (byteAt(text, at) !== quote) throw fault(text, at, 'expected a property name in double quotes')
  return endOfString(text, at)
}

function afterColon(text: Text, from: number): number {
  const at = skipSpace(text.bytes, from, text.end)
  if (byteAt(text, at) !== colon) throw fault(text, at, "expected ':' after a property name")
  return at + 1
}

function endOfScalar(text: Text, at: number): number {
  const byte = byteAt(text, at)
  if (byte === quote) return endOfString(text, at)
  if (byte === 0x74) return endOfLiteral(text, at, 'true')
  if (byte === 0x66) return endOfLiteral(text, at, 'false')
  if (byte === 0x6e) return endOfLiteral(text, at, 'null')
  return endOfNumber(text, at)
}

function endOfLiteral(text: Text, at: number, literal: string): number {
  for (let i = 0; i < literal.length; i++) {
    if (byteAt(text, at + i) !== literal.charCodeAt(i)) throw fault(text, at + i, 'expected a value')
  }
  return at + literal.length
}

function endOfNumber(text: Text, from: number): number {
  let at = byteAt(text, from) === 0x2d ? from + 1 : from
  at = byteAt(text, at) === 0x30 ? at + 1 : endOfDigits(text, at)
  if (byteAt(text, at) === 0x2e) at = endOfDigits(text, at + 1)
  const exponent = byteAt(text, at)
  if (exponent === 0x65 || exponent === 0x45) {
    const sign = byteAt(text, at + 1)
    at = endOfDigits(text, sign === 0x2b || sign === 0x2d ? at + 2 : at + 1)
  }
  text.watch?.lookAtNumber(text.bytes, from, at)
  return at
}

function endOfDigits(text: Text, from: number): number {
  let at = from
  for (;;) {
    const byte = byteAt(text, at)
    if (byte === undefined || byte < 0x30 || byte > 0x39) break
    at++
  }
  if (at === from) throw fault(text, at, 'expected a value')
  return at
}

/** The offset after the closing quote of the string that starts at `start`. */
function endOfString(text: Text, start: number): number {
  const { bytes, watch } = text
  const near = text.words === undefined ? text.end : Math.min(start + hopFromBytes, text.end)
  let hasCodes = false
  let at = start + 1
  while (at < near) {
    while (at < near && stringBreaks[bytes[at] ?? 0] === 0) at++
    if (at >= near) break
    const byte = bytes[at]
    if (byte === quote) {
      watch?.look(bytes, start, at + 1, hasCodes)
      return at + 1
    }
    if (byte !== backslash) throw fault(text, at, 'control character in a string')
    hasCodes ||= bytes[at + 1] === 0x75
    at += escapeBytes(text, at)
  }
  watch?.look(bytes, start, at, hasCodes)
  return endOfLongString(text, at)
}

function endOfLongString(text: Text, from: number): number {
  const { bytes, end, words } = text
  const closing = words === undefined || from >= end ? -1 : closingQuote(bytes, words, from, end)
  if (closing === -1) throw fault(text, end, 'unterminated string')
  return closing + 1
}

/** Strings are skipped from this length on. */
const hopFromBytes = 100

function escapeBytes(text: Text, at: number): number {
  const byte = byteAt(text, at + 1)
  if (byte !== undefined && escapes[byte] === 1) return 2
  if (byte !== 0x75) throw fault(text, at + 1, 'unknown escape in a string')
  for (let i = at + 2; i < at + 6; i++) {
    const digit = byteAt(text, i)
    if (digit === undefined || hexDigits[digit] !== 1) throw fault(text, i, 'expected four hex digits')
  }
  return 6
}

/** Bytes at which a loop over a string must stop: quotes, backslashes and control characters. */
const stringBreaks = bytesOf('"\\')
stringBreaks.fill(1, 0, 0x20)
const escapes = bytesOf('"\\/bfnrt')
const hexDigits = bytesOf('0123456789abcdefABCDEF')

function bytesOf(characters: string): Uint8Array {
  const set = new Uint8Array(256)
  for (const character of characters) set[character.charCodeAt(0)] = 1
  return set
}

function fault({ bytes, end }: Text, at: number, problem: string): GatewayError {
  return invalid('body', `not valid JSON: ${problem} (${placeOf(bytes, Math.min(at, end))})`)
}

/**
 * The line and column of an offset, for messages. Columns count characters. If the line has more than 4 KB
 * before the offset, they count bytes, because refusing a body must be cheap.
 */
function placeOf(bytes: Buffer, at: number): string {
  let line = 1
  let start = 0
  for (let i = 0; i < at; i++) {
    if (bytes[i] !== 0x0a) continue
    line++
    start = i + 1
  }
  const isShort = at - start <= decodedLineBytesMax
  const column = isShort ? bytes.toString('utf8', start, at).length : at - start
  return `line ${line} column ${column + 1}`
}

const decodedLineBytesMax = 4096
