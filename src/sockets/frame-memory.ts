import type { BodyShare } from '../http/body-memory.ts'

/**
 * Counts a client's messages as they arrive, because `ws` holds the bytes of an unfinished frame, and
 * unfinished fragments, without reporting them. It reads the headers of frames, and leaves protocol
 * violations to `ws`.
 *
 * https://www.rfc-editor.org/rfc/rfc6455#section-5.2
 */
export class FrameMemory {
  readonly #begin: () => BodyShare
  /** The share of the message that is arriving. */
  #share: BodyShare
  /** The shares of messages that have arrived completely. */
  readonly #whole: BodyShare[] = []
  readonly #header = Buffer.alloc(headerBytesMax)
  #headerBytes = 0
  /**
   * The bytes still missing from the frame that is arriving. Undefined until its header has arrived
   * completely.
   */
  #payloadLeft: number | undefined

  constructor(begin: () => BodyShare) {
    this.#begin = begin
    this.#share = begin()
  }

  /**
   * Counts bytes before `ws` gets them. Throws like `BodyShare.grow`, after which the connection must end.
   */
  arrive(chunk: Buffer): void {
    for (let at = 0; at < chunk.length || this.#payloadLeft === 0; ) {
      if (this.#payloadLeft === undefined) {
        at = this.#readHeader(chunk, at)
        continue
      }
      const bytes = Math.min(this.#payloadLeft, chunk.length - at)
      if (!this.#isControl) this.#share.grow(bytes)
      at += bytes
      this.#payloadLeft -= bytes
      if (this.#payloadLeft === 0) this.#endFrame()
    }
  }

  /** Returns the share of the oldest message that has arrived completely. The caller releases it. */
  take(): BodyShare {
    return this.#whole.shift() ?? this.#begin()
  }

  /** Called when the connection is over. */
  release(): void {
    this.#share.release()
    for (const share of this.#whole.splice(0)) share.release()
  }

  get #isControl(): boolean {
    return ((this.#header[0] ?? 0) & 0x08) !== 0
  }

  #readHeader(chunk: Buffer, from: number): number {
    let at = from
    const size = () => (this.#headerBytes < 2 ? 2 : headerSize(this.#header[1] ?? 0))
    while (at < chunk.length && this.#headerBytes < size())
      this.#header[this.#headerBytes++] = chunk[at++] ?? 0
    if (this.#headerBytes === size()) {
      this.#headerBytes = 0
      this.#payloadLeft = payloadLength(this.#header)
    }
    return at
  }

  #endFrame(): void {
    this.#payloadLeft = undefined
    if (this.#isControl) return
    const isLast = ((this.#header[0] ?? 0) & 0x80) !== 0
    if (!isLast) {
      this.#share.grow(fragmentBytes)
      return
    }
    this.#whole.push(this.#share)
    this.#share = this.#begin()
  }
}

const headerBytesMax = 14
/** The memory that Node needs for a fragment in addition to its bytes, however few they are. */
const fragmentBytes = 256

/** `second` is the second byte of the header. */
function headerSize(second: number): number {
  const mask = (second & 0x80) === 0 ? 0 : 4
  const length = second & 0x7f
  return 2 + mask + (length === 127 ? 8 : length === 126 ? 2 : 0)
}

function payloadLength(header: Buffer): number {
  const length = (header[1] ?? 0) & 0x7f
  if (length === 126) return header.readUInt16BE(2)
  return length === 127 ? Number(header.readBigUInt64BE(2)) : length
}
