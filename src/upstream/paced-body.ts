import { Readable } from 'node:stream'

/** A large body, which goes out in parts. */
export interface BodyParts {
  pieces: readonly Buffer[]
  /** Called with the size of each part. Undefined: go on; otherwise go on when the promise resolves. */
  pace(bytes: number): Promise<void> | undefined
}

export interface PacedBodyListener {
  /** Called for the first part. `write` writes it, with the head of the request, before it returns. */
  first(write: () => void): void
  /** The last part was passed on. */
  whole(): void
}

/** Bytes that we write at once. */
const partBytes = 256 * 1024

/** A large body as undici takes it. */
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
    // The head of the request goes out with the first part. It does not wait: the upstream may close an idle
    // connection.
    const turn = this.#hasBegun ? this.#pace(part.length) : undefined
    // Not in this call: only a later push passes its part on before it returns.
    void Promise.resolve(turn).then(() => this.#pushPart(part))
  }

  #pushPart(part: Buffer): void {
    if (this.destroyed) return
    if (this.#hasBegun) this.push(part)
    else this.#listener.first(() => this.push(part))
    this.#hasBegun = true
    // At once: undici closes the connection when the answer ends before the body does.
    if (this.#parts.length === 0 && !this.readableEnded) this.push(null)
  }
}

function partsOf(piece: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0; at < piece.length; at += partBytes) parts.push(piece.subarray(at, at + partBytes))
  return parts
}

/** The size of the body. */
export function bodySize({ pieces }: Pick<BodyParts, 'pieces'>): number {
  return pieces.reduce((sum, { length }) => sum + length, 0)
}
