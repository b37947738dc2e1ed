/**
 * Finds the ends of server-sent event frames, regardless of how the bytes are split, for all line ends (LF,
 * CRLF, CR, mixed). A frame ends after its blank line. A blank line at the start of a frame is a separate
 * frame.
 *
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream, read 2026-11-21
 */
export class FrameEnds {
  #bytes: Buffer = nothing
  #place: Place = lineStart
  #simple = true

  /** Takes the next bytes of the stream. Call it only after `next` has returned -1. */
  begin(bytes: Buffer): void {
    this.#bytes = bytes
    this.#simple = this.#place <= lineStart && bytes.indexOf(carriageReturn) === -1
  }

  /**
   * Returns the offset after the first frame that ends at `from` or later, or -1 if none ends in these bytes.
   * It is `from` itself if a lone CR at the end of the earlier bytes completed the frame.
   */
  next(from: number): number {
    return this.#simple ? this.#nextSimple(from) : this.#nextMixed(from)
  }

  /** The fast path for bytes without CR: one native search per line. */
  #nextSimple(from: number): number {
    const bytes = this.#bytes
    if (from >= bytes.length) return -1
    if (this.#place === lineStart && bytes[from] === lineFeed) return from + 1
    let at = from
    for (;;) {
      const end = bytes.indexOf(lineFeed, at)
      if (end === -1) {
        this.#place = inLine
        return -1
      }
      at = end + 1
      if (bytes[at] === lineFeed) {
        this.#place = lineStart
        return at + 1
      }
      if (at === bytes.length) {
        this.#place = lineStart
        return -1
      }
    }
  }

  #nextMixed(from: number): number {
    const bytes = this.#bytes
    let place = this.#place
    for (let at = from; at < bytes.length; at++) {
      const byte = bytes[at]
      // A CR can be the first half of a CRLF. Only the next byte shows where the frame ends.
      if (place === afterBlankCr) {
        this.#place = lineStart
        return byte === lineFeed ? at + 1 : at
      }
      if (byte === lineFeed) {
        if (place === lineStart) {
          this.#place = lineStart
          return at + 1
        }
        place = lineStart
      } else if (byte === carriageReturn) {
        place = place === lineStart || place === afterCr ? afterBlankCr : afterCr
      } else place = inLine
    }
    this.#place = place
    return -1
  }
}

/**
 * The `data:` lines of one frame, joined as specified by the standard. Undefined for a frame without any,
 * such as a comment.
 */
export function frameData(bytes: Buffer, start: number, end: number): string | undefined {
  // Nearly every frame has a single `data:` line with JSON, which contains no line end. In some formats it is
  // preceded by a line with the event's name.
  const dataStart = bytes[start] === 0x65 ? behindFirstLine(bytes, start, end) : start
  if (bytes[end - 1] === lineFeed && bytes[end - 2] === lineFeed && startsWithData(bytes, dataStart)) {
    const textStart = bytes[dataStart + 5] === 0x20 ? dataStart + 6 : dataStart + 5
    const text = bytes.toString('utf8', textStart, end - 2)
    if (!text.includes('\n') && !text.includes('\r')) return text
  }
  const text = bytes.toString('utf8', start, end).replace(/^\uFEFF/, '')
  let data: string | undefined
  takeEvents(text.replace(/\r\n?/g, '\n'), 0, 'data', (found) => {
    data = found
  })
  return data
}

/** `event`: the name; empty if the stream does not provide one. */
export type TakeEvent = (data: string, event: string, id: string | undefined) => void

/**
 * Reads the events of a text with LF line ends, starting at an offset. The last event may lack its blank
 * line. The `data:` lines of each event are joined as specified by the standard. Frames without any, such as
 * comments, are not events. `data`: only the data is read, without names and ids.
 */
export function takeEvents(text: string, from: number, reads: 'data' | 'all', take: TakeEvent): void {
  let event = ''
  let data: string | undefined
  let id: string | undefined
  for (let at = from; at < text.length; ) {
    const found = text.indexOf('\n', at)
    const end = found === -1 ? text.length : found
    if (end === at) {
      if (data !== undefined) take(data, event, id)
      event = ''
      data = undefined
      id = undefined
    } else if (text.startsWith('data', at)) {
      const value = valueIn(text, at + 4, end)
      if (value !== undefined) data = data === undefined ? value : `${data}\n${value}`
    } else if (reads === 'all') {
      if (text.startsWith('event', at)) event = valueIn(text, at + 5, end) ?? event
      else if (text.startsWith('id', at)) id = valueIn(text, at + 2, end) ?? id
    }
    at = end + 1
  }
  if (data !== undefined) take(data, event, id)
}

/** The value of a line whose field name should end at `at`; undefined if the name is longer. */
function valueIn(text: string, at: number, end: number): string | undefined {
  if (end === at) return ''
  if (text.charCodeAt(at) !== colon) return undefined
  return text.slice(text.charCodeAt(at + 1) === space ? at + 2 : at + 1, end)
}

/** The offset after the first line of a frame, or `start` if that line does not end with LF. */
function behindFirstLine(bytes: Buffer, start: number, end: number): number {
  for (let at = start; at < end; at++) {
    const byte = bytes[at]
    if (byte === carriageReturn) return start
    if (byte === lineFeed) return at + 1
  }
  return start
}

function startsWithData(bytes: Buffer, start: number): boolean {
  return (
    bytes[start] === 0x64 &&
    bytes[start + 1] === 0x61 &&
    bytes[start + 2] === 0x74 &&
    bytes[start + 3] === 0x61 &&
    bytes[start + 4] === 0x3a
  )
}

/** Whether a frame contains only a blank line or a comment, such as a keep-alive. */
export function isBlankOrComment(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start]
  return end - start <= 2 || (first === 0x3a && !bytes.subarray(start, end).includes('data'))
}

const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const colon = 0x3a
const nothing = Buffer.alloc(0)

type Place = 0 | 1 | 2 | 3
const inLine = 0
const lineStart = 1
/** After a CR that ended a line. An LF that follows belongs to it. */
const afterCr = 2
/** After a CR that was the blank line. */
const afterBlankCr = 3
