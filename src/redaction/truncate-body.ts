import { closingQuote, int32View } from '../canonical/json-quote.ts'
import { headEdge, tailEdge, windowBytes } from './truncation-edges.ts'

export interface TruncationLimits {
  bytesMax: number
  stringBytesMax: number
}

/**
 * Truncates a body: first the middle of each long JSON string, so that the JSON stays parseable, then the
 * whole body. Returns the same buffer if the body fits. Otherwise the next call overwrites the result.
 * Three quarters of the kept bytes are from the front and one quarter from the back. Truncation never splits
 * a UTF-8 sequence or a JSON escape, and never leaves part of a secret that crosses the cut.
 * The work is bounded by the bytes kept, apart from one search through each truncated string.
 */
export function truncateBody(raw: Buffer, limits: TruncationLimits, exact: readonly string[]): Buffer {
  if (raw.length <= Math.min(limits.stringBytesMax, limits.bytesMax)) return raw
  const { body, omittedBytes } = truncateStrings(raw, limits, exact)
  if (body.length <= limits.bytesMax) return body
  const keep = limits.bytesMax - markerBytesMax
  return wholes.join(truncateMiddle(body, 0, body.length, keep, exact, omittedBytes).pieces)
}

const quote = 0x22
const markerBytesMax = 48

/**
 * Truncates the long strings. A body with many strings also loses its middle here; `omittedBytes` is the size
 * of that part.
 */
function truncateStrings(
  raw: Buffer,
  limits: TruncationLimits,
  exact: readonly string[],
): { body: Buffer; omittedBytes: number } {
  const pieces: Buffer[] = []
  const words = int32View(raw)
  const enough = limits.bytesMax + windowBytes
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
    if (keptBytes + end - copied > enough) {
      // The front contains all bytes that the result can keep. For the back, a quarter and the windows around
      // it are enough.
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

/**
 * Keeps about `keep` bytes of `raw` between `low` and `high`. The marker in the middle also counts
 * `omittedBytes`.
 */
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

/** Joins buffers in reused memory, because allocating costs several times as much as copying. */
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
