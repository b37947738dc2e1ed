import { FrameEnds, type TakeEvent, takeEvents } from './sse.ts'

/** One server-sent event. */
export interface ServerEvent {
  /** Empty if the stream does not name the event. */
  event: string
  data: string
  id: string | undefined
}

/**
 * Reads server-sent events from bytes. The events do not depend on how the bytes are split. Frames without a
 * `data:` line, such as comments, are not events. The caller limits `heldBytes`.
 */
export class EventReader {
  /** Set after the first CR, because frames can then end in several ways. */
  #ends: FrameEnds | undefined
  #held: Buffer[] = []
  #heldBytes = 0
  #hasBegun = false

  /** The number of bytes of an event that has not ended yet. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  /** Returns the events that end in `chunk`. */
  push(chunk: Buffer): ServerEvent[] {
    return listed((take) => this.#read(chunk, 'all', take))
  }

  /** Does the same for the hot path: passes only the data of each event, without building a list. */
  readData(chunk: Buffer, take: (data: string) => void): void {
    this.#read(chunk, 'data', take)
  }

  /**
   * Returns the last event if its blank line is missing, which some upstreams omit. `isCut`: there is text
   * after the last blank line.
   */
  end(): { events: ServerEvent[]; isCut: boolean } {
    const text = this.#textUpTo(nothing, 0)
    const events = listed((take) => this.#takeFrom(text, 'all', take))
    return { events, isCut: text.trim() !== '' && !text.endsWith('\n\n') }
  }

  /** Discards the held bytes. */
  drop(): void {
    this.#held = []
    this.#heldBytes = 0
  }

  #read(chunk: Buffer, reads: 'data' | 'all', take: TakeEvent): void {
    const end = this.#wholeFrames(chunk)
    if (end !== -1) this.#takeFrom(this.#textUpTo(chunk, end), reads, take)
    const rest = Math.max(end, 0)
    if (rest === chunk.length) return
    this.#held.push(chunk.subarray(rest))
    this.#heldBytes += chunk.length - rest
  }

  /**
   * Returns the offset after the last complete frame in the chunk, which may be 0, or -1 if no frame ends in
   * it.
   */
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

  /** The held bytes and the beginning of the chunk as text. Complete frames never split a character. */
  #textUpTo(chunk: Buffer, end: number): string {
    const bytes = this.#heldBytes === 0 ? chunk : Buffer.concat([...this.#held, chunk.subarray(0, end)])
    const text = bytes.toString('utf8', 0, bytes === chunk ? end : bytes.length)
    this.drop()
    return this.#ends === undefined ? text : text.replace(/\r\n?/g, '\n')
  }

  #takeFrom(text: string, reads: 'data' | 'all', take: TakeEvent): void {
    const start = this.#hasBegun || text.charCodeAt(0) !== byteOrderMark ? 0 : 1
    this.#hasBegun = true
    takeEvents(text, start, reads, take)
  }
}

function listed(read: (take: TakeEvent) => void): ServerEvent[] {
  const events: ServerEvent[] = []
  read((data, event, id) => events.push({ event, data, id }))
  return events
}

/** Returns the offset after the last frame that ends in these bytes, or -1 if there is none. */
function lastEnd(ends: FrameEnds, bytes: Buffer): number {
  ends.begin(bytes)
  let last = -1
  for (let end = ends.next(0); end !== -1; end = ends.next(end)) last = end
  return last
}

const nothing = Buffer.alloc(0)
const byteOrderMark = 0xfeff
const lineFeed = 0x0a
const carriageReturn = 0x0d
