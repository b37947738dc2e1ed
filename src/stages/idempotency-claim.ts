import type { ServerResponse } from 'node:http'
import type { IdempotencyKeys, KeptAnswer, KeyedRequest } from '../access/idempotency-keys.ts'
import type { Ending } from './call.ts'

/**
 * What the first request with an Idempotency-Key holds of it, until its answer is kept or the key is free again. Every
 * byte of the answer passes here on its way to the client.
 *
 * Kept is what the row calls succeeded and the client was sent to the last byte: from the moment that this byte goes out.
 * Anything else frees the key before the client sees the end, so that it can try again at once.
 */
export class Claim {
  readonly #keys: IdempotencyKeys
  readonly #request: KeyedRequest
  readonly #response: ServerResponse
  readonly #bytesMax: number
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
    this.#response = response
    this.#bytesMax = bytesMax
    this.#watch()
  }

  /** The row says how it ended. Resolves when a key that nothing is kept for is free for all. */
  settled({ outcome }: Ending): Promise<void> | undefined {
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

  /** Take down what is written to the response, by whomever. */
  #watch(): void {
    const response = this.#response
    const { writeHead, write, end } = response
    response.writeHead = (...told: unknown[]) => {
      const written = Reflect.apply(writeHead, response, told)
      const inCall = told.at(-1)
      this.#headers = { ...response.getHeaders(), ...(typeof inCall === 'object' ? inCall : {}) }
      return written
    }
    response.write = (...told: unknown[]) => {
      this.#take(told)
      return Reflect.apply(write, response, told)
    }
    response.end = (...told: unknown[]) => {
      this.#take(told)
      const ended = Reflect.apply(end, response, told)
      this.#sentTo('whole')
      return ended
    }
    response.once('close', () => this.#sentTo('cut'))
  }

  #take([chunk, encoding]: unknown[]): void {
    if (this.#chunks === undefined) return
    const bytes = bytesOf(chunk, encoding)
    if (bytes === undefined) return
    this.#length += bytes.length
    heldBytes += bytes.length
    this.#chunks.push(bytes)
    if (this.#length > this.#bytesMax || heldBytes > heldBytesMax) this.#drop()
  }

  #sentTo(end: 'whole' | 'cut'): void {
    if (this.#sent !== undefined) return
    this.#sent = end
    void this.#decide()
  }

  #decide(): Promise<void> | undefined {
    if (this.#over || !this.#succeeded || this.#sent === undefined) return undefined
    const { statusCode: status } = this.#response
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

  /** Those that say what the bytes are; the others are of the one answer. */
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

/** Of all answers that are being taken down in this process. What would be more is not kept. */
const heldBytesMax = 256 * 1024 * 1024
let heldBytes = 0

/** A copy: a chunk may be a small part of a buffer that is large, or used again. */
function bytesOf(chunk: unknown, encoding: unknown): Buffer | undefined {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk)
  if (typeof chunk !== 'string') return undefined
  return Buffer.from(chunk, typeof encoding === 'string' && Buffer.isEncoding(encoding) ? encoding : 'utf8')
}
