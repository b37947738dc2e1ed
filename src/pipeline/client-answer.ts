import type { AnswerCopy } from '../bodies/answer-copy.ts'
import type { GatewayError } from '../canonical/error.ts'
import { cutWhenStalled, isWaitedFor } from '../http/stalled-client.ts'
import type { ResponseHeaders, UpstreamCall } from '../upstream/upstreams.ts'
import type { Admitted } from './admit.ts'
import type { Gateway } from './gateway.ts'
import type { Received } from './received.ts'
import { knownSecrets, redactError } from './redact-error.ts'
import { answerHeaders } from './response-headers.ts'

/** The head of an upstream's answer, as far as the client's answer depends on it. */
interface UpstreamHead {
  status: number
  headers: ResponseHeaders
  /** Whether the upstream streams. */
  streams: boolean
  /** The content type for the client, if it differs from the upstream's. */
  contentType: string | undefined
}

/** Begins a copy of the answer, or returns undefined when the answer is not captured. */
export type CaptureAnswer = (streams: boolean) => Pick<AnswerCopy, 'take' | 'end'> | undefined

/** The answer to the client: its head, its bytes with backpressure, and its end. */
export class ClientAnswer {
  readonly #admitted: Admitted
  readonly #stallMs: number
  readonly #capture: CaptureAnswer
  /** Undefined when the answer is not captured. */
  #copy: ReturnType<CaptureAnswer>
  #head: UpstreamHead | undefined
  #begun = false
  /** True while the client has unread bytes and the upstream is paused. */
  #blocked = false

  /** `stallMs`: see `cutWhenStalled`. */
  constructor(admitted: Admitted, stallMs: number, capture: CaptureAnswer) {
    this.#admitted = admitted
    this.#stallMs = stallMs
    this.#capture = capture
  }

  /** True when the client may have seen part of the answer. */
  get hasBegun(): boolean {
    return this.#begun
  }

  /** Sets the head, which is sent with the first bytes. Must be called before `write`. */
  setHead(head: UpstreamHead): void {
    this.#head = head
    this.#copy = this.#capture(isEventStream(head))
  }

  /**
   * Writes bytes, and pauses the upstream until the client has read them. Does nothing when the client has
   * left.
   */
  write(upstream: UpstreamCall, chunk: Buffer): void {
    const { exchange, life } = this.#admitted
    if (life.clientGone) return
    this.#begin(undefined)
    this.#copy?.take(chunk)
    if (writeAnswer(this.#admitted, chunk) || this.#blocked) return
    this.#blocked = true
    upstream.pause()
    exchange.reply.once('drain', () => {
      this.#blocked = false
      upstream.resume()
    })
    cutWhenStalled(exchange.reply, this.#stallMs)
  }

  /**
   * Ends the answer with its last bytes. An error ends a stream with an error event, unless `last` already
   * contains one.
   */
  finish(error: GatewayError | null, last: Buffer | undefined): void {
    this.#finish(error, last)
    this.#copy?.end()
  }

  #finish(error: GatewayError | null, last: Buffer | undefined): void {
    const { exchange, endpoint, id, life } = this.#admitted
    const { reply } = exchange
    if (life.clientGone || reply.destroyed) return
    if (error !== null && this.#head?.streams !== true) {
      // Only a closed connection can tell the client that this answer is incomplete.
      reply.destroy()
      return
    }
    const inStream = error !== null && last === undefined
    this.#begin(last?.length)
    const bytes = inStream ? endpoint.client.encodeStreamError(redactError(this.#admitted, error), id) : last
    if (bytes !== undefined) this.#copy?.take(bytes)
    finishAnswer(this.#admitted, bytes)
    if (isWaitedFor(reply)) cutWhenStalled(reply, this.#stallMs)
  }

  #begin(wholeBytes: number | undefined): void {
    if (this.#begun || this.#head === undefined) return
    this.#begun = true
    const { status, headers, streams, contentType } = this.#head
    beginAnswer(
      this.#admitted,
      status,
      answerHeaders(this.#admitted, { contentType, streams, wholeBytes, upstream: headers }),
    )
  }
}

function isEventStream({ streams, contentType }: UpstreamHead): boolean {
  return contentType === undefined ? streams : contentType.startsWith('text/event-stream')
}

// Every answer to a client is sent by these functions, so that an answer with an Idempotency-Key can be kept
// for its repeats.

export function beginAnswer(
  { exchange, life }: Received,
  status: number,
  headers: Record<string, string | number>,
): void {
  life.claim?.begin(status, headers)
  exchange.reply.writeHead(status, headers)
}

/** Returns false while the client has not read all bytes written so far. */
export function writeAnswer({ exchange, life }: Received, chunk: Uint8Array): boolean {
  life.claim?.write(chunk)
  return exchange.reply.write(chunk)
}

export function finishAnswer({ exchange, life }: Received, last?: Uint8Array): void {
  const { reply } = exchange
  if (last !== undefined) life.claim?.write(last)
  // Node joins a string with the head before it, so there is one write instead of two. Latin1 leaves each
  // byte unchanged.
  if (Buffer.isBuffer(last) && last.length <= joinedBytesMax) reply.end(last.toString('latin1'), 'latin1')
  else reply.end(last)
  life.claim?.finish()
}

/** Above this length, converting the answer to a string costs more than a second write. */
const joinedBytesMax = 4_096

/**
 * Begins a copy of an answer for the usage log. Returns undefined when neither its key nor its group enables
 * that.
 */
export function captureAnswer(
  { capturedAnswers }: Pick<Gateway, 'capturedAnswers'>,
  admitted: Admitted,
  streams: boolean,
): AnswerCopy | undefined {
  const { id, identity, group, endpoint } = admitted
  const { answers: format } = endpoint
  const isWanted = identity.captureAnswers ?? group.captureAnswers
  if (!isWanted || identity.capture !== 'content' || format === undefined) return undefined
  const { keyId } = identity
  return capturedAnswers.begin({ id, keyId, format, streams, secrets: () => knownSecrets(admitted) })
}
