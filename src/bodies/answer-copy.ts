/** Takes `bytes` from the memory shared by all copies of a process. Returns false if not enough is left. */
export type TakeMemory = (bytes: number) => boolean

/** The copy of a response. */
export interface CopiedAnswer {
  /** Each piece has its own memory, which can be transferred to a thread. */
  pieces: Uint8Array<ArrayBuffer>[]
  /** The amount of shared memory that the pieces have taken. */
  bytesTaken: number
  /** Whether the client got more than was copied. */
  isCut: boolean
}

/**
 * Copies the bytes of one response from its beginning, while they are sent to the client. The copy never
 * exceeds its limit.
 */
export class AnswerCopy {
  readonly #takeMemory: TakeMemory
  readonly #bytesMax: number
  readonly #onEnd: (copied: CopiedAnswer) => void
  readonly #pieces: Uint8Array<ArrayBuffer>[] = []
  /** The piece that is being filled. */
  #last = new Uint8Array(0)
  #used = 0
  #bytesTaken = 0
  #bytes = 0
  #isCut = false
  #hasEnded = false

  constructor(takeMemory: TakeMemory, bytesMax: number, onEnd: (copied: CopiedAnswer) => void) {
    this.#takeMemory = takeMemory
    this.#bytesMax = bytesMax
    this.#onEnd = onEnd
  }

  take(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length && !this.#isCut) {
      if (!this.#hasRoom()) {
        this.#isCut = true
        return
      }
      const room = Math.min(this.#last.length - this.#used, this.#bytesMax - this.#bytes)
      const piece = chunk.subarray(at, at + room)
      this.#last.set(piece, this.#used)
      this.#used += piece.length
      this.#bytes += piece.length
      at += piece.length
    }
  }

  /** Ends the copy when nothing more is sent to the client. Calling it a second time has no effect. */
  end(): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    const pieces = this.#pieces.splice(0)
    if (this.#used > 0) pieces.push(this.#last.subarray(0, this.#used))
    if (this.#bytesTaken > 0 || this.#isCut)
      this.#onEnd({ pieces, bytesTaken: this.#bytesTaken, isCut: this.#isCut })
  }

  /**
   * Returns whether there is room for another byte, starting a new piece if needed. If not, the rest of the
   * response is not copied.
   */
  #hasRoom(): boolean {
    if (this.#hasEnded || this.#bytes >= this.#bytesMax) return false
    if (this.#used < this.#last.length) return true
    const size = Math.min(pieceBytesMax, Math.max(pieceBytesLeast, 2 * this.#last.length))
    if (!this.#takeMemory(size)) return false
    if (this.#used > 0) this.#pieces.push(this.#last)
    this.#bytesTaken += size
    this.#last = new Uint8Array(size)
    this.#used = 0
    return true
  }
}

const pieceBytesLeast = 4 * 1024
const pieceBytesMax = 64 * 1024
