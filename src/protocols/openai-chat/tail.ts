/**
 * Remembers the last frames of a stream in bounded memory: at most eight frames and 256 KB, but always the
 * last one. Copies them, because a view of a frame would keep the whole 64 KB chunk in memory.
 */
export class FrameTail {
  /** The start and end of the last frames of the current chunk, as a ring buffer. */
  readonly #notes = new Int32Array(2 * framesMax)
  #noted = 0
  /** The frames, one after another, from `#from` to `#to`. */
  #bytes = nothing
  #from = 0
  #to = 0
  /** The length of each frame, oldest first. */
  readonly #lengths: number[] = []

  /** Notes a frame of the current chunk. */
  note(start: number, end: number): void {
    const at = 2 * (this.#noted++ % framesMax)
    this.#notes[at] = start
    this.#notes[at + 1] = end
  }

  /** Ends a chunk: keeps the last of its noted frames. */
  keep(chunk: Buffer): void {
    for (let index = Math.max(0, this.#noted - framesMax); index < this.#noted; index++) {
      const at = 2 * (index % framesMax)
      this.#append(chunk, this.#notes[at] ?? 0, this.#notes[at + 1] ?? 0)
    }
    this.#noted = 0
  }

  /** The remembered frames, oldest first, as views that are valid until the next `keep`. */
  frames(): Buffer[] {
    let end = this.#from
    return this.#lengths.map((length) => {
      end += length
      return this.#bytes.subarray(end - length, end)
    })
  }

  #append(chunk: Buffer, start: number, end: number): void {
    const length = end - start
    while (this.#lengths.length > 0 && !this.#needsOldest(length)) this.#from += this.#lengths.shift() ?? 0
    if (this.#to + length > this.#bytes.length) this.#makeRoom(length)
    chunk.copy(this.#bytes, this.#to, start, end)
    this.#to += length
    this.#lengths.push(length)
  }

  /** Whether the oldest frame stays within the limits after a new frame of the given length. */
  #needsOldest(length: number): boolean {
    const newerBytes = this.#to - this.#from - (this.#lengths[0] ?? 0) + length
    return this.#lengths.length < framesMax && newerBytes < bytesMax
  }

  #makeRoom(length: number): void {
    const needed = this.#to - this.#from + length
    // Twice the required size, so that small frames, which are common, rarely cause a move.
    const size = needed > largeBytes ? needed : Math.max(2 * needed, bytesMin)
    const target = needed <= this.#bytes.length ? this.#bytes : Buffer.allocUnsafeSlow(size)
    this.#bytes.copy(target, 0, this.#from, this.#to)
    this.#to -= this.#from
    this.#from = 0
    this.#bytes = target
  }
}

const framesMax = 8
const bytesMax = 256 * 1024
const bytesMin = 4096
const largeBytes = 32 * 1024
const nothing = Buffer.alloc(0)
