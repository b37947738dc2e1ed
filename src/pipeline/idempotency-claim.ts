import type { IdempotencyKeys, KeptAnswer, KeyedRequest } from '../access/idempotency-keys.ts'
import type { Outcome } from '../canonical/usage.ts'
import type { ExchangeReply } from '../http/exchange.ts'

/**
 * The claim of a first request on its Idempotency-Key, until its answer is kept or the key is free again. The
 * functions that send the answer also call `begin`, `write` and `finish` here.
 *
 * An answer is kept when its row says that the request succeeded and its last byte has been sent. Any other
 * ending frees the key before the client sees the end, so that the client can try again immediately.
 */
export class Claim {
  readonly #keys: IdempotencyKeys
  readonly #request: KeyedRequest
  readonly #bytesMax: number
  #status = 0
  #headers: Readonly<Record<string, unknown>> = {}
  /** Undefined when there is nothing to keep, or too much. */
  #chunks: Buffer[] | undefined = []
  #length = 0
  /** Whether the whole answer was sent. */
  #sent: 'whole' | 'cut' | undefined
  #succeeded = false
  #ended = false

  constructor(keys: IdempotencyKeys, request: KeyedRequest, reply: ExchangeReply, bytesMax: number) {
    this.#keys = keys
    this.#request = request
    this.#bytesMax = bytesMax
    reply.once('close', () => this.#noteSent('cut'))
  }

  /** Must be called with the head of the answer. */
  begin(status: number, headers: Readonly<Record<string, unknown>>): void {
    this.#status = status
    this.#headers = headers
  }

  /** Must be called with each chunk of the answer. */
  write(chunk: Uint8Array): void {
    if (this.#chunks === undefined) return
    // Copied, because a chunk may be a small part of a large buffer, or its memory may be reused.
    const bytes = Buffer.from(chunk)
    this.#length += bytes.length
    heldBytes += bytes.length
    this.#chunks.push(bytes)
    if (this.#length > this.#bytesMax || heldBytes > heldBytesMax) this.#dropChunks()
  }

  /** Must be called after the last byte. */
  finish(): void {
    this.#noteSent('whole')
  }

  /** Must be called with the outcome of the row. If nothing is kept, resolves when the key is free again. */
  ended({ outcome }: { outcome: Outcome }): Promise<void> | undefined {
    if (this.#ended) return undefined
    if (outcome !== 'succeeded') return this.#release()
    this.#succeeded = true
    return this.#settle()
  }

  /**
   * Must be called when the row cannot say that the request succeeded. Resolves when the key is free again.
   */
  async failed(): Promise<void> {
    if (!this.#ended) await this.#release()
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
    // The chunks are counted here until `keep` has tried to write them. `keep` itself counts those that wait
    // longer.
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

  /** Keeps only the headers that describe the bytes. The others belong to the first answer. */
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

/**
 * The most bytes of answers that this process collects at a time. An answer that would exceed them is not
 * kept.
 */
const heldBytesMax = 256 * 1024 * 1024
let heldBytes = 0
