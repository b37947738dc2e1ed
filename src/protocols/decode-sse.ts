import { GatewayError, gatewayError } from '../canonical/error.ts'
import type { ChatEvent } from '../canonical/event.ts'
import { EventReader } from './event-reader.ts'
import type { EventDecoder } from './protocol.ts'

/**
 * Decodes the bytes of a stream into canonical events. The events do not depend on how the bytes are split.
 * Never throws: an event that the decoder cannot read becomes an `error` event, which is the last one.
 */
export class SseDecoder {
  readonly #decoder: EventDecoder
  readonly #frameBytesMax: number
  readonly #reader = new EventReader()
  #over = false
  #failure: GatewayError | undefined

  constructor(decoder: EventDecoder, frameBytesMax: number) {
    this.#decoder = decoder
    this.#frameBytesMax = frameBytesMax
  }

  /** The error for an event that we cannot read, as opposed to an error sent by the upstream. */
  get failure(): GatewayError | undefined {
    return this.#failure
  }

  push(chunk: Buffer): ChatEvent[] {
    if (this.#over) return []
    const events: ChatEvent[] = []
    this.#reader.readData(chunk, (data) => this.#take(data, events))
    if (!this.#over && this.#reader.heldBytes > this.#frameBytesMax) {
      this.#failure = gatewayError('upstream_event_too_large', { bytesMax: this.#frameBytesMax })
      this.#add([{ type: 'error', error: this.#failure }], events)
    }
    // Nobody reads the stream any more.
    if (this.#over) this.#reader.drop()
    return events
  }

  end(): ChatEvent[] {
    if (this.#over) return []
    // Some upstreams omit the last blank line.
    let events: ChatEvent[] = []
    for (const { data } of this.#reader.end().events) this.#take(data, events)
    if (this.#failure !== undefined) {
      // An incomplete event means that the stream was cut off, not that the format is wrong. The decoder's
      // `end` reports that.
      this.#failure = undefined
      this.#over = false
      events = []
    }
    if (!this.#over) this.#run(() => this.#decoder.end(), events)
    return events
  }

  #take(data: string, events: ChatEvent[]): void {
    if (!this.#over) this.#run(() => this.#decoder.push(data), events)
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
}

function unreadable(cause: unknown): GatewayError {
  return gatewayError('upstream_answer_unreadable', { what: 'an event that cannot be parsed' }, { cause })
}
