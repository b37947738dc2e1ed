import { backslashes, lineBreaks, runEnd, schemeCharacters, valueEnd } from './runs.ts'
import { findSecrets } from './secrets.ts'

/**
 * The number of bytes on either side of a cut that are searched for secrets. A longer secret is recognised by
 * its token or its lines.
 */
export const windowBytes = 512

/** The last position at or before `at` where the front part can end. */
export function headEdge(
  raw: Buffer,
  low: number,
  high: number,
  at: number,
  exact: readonly string[],
): number {
  let edge = at
  while (edge > low && edge > at - 3 && isContinuation(raw[edge])) edge--
  edge = Math.max(low, escapeAround(raw, edge, low)?.start ?? edge)
  const start = Math.max(low, edge - windowBytes)
  const spans = findSecrets(raw.toString('latin1', start, Math.min(high, edge + windowBytes)), exact)
  const across = spans.find((span) => start + span.start < edge && start + span.until > edge)
  return across === undefined ? edge : start + across.start
}

/** The first position at or after `at` where the back part can begin. */
export function tailEdge(
  raw: Buffer,
  low: number,
  high: number,
  at: number,
  exact: readonly string[],
): number {
  let edge = at
  while (edge < high && edge < at + 3 && isContinuation(raw[edge])) edge++
  edge = Math.min(high, escapeAround(raw, edge, low)?.end ?? edge)
  // Each round moves the cut further back in the text. A few rounds suffice: a text that needs more has no
  // back part worth keeping.
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

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80
}

/** The JSON escape that crosses `at`, if any. A surrogate pair counts as one escape. */
function escapeAround(raw: Buffer, at: number, low: number): { start: number; end: number } | undefined {
  let base = Math.max(low, at - 16)
  let run = base
  while (run > low && raw[run - 1] === backslash) run--
  // Backslashes form pairs: after an odd number of them, the next one completes a pair.
  base -= (base - run) % 2
  const text = raw.toString('latin1', base, at + 16)
  const edge = at - base
  for (const match of text.matchAll(/\\u[dD][89abAB]..\\u[dD][c-fC-F]..|\\u[0-9a-fA-F]{4}|\\[\s\S]/g)) {
    if (match.index >= edge) return undefined
    const end = match.index + match[0].length
    if (end > edge) return { start: base + match.index, end: base + end }
  }
  return undefined
}

const backslash = 0x5c
const lineLengthMin = 40

/** Moves past the token that crosses `at`. In a base64 block, moves past all lines of the block. */
function tokenEnd(raw: Buffer, low: number, high: number, at: number): number {
  const inBlock = isInBlock(raw, low, at)
  if (!inBlock && !(at > low && isTokenByte(raw[at - 1]))) return at
  const text = raw.toString('latin1', at, high)
  // In JSON within JSON, `at` can split the escape of a newline.
  let end = inBlock && raw[at - 1] === backslash && /^[nr]/.test(text) ? 1 : 0
  end = valueEnd(text, end, schemeCharacters)
  while (inBlock) {
    const line = lineBreaksEnd(text, end)
    const lineEnd = valueEnd(text, line, schemeCharacters)
    if (lineEnd === line || text.startsWith('-----', line)) break
    end = lineEnd
    if (lineEnd - line < lineLengthMin) break
  }
  return at + end
}

/** Skips line breaks, escaped or not. */
function lineBreaksEnd(text: string, at: number): number {
  let end = runEnd(text, at, lineBreaks)
  for (;;) {
    const letter = runEnd(text, end, backslashes)
    if (letter === end || !/^[nr]/.test(text.charAt(letter))) return end
    end = runEnd(text, letter + 1, lineBreaks)
  }
}

/**
 * True inside base64 lines, such as a private key without its first line, where a long base64 run ends just
 * before `at`.
 */
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
