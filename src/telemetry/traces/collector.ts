import { Agent, request } from 'undici'
import type { Sent } from './span-queue.ts'

export interface CollectorOptions {
  url: string
  /** The operator's headers, such as a key. */
  headers: Readonly<Record<string, string>>
  timeoutMs: number
}

/**
 * Statuses after which the same batch can be sent again:
 * https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes
 */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504])
const answerBytesMax = 64 * 1024

/** Sends batches over HTTP to the address set by the operator. It has its own connections. */
export class Collector {
  readonly #options: CollectorOptions
  readonly #agent: Agent

  constructor(options: CollectorOptions) {
    this.#options = options
    this.#agent = new Agent({ connections: 2, connect: { timeout: options.timeoutMs } })
  }

  /** `rejectedIn` returns how many spans were rejected according to the response. Never rejects. */
  async send(body: Uint8Array, rejectedIn: (answer: Uint8Array) => number): Promise<Sent> {
    const { url, headers, timeoutMs } = this.#options
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: this.#agent,
        headers: { 'user-agent': 'tollgate/0.1', ...headers, 'content-type': 'application/x-protobuf' },
        body,
        signal: AbortSignal.timeout(timeoutMs),
      })
      const { statusCode: status } = answer
      const bytes = await firstBytes(answer.body)
      if (status >= 200 && status <= 299) return { kind: 'taken', rejected: rejectedOf(bytes, rejectedIn) }
      const why = `it responded with status ${status}`
      if (!retryable.has(status)) return { kind: 'refused', why }
      const afterMs = Number(answer.headers['retry-after']) * 1_000
      return { kind: 'later', why, ...(Number.isFinite(afterMs) && { afterMs }) }
    } catch (error) {
      return { kind: 'later', why: error instanceof Error ? error.message : String(error) }
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }
}

/** A response is only a few bytes. The rest of a longer one is not read. */
async function firstBytes(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes >= answerBytesMax) break
  }
  return Buffer.concat(parts)
}

function rejectedOf(answer: Buffer, rejectedIn: (answer: Uint8Array) => number): number {
  try {
    return rejectedIn(answer)
  } catch {
    // The collector accepted the spans, but its response cannot be decoded.
    return 0
  }
}
