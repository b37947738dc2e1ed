import { isUtf8 } from 'node:buffer'
import { FrameEnds, frameData } from '../protocols/sse.ts'

/**
 * Turns the bytes of server-sent events into WebSocket text frames, as sent by a server: one for each event
 * with data. All frames of a chunk are returned as one buffer, because a write for each would cost three
 * times as much as the events themselves.
 *
 * https://www.rfc-editor.org/rfc/rfc6455#section-5.2
 */
export class EventFrames {
  readonly #eventBytesMax: number
  /** What each event begins with in place of its opening brace. */
  readonly #mark: string
  readonly #ends = new FrameEnds()
  #held: Buffer[] = []
  #heldBytes = 0
  #last: Buffer = nothing
  #isOver = false

  constructor(eventBytesMax: number, mark = '') {
    this.#eventBytesMax = eventBytesMax
    this.#mark = mark
  }

  /** The data of the last event; empty before the first one. */
  get last(): Buffer {
    return this.#last
  }

  /**
   * Returns the frames of the events that end in this chunk, or undefined if there are none. After an event
   * that is too large, there are no more frames.
   */
  push(chunk: Buffer): Buffer | undefined {
    if (this.#isOver) return undefined
    const before = this.#heldBytes
    this.#ends.begin(chunk)
    const ends: number[] = []
    for (let end = this.#ends.next(0); end !== -1; end = this.#ends.next(end)) ends.push(before + end)
    const whole = ends.at(-1)
    if (whole === undefined) {
      this.#hold(chunk)
      return undefined
    }
    const bytes = before === 0 ? chunk : Buffer.concat([...this.#held, chunk])
    this.#held = []
    this.#heldBytes = 0
    if (whole < bytes.length) this.#hold(bytes.subarray(whole))
    return this.#framesOf(bytes.subarray(0, whole), ends)
  }

  /** `ends` are the positions where the events in these bytes end. */
  #framesOf(bytes: Buffer, ends: readonly number[]): Buffer | undefined {
    // An upstream may send any bytes, but a text frame that is not UTF-8 breaks the connection. CR also ends
    // lines.
    const mayCopy = this.#mark === '' && isUtf8(bytes) && !bytes.includes(carriageReturn)
    const frames = mayCopy ? Buffer.allocUnsafe(roomFor(bytes.length)) : undefined
    const others: Buffer[] = []
    let start = 0
    let at = 0
    for (const end of ends) {
      const from = mayCopy ? onlyDataIn(bytes, start, end) : -1
      if (frames !== undefined && from !== -1) {
        const to = end - 2
        if (!isNoEvent(bytes, from, to)) {
          at = writeHeader(frames, at, to - from)
          const copied = bytes.copy(frames, at, from, to)
          this.#last = frames.subarray(at, at + copied)
          at += copied
        }
      } else {
        const data = Buffer.from(this.#marked(frameData(bytes, start, end) ?? ''))
        if (!isNoEvent(data, 0, data.length)) {
          if (frames !== undefined) others.push(Buffer.from(frames.subarray(0, at)))
          at = 0
          others.push(frameOf(data))
          this.#last = data
        }
      }
      start = end
    }
    if (frames !== undefined && at > 0) others.push(frames.subarray(0, at))
    return others.length > 1 ? Buffer.concat(others) : others[0]
  }

  /** All events are objects with members. */
  #marked(data: string): string {
    return this.#mark !== '' && data.startsWith('{') ? this.#mark + data.slice(1) : data
  }

  #hold(piece: Buffer): void {
    this.#held.push(piece)
    this.#heldBytes += piece.length
    if (this.#heldBytes <= this.#eventBytesMax) return
    this.#isOver = true
    this.#held = []
    this.#last = nothing
  }
}

const nothing = Buffer.alloc(0)
const lineFeed = 0x0a
const carriageReturn = 0x0d
const colon = 0x3a
const space = 0x20

/** No frame is longer than its event, except that one of 64 KiB or more can be three bytes longer. */
function roomFor(bytes: number): number {
  return bytes + 16 * (1 + (bytes >> 16))
}

/**
 * Returns where the data begins in an event that consists of an optional name line and one data line, both
 * ended by LF, as nearly all do; -1 for any other event. Its data ends two bytes before the event.
 */
function onlyDataIn(bytes: Buffer, start: number, end: number): number {
  let at = start
  if (bytes[at] === 0x65) at = bytes.indexOf(lineFeed, at) + 1
  // d, a, t, a
  if (bytes[at] !== 0x64 || bytes[at + 1] !== 0x61 || bytes[at + 2] !== 0x74 || bytes[at + 3] !== 0x61)
    return -1
  if (bytes[at + 4] !== colon || bytes[end - 1] !== lineFeed) return -1
  at += bytes[at + 5] === space ? 6 : 5
  // The data is followed by the end of its line, and then only by the blank line.
  return bytes.indexOf(lineFeed, at) === end - 2 ? at : -1
}

/** `[DONE]` only ends a stream over HTTP, and an event without data is dropped. */
function isNoEvent(bytes: Buffer, from: number, to: number): boolean {
  return to <= from || (bytes[from] === 0x5b && bytes.toString('latin1', from, to) === '[DONE]')
}

/** Returns a complete text frame. */
function frameOf(data: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(10 + data.length)
  const at = writeHeader(frame, 0, data.length)
  return frame.subarray(0, at + data.copy(frame, at))
}

/** Returns the offset after the header. */
function writeHeader(frame: Buffer, at: number, length: number): number {
  frame[at] = wholeText
  if (length < 126) {
    frame[at + 1] = length
    return at + 2
  }
  if (length < 65_536) {
    frame[at + 1] = 126
    return frame.writeUInt16BE(length, at + 2)
  }
  frame[at + 1] = 127
  frame.writeUInt32BE(0, at + 2)
  return frame.writeUInt32BE(length, at + 6)
}

/** The first byte of a text message in a single frame. */
const wholeText = 0x81
