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
  #over = false

  constructor(keys: IdempotencyKeys, request: KeyedRequest, response: ServerResponse, bytesMax: number) {
    this.#keys = keys
    this.#request = request
    this.#bytesMax = bytesMax
    response.once('close', () => this.#sentTo('cut'))
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
    if (this.#length > this.#bytesMax || heldBytes > heldBytesMax) this.#drop()
  }

  /** The last byte has gone out. */
  finish(): void {
    this.#sentTo('whole')
  }

  /** The row says how the request ended. Resolves when a key of which nothing is kept is free for all. */
  ended({ outcome }: { outcome: Outcome }): Promise<void> | undefined {
    if (this.#over) return undefined
    if (outcome !== 'succeeded') return this.#release()
    this.#succeeded = true
    return this.#decide()
  }

  keepAsJob(): void {
    if (this.#over) return
    this.#end()
    void this.#keys.keepAsJob(this.#request)
  }

  #sentTo(end: 'whole' | 'cut'): void {
    if (this.#sent !== undefined) return
    this.#sent = end
    void this.#decide()
  }

  #decide(): Promise<void> | undefined {
    if (this.#over || !this.#succeeded || this.#sent === undefined) return undefined
    const status = this.#status
    if (this.#sent === 'cut' || this.#chunks === undefined || status < 200 || status > 299)
      return this.#release()
    const body = Buffer.concat(this.#chunks, this.#length)
    this.#over = true
    // It counts until Postgres has been asked; what waits longer is counted there.
    void this.#keys
      .keep(this.#request, { status, headers: this.#keptHeaders(), body })
      .then(() => this.#drop())
    return undefined
  }

  #release(): Promise<void> {
    this.#end()
    return this.#keys.release(this.#request)
  }

  #end(): void {
    this.#over = true
    this.#drop()
  }

  #drop(): void {
    heldBytes -= this.#length
    this.#length = 0
    this.#chunks = undefined
  }

  /** Only the headers that describe the bytes are kept; the others belong to the first answer. */
  #keptHeaders(): KeptAnswer['headers'] {
    const told = Object.entries(this.#headers).map(
      ([name, value]) => [name.toLowerCase(), String(value)] as const,
    )
    return Object.fromEntries(told.filter(([name]) => keptHeaders.has(name)))
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
