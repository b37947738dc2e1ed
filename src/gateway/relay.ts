import { GatewayError } from '../canonical/error.ts'
import type { StreamEnd } from '../canonical/usage.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import type { Observation, StreamWatcher, UpstreamSide } from '../protocols/protocol.ts'
import type { AnswerReader } from './answer-reader.ts'
import type { Call } from './call.ts'
import type { Target } from './route.ts'
import { shown } from './secrets.ts'
import type { Listener, ResponseHeaders, UpstreamCall } from './upstream.ts'

/** How one attempt ended. `unanswered`: the client has seen nothing of it, so another target may be tried. */
export type Attempted =
  | { kind: 'answered' }
  | { kind: 'unanswered'; error: GatewayError; refusal: UpstreamRefusal | undefined; paid: 'no' | 'unknown' }

/** An upstream's own error answer, for clients that speak its protocol. */
export interface UpstreamRefusal {
  status: number
  contentType: string
  body: Buffer
}

/** What the relay tells when the answer has ended, before its last bytes go out. */
export interface Answer {
  status: number
  observation: Observation
  streamEnd: StreamEnd
  error: GatewayError | null
}

export interface RelayOptions {
  call: Call
  target: Target
  side: UpstreamSide
  reader: AnswerReader
  attempt: AttemptRecord
  heldAnswerBytesMax: number
  watchedAnswerBytesMax: number
  keepAliveMs: number
  /** Write the row; the last bytes wait for it. */
  settle(answer: Answer): Promise<void>
  done(attempted: Attempted): void
}

const refusalBytesMax = 64 * 1024

/** Upstream answer headers that mean something to a client of the same format. */
const forwardedHeaders = ['content-type', 'openai-processing-ms', 'openai-version', 'openai-model']

/**
 * Carries one upstream answer to the client as it comes, while the protocol's watcher reads it. Backpressure,
 * a client that leaves, a cut upstream and the exact end of the answer are dealt with here and nowhere else.
 */
export class Relay implements Listener {
  readonly #options: RelayOptions
  readonly #sentAt = Date.now()
  #reader: AnswerReader
  #status = 0
  #headers: ResponseHeaders = {}
  #mode: 'refusal' | 'stream' | 'whole' | 'passing' = 'whole'
  #watcher: StreamWatcher | undefined
  #chunks: Buffer[] = []
  #length = 0
  #begun = false
  #finished = false
  #keepAliveTimer: NodeJS.Timeout | undefined

  constructor(options: RelayOptions) {
    this.#options = options
    this.#reader = options.reader
  }

  start(upstream: UpstreamCall, status: number, headers: ResponseHeaders): void {
    const { attempt } = this.#options
    this.#status = status
    this.#headers = headers
    attempt.status = status
    attempt.firstByteMs = Date.now() - this.#sentAt
    attempt.upstreamRequestId = textOf(headers['x-request-id'])
    const encoding = textOf(headers['content-encoding'])
    if (encoding !== null && encoding !== 'identity') {
      upstream.abort(
        new GatewayError('upstream_error', 'The upstream answered in an encoding it was not asked for.'),
      )
      return
    }
    if (status < 200 || status > 299) {
      this.#mode = 'refusal'
      return
    }
    const contentType = textOf(headers['content-type']) ?? ''
    const isStream = contentType.startsWith('text/event-stream')
    const { facts } = this.#options.call
    if (facts?.stream === true ? contentType.includes('json') : isStream)
      this.#reader = this.#reader.otherwise()
    if (isStream) {
      this.#mode = 'stream'
      this.#watcher = this.#reader.stream()
      if (this.#watcher.keepAlive !== undefined) this.#keepAlive(upstream)
    }
  }

  data(upstream: UpstreamCall, chunk: Buffer): void {
    if (this.#finished) return
    switch (this.#mode) {
      case 'stream':
        this.#pushStream(upstream, chunk)
        return
      case 'refusal':
        if (this.#length < refusalBytesMax) this.#hold(chunk)
        return
      case 'whole':
        this.#hold(chunk)
        if (this.#length > this.#heldBytesMax()) this.#passHeld(upstream)
        return
      case 'passing':
        this.#keep(chunk)
        this.#write(upstream, chunk)
        return
    }
  }

  end(): void {
    if (this.#finished) return
    this.#noteEnd(null)
    switch (this.#mode) {
      case 'refusal':
        this.#refuse()
        return
      case 'stream':
        this.#endStream()
        return
      case 'whole':
        this.#endWhole()
        return
      case 'passing':
        this.#finish({ ...this.#watchPassed(), complete: true }, 'complete', null, undefined)
        return
    }
  }

  fail(error: GatewayError, sent: boolean): void {
    if (this.#finished) return
    const { call } = this.#options
    this.#noteEnd(error)
    if (this.#mayStillBeAnother()) {
      this.#unanswered(error, sent ? 'unknown' : 'no')
      return
    }
    const observation = this.#watcher?.observe() ?? nothingObserved
    this.#finish(observation, endOf(error), error, call.clientGone ? undefined : this.#watcher?.fail?.(error))
  }

  #pushStream(upstream: UpstreamCall, chunk: Buffer): void {
    const { call } = this.#options
    if (this.#watcher === undefined) return
    const watched = this.#watcher.push(chunk)
    if (call.firstTokenAt === null && watched.hasContent) call.firstTokenAt = Date.now()
    if (watched.terminal) {
      const observation = this.#watcher.observe()
      this.#noteEnd(observation.error ?? null)
      if (observation.error !== undefined && this.#mayStillBeAnother()) {
        this.#unanswered(observation.error, 'unknown')
        upstream.abort(observation.error)
        return
      }
      // The row is written before the client can know that the answer is whole.
      this.#finish(observation, endingOf(observation), null, whole(watched.forward))
      // Nobody waits for what it would still say.
      if (observation.error !== undefined) upstream.abort(observation.error)
    } else {
      for (const bytes of watched.forward) this.#write(upstream, bytes)
    }
  }

  #endStream(): void {
    const rest = this.#watcher?.end()
    const observation = this.#watcher?.observe() ?? nothingObserved
    const { error = observation.complete ? undefined : endedEarly() } = observation
    if (error !== undefined && this.#mayStillBeAnother()) {
      this.#unanswered(error, 'unknown')
      return
    }
    // Half a frame is nothing to send; what the upstream said of its error is.
    const last = error === undefined || observation.error !== undefined ? rest : undefined
    this.#finish(observation, endingOf(observation), error ?? null, last)
  }

  #endWhole(): void {
    const { observation, body } = this.#reader.whole(this.#held())
    if (observation.complete || this.#options.call.clientGone) {
      this.#options.call.firstTokenAt ??= Date.now()
      this.#finish(observation, 'complete', null, body)
      return
    }
    this.#unanswered(observation.error ?? notWhole(), 'unknown')
  }

  #refuse(): void {
    const body = this.#held()
    const error = this.#options.side.decodeError(this.#status, this.#headers, body)
    this.#finished = true
    const contentType = textOf(this.#headers['content-type']) ?? ''
    this.#options.attempt.error = { kind: error.kind, message: error.message }
    this.#options.done({
      kind: 'unanswered',
      error,
      refusal: { status: this.#status, contentType, body },
      paid: 'no',
    })
  }

  /** The upstream's own signs of life do not pass through a translation. */
  #keepAlive(upstream: UpstreamCall): void {
    this.#keepAliveTimer = setInterval(() => {
      if (this.#options.call.response.writableNeedDrain) return
      const bytes = this.#watcher?.keepAlive?.()
      if (bytes !== undefined && bytes.length > 0) this.#write(upstream, bytes)
    }, this.#options.keepAliveMs).unref()
  }

  /** Until the client has seen something of it, an answer can come from elsewhere. */
  #mayStillBeAnother(): boolean {
    return !this.#begun && !this.#options.call.clientGone
  }

  #unanswered(error: GatewayError, paid: 'no' | 'unknown'): void {
    this.#finished = true
    clearInterval(this.#keepAliveTimer)
    this.#options.attempt.error = { kind: error.kind, message: error.message }
    this.#options.done({ kind: 'unanswered', error, refusal: undefined, paid })
  }

  /** Settle, then send what is left and end the answer. Runs once. */
  #finish(
    observation: Observation,
    streamEnd: StreamEnd,
    error: GatewayError | null,
    last: Buffer | undefined,
  ): void {
    this.#finished = true
    clearInterval(this.#keepAliveTimer)
    const { call } = this.#options
    const end = call.clientGone ? 'client_gone' : call.shuttingDown && error !== null ? 'shutdown' : streamEnd
    const status = this.#begun || !call.clientGone ? this.#status : 499
    void this.#options.settle({ status, observation, streamEnd: end, error }).then(() => {
      this.#sendLast(error, last)
      this.#options.done({ kind: 'answered' })
    })
  }

  #sendLast(error: GatewayError | null, last: Buffer | undefined): void {
    const { call } = this.#options
    if (call.clientGone || call.response.destroyed) return
    if (error !== null && this.#mode !== 'stream') {
      // An answer cut in its middle has no other sign than the broken connection.
      call.response.destroy()
      return
    }
    const inStream = error !== null && last === undefined
    this.#begin(last?.length)
    if (inStream) call.response.end(call.endpoint.client.encodeStreamError(shown(call, error), call.id))
    else call.response.end(last)
  }

  #write(upstream: UpstreamCall, chunk: Buffer): void {
    const { call } = this.#options
    if (call.clientGone) return
    this.#begin(undefined)
    if (call.response.write(chunk)) return
    upstream.pause()
    call.response.once('drain', () => upstream.resume())
  }

  #begin(wholeBytes: number | undefined): void {
    if (this.#begun) return
    this.#begun = true
    const { call } = this.#options
    const headers: Record<string, string | number> = { 'x-request-id': call.id, ...call.headers }
    const { requestIdHeader } = call.endpoint.client
    if (requestIdHeader !== undefined) headers[requestIdHeader] = call.id
    const { contentType } = this.#reader
    if (contentType !== undefined) headers['content-type'] = contentType
    else {
      for (const name of forwardedHeaders) {
        const value = textOf(this.#headers[name])
        if (value !== null) headers[name] = value
      }
    }
    if (contentType === undefined ? this.#mode === 'stream' : contentType.startsWith('text/event-stream')) {
      headers['cache-control'] = 'no-cache'
      headers['x-accel-buffering'] = 'no'
    } else if (wholeBytes !== undefined) {
      headers['content-length'] = wholeBytes
    } else {
      const declared = textOf(this.#headers['content-length'])
      if (declared !== null) headers['content-length'] = declared
    }
    call.response.writeHead(this.#status, headers)
  }

  /** Only what goes on as it came can be passed before it is whole. */
  #heldBytesMax(): number {
    const { heldAnswerBytesMax, watchedAnswerBytesMax } = this.#options
    return this.#reader.contentType === undefined ? heldAnswerBytesMax : watchedAnswerBytesMax
  }

  #hold(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  #held(): Buffer {
    return whole(this.#chunks) ?? Buffer.alloc(0)
  }

  #passHeld(upstream: UpstreamCall): void {
    if (this.#reader.contentType !== undefined) {
      const error = tooLong(this.#options.watchedAnswerBytesMax)
      this.#noteEnd(error)
      if (this.#mayStillBeAnother()) this.#unanswered(error, 'unknown')
      else this.#finish(nothingObserved, 'upstream_cut', error, undefined)
      upstream.abort(error)
      return
    }
    const held = this.#chunks
    this.#mode = 'passing'
    this.#options.call.firstTokenAt ??= Date.now()
    for (const chunk of held) this.#write(upstream, chunk)
  }

  /** An answer beyond what is watched is still delivered; its usage is then estimated from its size. */
  #keep(chunk: Buffer): void {
    if (this.#length <= this.#options.watchedAnswerBytesMax) this.#chunks.push(chunk)
    else this.#chunks = []
    this.#length += chunk.length
  }

  #watchPassed(): Observation {
    if (this.#chunks.length > 0) return this.#reader.whole(this.#held()).observation
    return { ...nothingObserved, outputTokensEstimate: Math.ceil(this.#length / 4) }
  }

  #noteEnd(error: GatewayError | null): void {
    const { attempt, call } = this.#options
    attempt.totalMs = Date.now() - this.#sentAt
    if (error !== null && !call.clientGone) attempt.error = { kind: error.kind, message: error.message }
  }
}

const nothingObserved: Observation = {
  usage: undefined,
  finishReason: undefined,
  servedModel: undefined,
  error: undefined,
  complete: false,
  outputTokensEstimate: 0,
}

function endingOf(observation: Observation): StreamEnd {
  return observation.complete ? 'complete' : 'upstream_cut'
}

function endedEarly(): GatewayError {
  return new GatewayError('upstream_error', 'The upstream ended its stream before the answer was complete.')
}

function notWhole(): GatewayError {
  return new GatewayError(
    'upstream_error',
    'The upstream answered with something that is not a whole JSON document.',
  )
}

function tooLong(bytesMax: number): GatewayError {
  return new GatewayError('upstream_error', `The upstream answered with more than ${bytesMax} bytes.`)
}

function endOf(error: GatewayError): StreamEnd {
  return error.kind === 'upstream_timeout' ? 'timeout' : 'upstream_cut'
}

/** The pieces as one buffer, without a copy where there is one only; undefined where there is none. */
function whole(pieces: Buffer[]): Buffer | undefined {
  return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
}

function textOf(header: string | string[] | undefined): string | null {
  if (header === undefined) return null
  return typeof header === 'string' ? header : (header[0] ?? null)
}
