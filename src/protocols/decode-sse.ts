import { GatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import type { EventDecoder } from './protocol.ts'
import { FrameEnds } from './sse.ts'

/**
 * Decodes the bytes of a stream into canonical events. Any split of the bytes gives the same events. Never throws: an
 * event that the decoder cannot read becomes an `error` event, which is the last one.
 */
export class SseDecoder {
  readonly #decoder: EventDecoder
  readonly #frameBytesMax: number
  /** Set after the first CR: frames may then end in several ways. */
  #ends: FrameEnds | undefined
  #held: Buffer[] = []
  #heldBytes = 0
  #over = false
  #hasBegun = false
  #failure: GatewayError | undefined

  constructor(decoder: EventDecoder, frameBytesMax: number) {
    this.#decoder = decoder
    this.#frameBytesMax = frameBytesMax
  }

  /** The error for an event that we cannot read, as opposed to an error that the upstream sent. */
  get failure(): GatewayError | undefined {
    return this.#failure
  }

  push(chunk: Buffer): ChatEvent[] {
    if (this.#over) return []
    const events: ChatEvent[] = []
    const end = this.#wholeFrames(chunk)
    if (end !== -1) this.#takeFrames(this.#textUpTo(chunk, end), events)
    const rest = Math.max(end, 0)
    if (rest < chunk.length && !this.#over) this.#hold(chunk.subarray(rest), events)
    return events
  }

  end(): ChatEvent[] {
    if (this.#over) return []
    const events: ChatEvent[] = []
    // Some upstreams omit the last blank line.
    if (this.#heldBytes > 0) this.#takeLast(this.#textUpTo(nothing, 0), events)
    if (!this.#over) this.#run(() => this.#decoder.end(), events)
    return events
  }

  /** Offset past the last whole frame in the chunk, which may be 0; -1 if no frame ends in it. */
  #wholeFrames(chunk: Buffer): number {
    if (this.#ends === undefined && chunk.indexOf(carriageReturn) !== -1) {
      this.#ends = new FrameEnds()
      lastEnd(this.#ends, Buffer.concat(this.#held))
    }
    if (this.#ends !== undefined) return lastEnd(this.#ends, chunk)
    const last = chunk.lastIndexOf('\n\n')
    if (last !== -1) return last + 2
    return chunk[0] === lineFeed && this.#held.at(-1)?.at(-1) === lineFeed ? 1 : -1
  }

  /** The held bytes and the beginning of the chunk, as text. Whole frames never split a character. */
  #textUpTo(chunk: Buffer, end: number): string {
    const bytes = this.#heldBytes === 0 ? chunk : Buffer.concat([...this.#held, chunk.subarray(0, end)])
    const text = bytes.toString('utf8', 0, bytes === chunk ? end : bytes.length)
    this.#drop()
    return this.#ends === undefined ? text : text.replace(/\r\n?/g, '\n')
  }

  /**
   * Decode the `data:` lines of each frame, joined as the standard says. Frames without any, such as comments, are
   * skipped.
   */
  #takeFrames(text: string, events: ChatEvent[]): void {
    let data: string | undefined
    const start = this.#hasBegun || text.charCodeAt(0) !== byteOrderMark ? 0 : 1
    this.#hasBegun = true
    for (let at = start; at < text.length; ) {
      const found = text.indexOf('\n', at)
      const end = found === -1 ? text.length : found
      if (end === at) {
        if (data !== undefined) this.#take(data, events)
        if (this.#over) return
        data = undefined
      } else if (text.startsWith('data', at)) {
        const value = dataIn(text, at, end)
        if (value !== undefined) data = data === undefined ? value : `${data}\n${value}`
      }
      at = end + 1
    }
    if (data !== undefined) this.#take(data, events)
  }

  #take(data: string, events: ChatEvent[]): void {
    this.#run(() => this.#decoder.push(data), events)
  }

  /**
   * Half an event means that the stream was cut, not that the format is wrong. The decoder's `end` then reports the
   * cut.
   */
  #takeLast(text: string, events: ChatEvent[]): void {
    const before = events.length
    this.#takeFrames(text, events)
    if (this.#failure === undefined) return
    this.#failure = undefined
    this.#over = false
    events.length = before
  }

  #run(decode: () => ChatEvent[], events: ChatEvent[]): void {
    let decoded: ChatEvent[]
    try {
      decoded = decode()
    } catch (error) {
      this.#failure = error instanceof GatewayError ? error : unreadable(error)
      decoded = [{ type: 'error', error: this.#failure }]
    }
    this.#add(decoded, events)
  }

  #add(decoded: readonly ChatEvent[], events: ChatEvent[]): void {
    for (const event of decoded) {
      events.push(event)
      if (event.type !== 'finish' && event.type !== 'error') continue
      this.#over = true
      return
    }
  }

  #hold(piece: Buffer, events: ChatEvent[]): void {
    this.#held.push(piece)
    this.#heldBytes += piece.length
    if (this.#heldBytes <= this.#frameBytesMax) return
    this.#drop()
    this.#over = true
    this.#failure = tooLarge(this.#frameBytesMax)
    events.push({ type: 'error', error: this.#failure })
  }

  #drop(): void {
    this.#held = []
    this.#heldBytes = 0
  }
}

/** Offset past the last frame that ends in these bytes; -1 if none does. */
function lastEnd(ends: FrameEnds, bytes: Buffer): number {
  ends.begin(bytes)
  let last = -1
  for (let end = ends.next(0); end !== -1; end = ends.next(end)) last = end
  return last
}

/** The value of a line that starts with `data`; undefined if the field's name is longer. */
function dataIn(text: string, start: number, end: number): string | undefined {
  if (end === start + 4) return ''
  if (text.charCodeAt(start + 4) !== colon) return undefined
  return text.slice(text.charCodeAt(start + 5) === space ? start + 6 : start + 5, end)
}

const nothing = Buffer.alloc(0)
const byteOrderMark = 0xfeff
const lineFeed = 0x0a
const carriageReturn = 0x0d
const space = 0x20
const colon = 0x3a

function unreadable(cause: unknown): GatewayError {
  return new GatewayError('upstream_error', 'The upstream sent an event that cannot be read.', { cause })
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('upstream_error', `The upstream sent an event of more than ${bytesMax} bytes.`)
}
