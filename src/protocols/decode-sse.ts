import { GatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import type { EventDecoder } from './protocol.ts'
import { FrameEnds, frameData } from './sse.ts'

/**
 * Bytes of a stream to canonical events: any split of the bytes gives the same events. Never throws: what a decoder
 * cannot read becomes an `error` event, after which nothing comes any more.
 */
export class SseDecoder {
  readonly #decoder: EventDecoder
  readonly #frameBytesMax: number
  readonly #ends = new FrameEnds()
  #held: Buffer[] = []
  #heldBytes = 0
  #over = false
  #failure: GatewayError | undefined

  constructor(decoder: EventDecoder, frameBytesMax: number) {
    this.#decoder = decoder
    this.#frameBytesMax = frameBytesMax
  }

  /** The error that was made of what could not be read: not one that the upstream told. */
  get failure(): GatewayError | undefined {
    return this.#failure
  }

  push(chunk: Buffer): ChatEvent[] {
    if (this.#over) return []
    const events: ChatEvent[] = []
    this.#ends.begin(chunk)
    let start = 0
    for (let end = this.#ends.next(0); end !== -1 && !this.#over; end = this.#ends.next(start)) {
      if (this.#heldBytes === 0) this.#take(chunk, start, end, events)
      else {
        this.#held.push(chunk.subarray(start, end))
        const frame = Buffer.concat(this.#held)
        this.#drop()
        this.#take(frame, 0, frame.length, events)
      }
      start = end
    }
    if (start < chunk.length && !this.#over) this.#hold(chunk.subarray(start), events)
    return events
  }

  end(): ChatEvent[] {
    if (this.#over) return []
    const events: ChatEvent[] = []
    if (this.#heldBytes > 0) {
      // Some upstreams leave out the last blank line.
      const frame = Buffer.concat([...this.#held, blankLine])
      this.#drop()
      this.#takeLast(frame, events)
    }
    if (!this.#over) this.#run(() => this.#decoder.end(), events)
    return events
  }

  #take(bytes: Buffer, start: number, end: number, events: ChatEvent[]): void {
    const data = frameData(bytes, start, end)
    if (data !== undefined) this.#run(() => this.#decoder.push(data), events)
  }

  /** Half an event is no fault of the upstream's format: the stream was cut, which the decoder's own end tells. */
  #takeLast(frame: Buffer, events: ChatEvent[]): void {
    const data = frameData(frame, 0, frame.length)
    if (data === undefined) return
    try {
      this.#add(this.#decoder.push(data), events)
    } catch {}
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

const blankLine = Buffer.from('\n\n')

function unreadable(cause: unknown): GatewayError {
  return new GatewayError('upstream_error', 'The upstream sent an event that cannot be read.', { cause })
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('upstream_error', `The upstream sent an event of more than ${bytesMax} bytes.`)
}
