import type { ServerResponse } from 'node:http'
import type { IdempotencyKeys, KeptAnswer, KeyedRequest } from '../access/idempotency-keys.ts'
import type { Outcome } from '../canonical/usage.ts'

/**
 * What the first request with an Idempotency-Key holds of it, until its answer is kept or the key is free again. Whoever
 * writes the answer tells it here (`begin`, `write`, `finish`).
 *
 * An answer is kept when its row says that the request succeeded and the client was sent the last byte. Any other ending
 * frees the key before the client sees the end, so that it can try again at once.
 */
export class Claim {
  readonly #keys: IdempotencyKeys
  readonly #request: KeyedRequest
  readonly #bytesMax: number
  #status = 0
  #headers: Readonly<Record<string, unknown>> = {}
  /** Undefined once there is nothing to keep, or too much. */
  #chunks: Buffer[] | undefined = []
  #length = 0
  /** How the answer's bytes ended. */
  #sent: 'whole' | 'cut' | undefined
  #succeeded = false
  #ended = false

  constructor(keys: IdempotencyKeys, request: KeyedRequest, response: ServerResponse, bytesMax: number) {
    this.#keys = keys
    this.#request = request
    this.#bytesMax = bytesMax
    response.once('close', () => this.#noteSent('cut'))
  }

  /** The head of the answer goes out. */
  begin(status: number, headers: Readonly<Record<string, unknown>>): void {
    this.#status = status
    this.#headers = headers
  }

  /** Bytes of the answer go out. */
  write(chunk: Uint8Array): void {
    if (this.#chunks === undefined) return
    // A copy: a chunk may be a small part of a large buffer, or its memory may be used again.
    const bytes = Buffer.from(chunk)
    this.#length += bytes.length
    heldBytes += bytes.length
    this.#chunks.push(bytes)
    if (this.#length > this.#bytesMax || heldBytes > heldBytesMax) this.#dropChunks()
  }

  /** The last byte has gone out. */
  finish(): void {
    this.#noteSent('whole')
  }

  /** The row says how the request ended. Resolves when a key of which nothing is kept is free for all. */
  ended({ outcome }: { outcome: Outcome }): Promise<void> | undefined {
    if (this.#ended) return undefined
    if (outcome !== 'succeeded') return this.#release()
    this.#succeeded = true
    return this.#settle()
  }

  keepAsJob(): void {
    if (this.#ended) return
    this.#stop()
    void this.#keys.keepAsJob(this.#request)
  }

  #noteSent(end: 'whole' | 'cut'): void {
    if (this.#sent !== undefined) return
    this.#sent = end
    void this.#settle()
  }

  #settle(): Promise<void> | undefined {
    if (this.#ended || !this.#succeeded || this.#sent === undefined) return undefined
    const status = this.#status
    if (this.#sent === 'cut' || this.#chunks === undefined || status < 200 || status > 299)
      return this.#release()
    const body = Buffer.concat(this.#chunks, this.#length)
    this.#ended = true
    // It counts until Postgres has been asked; what waits longer is counted there.
    void this.#keys
      .keep(this.#request, { status, headers: this.#keptHeaders(), body })
      .then(() => this.#dropChunks())
    return undefined
  }

  #release(): Promise<void> {
    this.#stop()
    return this.#keys.release(this.#request)
  }

  #stop(): void {
    this.#ended = true
    this.#dropChunks()
  }

  #dropChunks(): void {
    heldBytes -= this.#length
    this.#length = 0
    this.#chunks = undefined
  }

  /** Only the headers that describe the bytes are kept; the others belong to the first answer. */
  #keptHeaders(): KeptAnswer['headers'] {
    const headers = Object.entries(this.#headers).map(
      ([name, value]) => [name.toLowerCase(), String(value)] as const,
    )
    return Object.fromEntries(headers.filter(([name]) => keptHeaders.has(name)))
  }
}

const keptHeaders: ReadonlySet<string> = new Set([
  'content-type',
  'cache-control',
  'x-accel-buffering',
  'x-tollgate-estimated',
])

/** Bytes of all answers that this process is taking down. An answer that would pass this is not kept. */
const heldBytesMax = 256 * 1024 * 1024
let heldBytes = 0
