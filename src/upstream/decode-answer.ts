import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { type Decoder, type Encoding, openDecoder } from '../http/encoding.ts'

/**
 * The upstream to pause and resume, and the receiver of the decoded response. The last call is either `end`
 * or `fail`.
 */
export interface Decoding {
  pause(): void
  resume(): void
  data(chunk: Buffer): void
  end(): void
  fail(error: GatewayError): void
}

/**
 * Decodes a response that was encoded although `identity` was requested. The bytes of each chunk are passed
 * on immediately, at most a few kilobytes at a time, and the upstream is paused while the receiver is.
 */
export class AnswerDecoder {
  readonly #encoding: Encoding
  readonly #decoding: Decoding
  #stream: Decoder | undefined
  #paused = false
  #bytes = 0
  #broken: GatewayError | undefined
  #over = false

  constructor(encoding: Encoding, decoding: Decoding) {
    this.#encoding = encoding
    this.#decoding = decoding
  }

  pause(): void {
    this.#paused = true
    this.#stream?.pause()
  }

  resume(): void {
    this.#paused = false
    this.#stream?.resume()
  }

  push(chunk: Buffer): void {
    if (this.#over) return
    this.#bytes += chunk.length
    this.#stream ??= this.#open(chunk)
    if (!this.#stream.write(chunk)) this.#decoding.pause()
  }

  /** Called when the upstream's response is complete. */
  end(): void {
    if (this.#over) return
    const stream = this.#stream
    if (stream === undefined) this.#decoding.end()
    // Without the flush, zlib would drop the last chunk of a response that is cut off.
    else stream.flush(() => stream.end())
  }

  /** Called when the upstream's response was cut off. The bytes that arrived are passed on first. */
  breakOff(error: GatewayError): void {
    if (this.#over) return
    this.#broken = error
    const stream = this.#stream
    if (stream === undefined) this.#decoding.fail(error)
    else stream.flush(() => stream.push(null))
  }

  close(): void {
    this.#over = true
    this.#stream?.destroy()
  }

  #open(first: Buffer) {
    const stream = openDecoder(this.#encoding, first)
    stream.on('data', (chunk: Buffer) => {
      if (this.#over) return
      try {
        this.#decoding.data(chunk)
      } catch (cause) {
        this.#fail(gatewayError('internal_fault', {}, { cause }))
      }
    })
    stream.on('drain', () => this.#decoding.resume())
    stream.on('end', () => {
      if (this.#broken !== undefined) this.#fail(this.#broken)
      else if (stream.bytesWritten !== this.#bytes) this.#fail(damaged(this.#encoding))
      else if (!this.#over) this.#decoding.end()
    })
    stream.on('error', (cause) => this.#fail(this.#broken ?? damaged(this.#encoding, cause)))
    if (this.#paused) stream.pause()
    return stream
  }

  #fail(error: GatewayError): void {
    if (this.#over) return
    this.#decoding.fail(error)
  }
}

function damaged(encoding: Encoding, cause?: unknown): GatewayError {
  return gatewayError(
    'upstream_http_invalid',
    { how: `sent a response whose encoding (${encoding}) is corrupt or incomplete` },
    { cause },
  )
}
