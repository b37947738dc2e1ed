import { FrameEnds, frameData } from './sse.ts'

/** Reads the `data` of server-sent events. The caller bounds what is held. */
export class EventDataReader {
  readonly #ends = new FrameEnds()
  #held: Buffer[] = []
  /** Bytes of an event that has not ended yet. */
  heldBytes = 0

  /** The `data` of each event that ends in `bytes`. Several lines of one event are joined, as the standard says. */
  push(bytes: Buffer): string[] {
    const found: string[] = []
    this.#ends.begin(bytes)
    let from = 0
    for (let end = this.#ends.next(from); end !== -1; end = this.#ends.next(from)) {
      const frame = Buffer.concat([...this.#held, bytes.subarray(from, end)])
      const data = frameData(frame, 0, frame.length)
      if (data !== undefined) found.push(data)
      this.#held = []
      this.heldBytes = 0
      from = end
    }
    if (from < bytes.length) {
      this.#held.push(bytes.subarray(from))
      this.heldBytes += bytes.length - from
    }
    return found
  }

  /** The `data` of a last event without its blank line: some upstreams leave it out. */
  end(): string[] {
    const frame = Buffer.concat(this.#held)
    const data = frameData(frame, 0, frame.length)
    return data === undefined ? [] : [data]
  }
}
