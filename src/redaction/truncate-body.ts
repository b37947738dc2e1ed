import { closingQuote, wordsOf } from '../canonical/json-quote.ts'
import { findSecrets } from './secrets.ts'

export interface TruncationLimits {
  bytesMax: number
  stringBytesMax: number
}

/**
 * A body cut to size: long JSON strings in their middle (the JSON stays parseable), then the whole. Answers with the
 * same buffer when it fits, else with memory that the next call writes to again. A cut keeps three quarters at the front and one at the back, breaks no UTF-8 sequence
 * and no JSON escape, and leaves no part of a secret that lay across it.
 *
 * The work is bounded by what is kept, apart from one search through each string that is cut.
 */
export function truncateBody(raw: Buffer, limits: TruncationLimits, exact: readonly string[]): Buffer {
  if (raw.length <= Math.min(limits.stringBytesMax, limits.bytesMax)) return raw
  const { body, omittedBytes } = truncateStrings(raw, limits, exact)
  if (body.length <= limits.bytesMax) return body
  return wholes.join(
    truncateMiddle(body, 0, body.length, limits.bytesMax - markerBytesMax, exact, omittedBytes).pieces,
  )
}

const quote = 0x22
const backslash = 0x5c
const markerBytesMax = 48
/** How far around a cut secrets are looked for; longer ones are recognised by their token or their lines. */
const windowBytes = 512

/** `omittedBytes` bytes of the middle are left out already; the whole cut that follows takes that place out. */
function truncateStrings(
  raw: Buffer,
  limits: TruncationLimits,
  exact: readonly string[],
): { body: Buffer; omittedBytes: number } {
  const pieces: Buffer[] = []
  const words = wordsOf(raw)
  const kept = limits.bytesMax + windowBytes
  let keptBytes = 0
  let copied = 0
  let at = raw.indexOf(quote)
  while (at !== -1) {
    const start = at + 1
    const closing = closingQuote(raw, words, start, raw.length)
    const end = closing === -1 ? raw.length : closing
    if (end - start > limits.stringBytesMax) {
      const truncated = truncateMiddle(raw, start, end, limits.stringBytesMax, exact, 0)
      const before = raw.subarray(copied, start)
      pieces.push(before, ...truncated.pieces)
      keptBytes += before.length + truncated.bytes
      copied = end
    }
    if (keptBytes + end - copied > kept) {
      // A quarter of the whole is kept at its back, and a little more is looked at.
      const tail = (limits.bytesMax >> 2) + 2 * windowBytes
      if (pieces.length === 0 || raw.length - end <= tail) break
      const rest = raw.subarray(raw.length - tail)
      return {
        body: bodies.join([...pieces, raw.subarray(copied, end), rest]),
        omittedBytes: raw.length - tail - end,
      }
    }
    at = end + 1 < raw.length ? raw.indexOf(quote, end + 1) : -1
  }
  if (pieces.length === 0) return { body: raw, omittedBytes: 0 }
  return { body: bodies.join([...pieces, raw.subarray(copied)]), omittedBytes: 0 }
}

function truncateMiddle(
  raw: Buffer,
  low: number,
  high: number,
  keep: number,
  exact: readonly string[],
  omittedBytes: number,
): { pieces: Buffer[]; bytes: number } {
  const tailBytes = Math.max(0, keep >> 2)
  const head = headEdge(raw, low, high, low + Math.max(0, keep - tailBytes), exact)
  const tail = tailEdge(raw, low, high, high - tailBytes, exact)
  const marker = Buffer.from(` …[${tail - head + omittedBytes} bytes cut]… `)
  return {
    pieces: [raw.subarray(low, head), marker, raw.subarray(tail, high)],
    bytes: head - low + marker.length + high - tail,
  }
}

/** The last place not behind `at` where the front part may end. */
function headEdge(raw: Buffer, low: number, high: number, at: number, exact: readonly string[]): number {
  let edge = at
  while (edge > low && edge > at - 3 && isContinuation(raw[edge])) edge--
  edge = Math.max(low, escapeAround(raw, edge, low)?.start ?? edge)
  const start = Math.max(low, edge - windowBytes)
  const spans = findSecrets(raw.toString('latin1', start, Math.min(high, edge + windowBytes)), exact)
  const across = spans.find((span) => start + span.start < edge && start + span.until > edge)
  return across === undefined ? edge : start + across.start
}

/** The first place not before `at` where the back part may begin. */
function tailEdge(raw: Buffer, low: number, high: number, at: number, exact: readonly string[]): number {
  let edge = at
  while (edge < high && edge < at + 3 && isContinuation(raw[edge])) edge++
  edge = Math.min(high, escapeAround(raw, edge, low)?.end ?? edge)
  // Each round moves on; few are ever needed, and a text that wants more of them has no back part worth keeping.
  for (let round = 0; round < 16; round++) {
    const start = Math.max(low, edge - windowBytes)
    const spans = findSecrets(raw.toString('latin1', start, Math.min(high, edge + windowBytes)), exact)
    const across = spans.find((span) => start + span.from < edge && start + span.end > edge)
    const next = tokenEnd(raw, low, high, across === undefined ? edge : start + across.end)
    if (next === edge) return edge
    edge = next
  }
  return high
}

const tokenCharacters = /(?:[\w+/=.~*%-]+|\\+\/)*/y
const newlines = /(?:\\+[nr]|[\r\n])+/y
const lineLengthMin = 40

/** Past the token that lies across `at`, and past all lines of a base64 block that does. */
function tokenEnd(raw: Buffer, low: number, high: number, at: number): number {
  const inBlock = isInBlock(raw, low, at)
  if (!inBlock && !(at > low && isTokenByte(raw[at - 1]))) return at
  const text = raw.toString('latin1', at, high)
  // Half of a newline's escape may stand before the cut of a text within a text.
  let end = inBlock && raw[at - 1] === backslash && /^[nr]/.test(text) ? 1 : 0
  end = matchEnd(tokenCharacters, text, end)
  while (inBlock) {
    const line = matchEnd(newlines, text, end)
    const lineEnd = matchEnd(tokenCharacters, text, line)
    if (lineEnd === line || text.startsWith('-----', line)) break
    end = lineEnd
    if (lineEnd - line < lineLengthMin) break
  }
  return at + end
}

/** True within base64 in lines, such as a private key without its first line: a long run stands just before. */
function isInBlock(raw: Buffer, low: number, at: number): boolean {
  const least = Math.max(low, at - 3 * lineLengthMin)
  let run = 0
  for (let place = at - 1; place >= least; place--) {
    const byte = raw[place]
    if (isTokenByte(byte)) {
      run++
      if (run === lineLengthMin) return true
    } else if (byte === backslash || byte === 0x0a || byte === 0x0d) {
      run = 0
    } else {
      return false
    }
  }
  return false
}

const tokenBytes = new Set(
  Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=.~*%-'),
)

function isTokenByte(byte: number | undefined): boolean {
  return byte !== undefined && tokenBytes.has(byte)
}

function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/** The JSON escape (a surrogate pair counts as one) that lies across `at`, if any does. */
function escapeAround(raw: Buffer, at: number, low: number): { start: number; end: number } | undefined {
  let base = Math.max(low, at - 16)
  while (base > low && raw[base - 1] === backslash) base--
  const text = raw.toString('latin1', base, at + 16)
  const edge = at - base
  for (const match of text.matchAll(/\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[0-9a-fA-F]{4}|\\[\s\S]/g)) {
    if (match.index >= edge) return undefined
    const end = match.index + match[0].length
    if (end > edge) return { start: base + match.index, end: base + end }
  }
  return undefined
}

/** Buffers joined in the same memory each time: fresh memory costs several times as much as the copy. */
class Scratch {
  #memory = Buffer.alloc(0)

  join(pieces: Buffer[]): Buffer {
    let bytes = 0
    for (const piece of pieces) bytes += piece.length
    if (bytes > scratchBytesMax) return Buffer.concat(pieces, bytes)
    if (bytes > this.#memory.length)
      this.#memory = Buffer.allocUnsafeSlow(Math.max(bytes, 2 * this.#memory.length))
    let at = 0
    for (const piece of pieces) at += piece.copy(this.#memory, at)
    return this.#memory.subarray(0, bytes)
  }
}

const scratchBytesMax = 512 * 1024
const bodies = new Scratch()
const wholes = new Scratch()
