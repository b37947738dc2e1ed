import { Readable } from 'node:stream'

/** A large body that is sent in parts. */
export interface BodyParts {
  pieces: readonly Buffer[]
  /**
   * Called with the size of each part. If it returns a promise, the part is sent when the promise resolves.
   */
  pace(bytes: number): Promise<void> | undefined
}

export interface PacedBodyListener {
  /** Called for the first part. `write` writes it, together with the request's headers, before it returns. */
  first(write: () => void): void
  /** Called when the last part has been passed on. */
  whole(): void
}

/** The number of bytes written at once. */
const partBytes = 256 * 1024

/** Presents a large body to undici as a stream. */
export class PacedBody extends Readable {
  readonly #parts: Buffer[]
  readonly #pace: BodyParts['pace']
  readonly #listener: PacedBodyListener
  #hasBegun = false

  constructor({ pieces, pace }: BodyParts, listener: PacedBodyListener) {
    super({ highWaterMark: partBytes })
    this.#parts = pieces.flatMap(partsOf)
    this.#pace = pace
    this.#listener = listener
    this.once('end', () => listener.whole())
  }

  override _read(): void {
    const part = this.#parts.shift()
    if (part === undefined) {
      this.push(null)
      return
    }
    // The request's headers are sent together with the first part, which does not wait, because the upstream
    // may close an idle connection.
    const turn = this.#hasBegun ? this.#pace(part.length) : undefined
    // Deferred, because only a later push passes its part on before it returns.
    void Promise.resolve(turn).then(() => this.#pushPart(part))
  }

  #pushPart(part: Buffer): void {
    if (this.destroyed) return
    if (this.#hasBegun) this.push(part)
    else this.#listener.first(() => this.push(part))
    this.#hasBegun = true
    // End immediately, because undici closes the connection if the response ends before the body does.
    if (this.#parts.length === 0 && !this.readableEnded) this.push(null)
  }
}

function partsOf(piece: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < piece.length; at += partBytes) parts.push(piece.subarray(at, at + partBytes))
  return parts
}

/** Returns the size of the body. */
export function bodySize({ pieces }: Pick<BodyParts, 'pieces'>): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
