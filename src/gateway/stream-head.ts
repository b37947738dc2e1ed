/**
 * The head of a stream that passes unchanged, up to the first content: another target may still answer until then. Most errors of an
 * upstream that has begun come with its head. A client waits no longer for a head that is good.
 */
export class StreamHead {
  readonly #bytesMax: number
  readonly #timer: NodeJS.Timeout
  #chunks: Buffer[] = []
  #bytes = 0

  /** `onLate`: the head has waited long enough. */
  constructor(bytesMax: number, onLate: () => void) {
    this.#bytesMax = bytesMax
    this.#timer = setTimeout(onLate, headMs).unref()
  }

  /** Returns what may go out now. */
  push(chunks: readonly Buffer[]): Buffer[] {
    for (const chunk of chunks) this.#bytes += chunk.length
    this.#chunks.push(...chunks)
    return this.#bytes <= this.#bytesMax ? [] : this.take()
  }

  /** Nothing waits any more. */
  take(): Buffer[] {
    clearTimeout(this.#timer)
    const head = this.#chunks
    this.#chunks = []
    return head
  }
}

const headMs = 1_000

/** The pieces as one buffer, without a copy of a single piece; undefined without pieces. */
export function joinChunks(pieces: Buffer[]): Buffer | undefined {
  return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
}
