import { FrameEnds, isBlankOrComment } from '../sse.ts'

/**
 * Remembers the last few frames of a stream, whatever the chunks they came in, in bounded memory: eight frames, and
 * of large ones only as many as make up 256 KB, but always the last.
 */
export class FrameTail {
  readonly #frameBytesMax: number
  /** Starts of the last frames of the chunk being read, as a ring. */
  readonly #starts = new Int32Array(framesMax)
  #noted = 0
  #notedBytes = 0
  #end = 0
  #pieces: Piece[] = []
  #frames = 0
  #bytes = 0

  constructor(frameBytesMax: number) {
    this.#frameBytesMax = frameBytesMax
  }

  /** Note a frame of the chunk being read. */
  note(start: number, end: number): void {
    this.#starts[this.#noted++ % framesMax] = start
    this.#notedBytes += end - start
    this.#end = end
  }

  /** The chunk has been read: keep what it holds of the last frames. */
  keep(bytes: Buffer): void {
    if (this.#noted === 0) return
    const frames = Math.min(this.#noted, framesMax)
    const start = this.#starts[(this.#noted - frames) % framesMax] ?? 0
    const kept = start === 0 && this.#end === bytes.length ? bytes : bytes.subarray(start, this.#end)
    // A copy of a short piece lets go of the large chunk that it came in.
    const piece = kept.length * 4 < bytes.length ? Buffer.from(kept) : kept
    this.#pieces.push({ bytes: piece, frames, frameBytes: this.#notedBytes })
    this.#frames += frames
    this.#bytes += this.#notedBytes
    this.#noted = 0
    this.#notedBytes = 0
    for (let oldest = this.#pieces[0]; oldest && this.#canSpare(oldest); oldest = this.#pieces[0]) {
      this.#pieces.shift()
      this.#frames -= oldest.frames
      this.#bytes -= oldest.frameBytes
    }
  }

  /** The remembered frames, oldest first. */
  frames(): Buffer[] {
    const frames = this.#pieces.flatMap((piece) => splitFrames(piece.bytes, this.#frameBytesMax))
    let first = frames.length
    let bytes = 0
    while (first > 0 && frames.length - first < framesMax && bytes < bytesMax) {
      first--
      bytes += frames[first]?.length ?? 0
    }
    return frames.slice(first)
  }

  #canSpare(piece: Piece): boolean {
    return this.#frames - piece.frames >= framesMax || this.#bytes - piece.frameBytes >= bytesMax
  }
}

const framesMax = 8
const bytesMax = 256 * 1024

interface Piece {
  bytes: Buffer
  frames: number
  /** Without the comments and blank lines between, so that what is kept does not depend on the chunks. */
  frameBytes: number
}

function splitFrames(bytes: Buffer, frameBytesMax: number): Buffer[] {
  const frames: Buffer[] = []
  const ends = new FrameEnds()
  ends.begin(bytes)
  for (let start = 0; start < bytes.length; ) {
    const end = ends.next(start)
    const stop = end === -1 ? bytes.length : end
    const isNoted = stop - start <= frameBytesMax && !isBlankOrComment(bytes, start, stop)
    if (isNoted) frames.push(bytes.subarray(start, stop))
    start = stop
  }
  return frames
}
