import type { GatewayError } from '../canonical/error.ts'
import { headerText } from '../canonical/headers.ts'
import type { StreamEnd } from '../canonical/usage.ts'
import type { Bounds } from '../config.ts'
import { cutWhenStalled, isWaitedFor } from '../http/stalled-client.ts'
import type { AttemptRecord } from '../ledger/record.ts'
import { nothingObserved } from '../protocols/observe.ts'
import type { Observation, StreamWatcher, UpstreamSide } from '../protocols/protocol.ts'
import type { Admitted } from '../stages/admit.ts'
import { beginAnswer, finishAnswer, writeAnswer } from '../stages/answer.ts'
import { nothingSent, observeSize } from '../stages/meter.ts'
import { redactError } from '../stages/redact-error.ts'
import type { UpstreamRefusal } from '../stages/refuse.ts'
import { endedEarly, isRedirect, notWhole, redirected, tooLong } from '../upstream/answer-errors.ts'
import type { Listener, ResponseHeaders, UpstreamCall } from '../upstream/upstreams.ts'
import { answerHeaders } from './answer-headers.ts'
import type { AnswerReader } from './answer-reader.ts'

/** How one attempt ended. `unanswered`: the client has seen nothing of it, so another target may be tried. */
export type RelayResult =
  | { kind: 'answered' }
  | { kind: 'unanswered'; error: GatewayError; refusal: UpstreamRefusal | undefined; paid: 'no' | 'unknown' }

/** What the relay tells when the answer has ended, before its last bytes go out. */
export interface RelayedAnswer {
  status: number
  observation: Observation
  streamEnd: StreamEnd
  error: GatewayError | null
}

export interface RelayOptions {
  admitted: Admitted
  side: UpstreamSide
  reader: AnswerReader
  attempt: AttemptRecord
  bounds: Pick<Bounds, 'heldAnswerBytesMax' | 'watchedAnswerBytesMax' | 'keepAliveMs' | 'clientStallMs'>
  /** Write the row; the last bytes wait for it. */
  settle(answer: RelayedAnswer): Promise<void>
  done(attempted: RelayResult): void
}

const refusalBytesMax = 64 * 1024

/**
 * Carries one upstream answer to the client as it comes, while the protocol's watcher reads it. Backpressure,
 * a client that leaves, a cut upstream and the exact end of the answer are dealt with here and nowhere else.
 */
export class Relay implements Listener {
  readonly #options: RelayOptions
  readonly #sentAt = Date.now()
  #reader: AnswerReader
  #upstream: UpstreamCall | undefined
  #status = 0
  #headers: ResponseHeaders = {}
  #mode: 'refusal' | 'stream' | 'whole' | 'passing' = 'whole'
  #watcher: StreamWatcher | undefined
  #chunks: Buffer[] = []
  #length = 0
  /** The answer was larger on its way here than it is for the upstream: it is held to the bound. */
  #decoded = false
  #begun = false
  /** The client has yet to take what was written. */
  #blocked = false
  #finished = false
  #keepAliveTimer: NodeJS.Timeout | undefined

  constructor(options: RelayOptions) {
    this.#options = options
    this.#reader = options.reader
  }

  isWanted(): boolean {
    return !this.#options.admitted.life.clientGone
  }

  start(upstream: UpstreamCall, status: number, headers: ResponseHeaders): void {
    const { attempt } = this.#options
    this.#upstream = upstream
    this.#decoded = upstream.decodes === true
    this.#status = status
    this.#headers = headers
    attempt.status = status
    attempt.firstByteMs = Date.now() - this.#sentAt
    attempt.upstreamRequestId = headerText(headers['x-request-id']) ?? null
    if (status < 200 || status > 299) {
      this.#mode = 'refusal'
      return
    }
    const contentType = headerText(headers['content-type']) ?? ''
    const isStream = contentType.startsWith('text/event-stream')
    const { facts } = this.#options.admitted
    if (facts.stream ? contentType.includes('json') : isStream) this.#reader = this.#reader.forOtherKind()
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
        this.#hold(chunk)
        if (this.#length >= refusalBytesMax) this.#refuse(upstream)
        return
      case 'whole':
        this.#hold(chunk)
        if (this.#length > this.#heldBytesMax()) this.#startPassing(upstream)
        return
      case 'passing':
        this.#keepWatched(chunk)
        if (this.#decoded && this.#length > this.#options.bounds.watchedAnswerBytesMax)
          this.#abortTooLong(upstream)
        else this.#write(upstream, chunk)
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
    const { life } = this.#options.admitted
    this.#noteEnd(error)
    if (this.#canTryAnother()) {
      this.#giveUp(error, sent ? 'unknown' : 'no')
      return
    }
    this.#finish(
      sent ? this.#observeSoFar() : nothingSent,
      streamEndAfter(error),
      error,
      life.clientGone ? undefined : this.#watcher?.fail?.(error),
    )
  }

  #pushStream(upstream: UpstreamCall, chunk: Buffer): void {
    const { row } = this.#options.admitted
    if (this.#watcher === undefined) return
    const watched = this.#watcher.push(chunk)
    if (row.firstTokenAt === null && watched.hasContent) row.firstTokenAt = Date.now()
    if (watched.terminal) {
      const observation = this.#watcher.observe()
      this.#noteEnd(observation.error ?? null)
      if (observation.error !== undefined && this.#canTryAnother()) {
        this.#giveUp(observation.error, 'unknown')
        upstream.abort(observation.error)
        return
      }
      // The row is written before the client can know that the answer is whole.
      this.#finish(observation, streamEndOf(observation), null, joinChunks(watched.forward))
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
    if (error !== undefined && this.#canTryAnother()) {
      this.#giveUp(error, 'unknown')
      return
    }
    if (error !== undefined) this.#noteEnd(error)
    // Half a frame is nothing to send; what the upstream said of its error is.
    const last = error === undefined || observation.error !== undefined ? rest : undefined
    this.#finish(observation, streamEndOf(observation), error ?? null, last)
  }

  #endWhole(): void {
    const { observation, body } = this.#reader.whole(this.#joinHeld())
    if (observation.complete || this.#options.admitted.life.clientGone) {
      this.#options.admitted.row.firstTokenAt ??= Date.now()
      this.#finish(observation, 'complete', null, body)
      return
    }
    this.#giveUp(observation.error ?? notWhole(), 'unknown')
  }

  /** `upstream`: where it would go on with its refusal, which nobody reads. */
  #refuse(upstream?: UpstreamCall): void {
    const body = this.#joinHeld()
    const error = isRedirect(this.#status)
      ? redirected(this.#status)
      : this.#options.side.decodeError(this.#status, this.#headers, body)
    this.#noteEnd(error)
    if (this.#options.admitted.life.clientGone) {
      this.#finish(nothingSent, 'complete', error, undefined)
      upstream?.abort(error)
      return
    }
    this.#finished = true
    const contentType = headerText(this.#headers['content-type']) ?? ''
    this.#options.attempt.error = { kind: error.kind, message: error.message }
    this.#options.done({
      kind: 'unanswered',
      error,
      refusal: { status: this.#status, contentType, body },
      paid: 'no',
    })
    upstream?.abort(error)
  }

  /** The upstream's own signs of life do not pass through a translation. */
  #keepAlive(upstream: UpstreamCall): void {
    this.#keepAliveTimer = setInterval(() => {
      if (this.#options.admitted.response.writableNeedDrain) return
      const bytes = this.#watcher?.keepAlive?.()
      if (bytes !== undefined && bytes.length > 0) this.#write(upstream, bytes)
    }, this.#options.bounds.keepAliveMs).unref()
  }

  /** Until the client has seen something of it, an answer can come from elsewhere. */
  #canTryAnother(): boolean {
    return !this.#begun && !this.#options.admitted.life.clientGone
  }

  #giveUp(error: GatewayError, paid: 'no' | 'unknown'): void {
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
    const { life } = this.#options.admitted
    const end = life.clientGone ? 'client_gone' : life.shuttingDown && error !== null ? 'shutdown' : streamEnd
    const status = this.#begun || !life.clientGone ? this.#status : 499
    // An upstream that answers early may not have taken all of the request. Its memory must not be used for another one.
    if (this.#upstream?.hasRequest !== true) life.slabs.length = 0
    void this.#options.settle({ status, observation, streamEnd: end, error }).then(() => {
      this.#sendLast(error, last)
      this.#options.done({ kind: 'answered' })
    })
  }

  #sendLast(error: GatewayError | null, last: Buffer | undefined): void {
    const { admitted } = this.#options
    const { response, endpoint, id } = admitted
    if (admitted.life.clientGone || response.destroyed) return
    if (error !== null && this.#mode !== 'stream') {
      // An answer cut in its middle has no other sign than the broken connection.
      response.destroy()
      return
    }
    const inStream = error !== null && last === undefined
    this.#begin(last?.length)
    finishAnswer(
      admitted,
      inStream ? endpoint.client.encodeStreamError(redactError(admitted, error), id) : last,
    )
    if (isWaitedFor(response)) cutWhenStalled(response, this.#options.bounds.clientStallMs)
  }

  #write(upstream: UpstreamCall, chunk: Buffer): void {
    const { admitted } = this.#options
    if (admitted.life.clientGone) return
    this.#begin(undefined)
    if (writeAnswer(admitted, chunk) || this.#blocked) return
    this.#blocked = true
    upstream.pause()
    admitted.response.once('drain', () => {
      this.#blocked = false
      upstream.resume()
    })
    cutWhenStalled(admitted.response, this.#options.bounds.clientStallMs)
  }

  #begin(wholeBytes: number | undefined): void {
    if (this.#begun) return
    this.#begun = true
    const { admitted } = this.#options
    const headers = answerHeaders(admitted, {
      contentType: this.#reader.contentType,
      streams: this.#mode === 'stream',
      wholeBytes,
      upstream: this.#headers,
    })
    beginAnswer(admitted, this.#status, headers)
  }

  /** Only what goes on as it came can be passed before it is whole. */
  #heldBytesMax(): number {
    const { heldAnswerBytesMax, watchedAnswerBytesMax } = this.#options.bounds
    return this.#reader.contentType === undefined ? heldAnswerBytesMax : watchedAnswerBytesMax
  }

  #hold(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  #joinHeld(): Buffer {
    return joinChunks(this.#chunks) ?? Buffer.alloc(0)
  }

  #startPassing(upstream: UpstreamCall): void {
    if (this.#reader.contentType !== undefined) {
      this.#abortTooLong(upstream)
      return
    }
    const held = this.#chunks
    this.#mode = 'passing'
    this.#options.admitted.row.firstTokenAt ??= Date.now()
    for (const chunk of held) this.#write(upstream, chunk)
  }

  /** The answer is too long to be gone on with. */
  #abortTooLong(upstream: UpstreamCall): void {
    const error = tooLong(this.#options.bounds.watchedAnswerBytesMax)
    this.#noteEnd(error)
    if (this.#canTryAnother()) this.#giveUp(error, 'unknown')
    else this.#finish(this.#observeSoFar(), 'upstream_cut', error, undefined)
    upstream.abort(error)
  }

  /** What an answer that has no end gave until now. */
  #observeSoFar(): Observation {
    if (this.#mode === 'passing') return observeSize(this.#length)
    return this.#watcher?.observe() ?? nothingObserved
  }

  /** An answer beyond what is watched is still delivered; its usage is then estimated from its size. */
  #keepWatched(chunk: Buffer): void {
    if (this.#length <= this.#options.bounds.watchedAnswerBytesMax) this.#chunks.push(chunk)
    else this.#chunks = []
    this.#length += chunk.length
  }

  #watchPassed(): Observation {
    if (this.#chunks.length > 0) return this.#reader.whole(this.#joinHeld()).observation
    return observeSize(this.#length)
  }

  #noteEnd(error: GatewayError | null): void {
    const { attempt, admitted } = this.#options
    attempt.totalMs = Date.now() - this.#sentAt
    if (error !== null && !admitted.life.clientGone)
      attempt.error = { kind: error.kind, message: error.message }
  }
}

function streamEndOf(observation: Observation): StreamEnd {
  return observation.complete ? 'complete' : 'upstream_cut'
}

function streamEndAfter(error: GatewayError): StreamEnd {
  return error.kind === 'upstream_timeout' ? 'timeout' : 'upstream_cut'
}

/** The pieces as one buffer, without a copy where there is one only; undefined where there is none. */
function joinChunks(pieces: Buffer[]): Buffer | undefined {
  return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
}
