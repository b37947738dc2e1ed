import type { Bounds } from '../config.ts'

/**
 * The head of a stream that passes unchanged, up to the first content: another target may still answer until then. It waits no longer
 * than a client may be left without a sign of life; whether it did is looked at when the next chunk comes.
 */
export class StreamHead {
  readonly #bounds: Pick<Bounds, 'keepAliveMs' | 'sseFrameBytesMax'>
  readonly #begunAt = Date.now()
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(bounds: Pick<Bounds, 'keepAliveMs' | 'sseFrameBytesMax'>) {
    this.#bounds = bounds
  }

  /** Returns what may go out now. */
  push(chunks: readonly Buffer[]): Buffer[] {
    for (const chunk of chunks) this.#bytes += chunk.length
    this.#chunks.push(...chunks)
    const { keepAliveMs, sseFrameBytesMax } = this.#bounds
    const waits = this.#bytes <= sseFrameBytesMax && Date.now() - this.#begunAt < keepAliveMs
    return waits ? [] : this.take()
  }

  take(): Buffer[] {
    const head = this.#chunks
    this.#chunks = []
    return head
  }
}

/** The pieces as one buffer, without a copy of a single piece; undefined without pieces. */
export function joinChunks(pieces: Buffer[]): Buffer | undefined {
  return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
}
