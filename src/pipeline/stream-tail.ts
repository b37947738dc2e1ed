import type { StreamWatcher } from '../protocols/protocol.ts'

/** The destination of a tail. */
export interface TailClient {
  write(bytes: Buffer): void
  /** Called once. `last` is the bytes that have not been written yet. */
  end(last: Buffer | undefined): void
}

/**
 * The bytes that an upstream sends after the end of its answer, such as `data: [DONE]`. They are passed on
 * to the client until the upstream ends its stream, `waitMs` have passed since the client got the end of the
 * answer, or `tailBytesMax` is exceeded.
 */
export class StreamTail {
  readonly #watcher: StreamWatcher
  readonly #waitMs: number
  /** Bytes that wait to be sent to the client. */
  #held: Buffer[] = []
  #length = 0
  #hasEnded = false
  #client: TailClient | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(watcher: StreamWatcher, waitMs: number) {
    this.#watcher = watcher
    this.#waitMs = waitMs
  }

  take(chunk: Buffer): void {
    if (this.#hasEnded) return
    this.#length += chunk.length
    if (this.#length > tailBytesMax) {
      this.stop()
      return
    }
    for (const bytes of this.#watcher.push(chunk).forward) {
      if (this.#client === undefined) this.#held.push(bytes)
      else this.#client.write(bytes)
    }
  }

  /** Called when the upstream has ended its stream. */
  end(): void {
    if (this.#hasEnded) return
    const rest = this.#watcher.end()
    if (rest !== undefined) this.#held.push(rest)
    this.stop()
  }

  /** Stops passing bytes on. */
  stop(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    clearTimeout(this.#timer)
    this.#client?.end(this.#takeHeld())
  }

  /** Sends the client the end of the answer, then the tail. */
  follow(last: Buffer | undefined, client: TailClient): void {
    if (last !== undefined) this.#held.unshift(last)
    this.#client = client
    if (this.#hasEnded) {
      client.end(this.#takeHeld())
      return
    }
    const held = this.#takeHeld()
    if (held !== undefined) client.write(held)
    this.#timer = setTimeout(() => this.stop(), this.#waitMs)
  }

  #takeHeld(): Buffer | undefined {
    const held = this.#held
    this.#held = []
    return held.length > 1 ? Buffer.concat(held) : held[0]
  }
}

const tailBytesMax = 64 * 1024
