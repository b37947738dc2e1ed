import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { headerText } from '../canonical/headers.ts'
import type { StreamEnd } from '../canonical/usage.ts'
import type { Bounds } from '../config/config.ts'
import { type AnswerKind, contentTypes, kindOfBytes, kindOfLabel, withoutMark } from '../http/answer-kind.ts'
import type { AttemptRecord } from '../journal/record.ts'
import { nothingObserved } from '../protocols/observe.ts'
import type { Observation, StreamWatcher, UpstreamSide, WatchedChunk } from '../protocols/protocol.ts'
import type { BreakerCall } from '../routing/breakers.ts'
import type { Clock } from '../runtime/clock.ts'
import { confined, orElse } from '../runtime/confine.ts'
import { endedEarly, isRedirect, notWhole, redirected, tooLong } from '../upstream/answer-errors.ts'
import { broken } from '../upstream/call-errors.ts'
import type { Listener, ResponseHeaders, UpstreamCall } from '../upstream/upstreams.ts'
import type { Admitted } from './admit.ts'
import type { AnswerReader } from './answer-reader.ts'
import { attemptError, requestIdIn } from './attempt.ts'
import { type CaptureAnswer, ClientAnswer } from './client-answer.ts'
import { asGatewayError } from './ending.ts'
import { nothingSent, observeSize } from './meter.ts'
import { knownSecrets } from './redact-error.ts'
import type { UpstreamRefusal } from './refuse.ts'
import { StreamTail } from './stream-tail.ts'

/**
 * How a call ended. `unanswered`: the client has not seen any of the answer, so another target may be tried.
 * The observation is `nothingSent` if the call cost nothing.
 */
export type RelayResult =
  | { kind: 'answered' }
  | {
      kind: 'unanswered'
      error: GatewayError
      refusal: UpstreamRefusal | undefined
      observation: Observation
    }

/** The facts about an answer that has ended, but whose last bytes have not been sent to the client yet. */
export interface RelayedAnswer {
  status: number
  observation: Observation
  streamEnd: StreamEnd
  error: GatewayError | null
}

export interface RelayOptions {
  clock: Clock
  admitted: Admitted
  side: UpstreamSide
  reader: AnswerReader
  attempt: AttemptRecord
  breakerCall: Pick<BreakerCall, 'answered'>
  bounds: Pick<
    Bounds,
    | 'heldAnswerBytesMax'
    | 'sseFrameBytesMax'
    | 'watchedAnswerBytesMax'
    | 'keepAliveMs'
    | 'clientStallMs'
    | 'streamTailMs'
  >
  capture: CaptureAnswer
  /** True while this process may have been taken for dead and must send nothing. */
  isDoubtful(): boolean
  /**
   * Writes the row. `last`, the last bytes of the answer, are sent only after that. Resolves with an error
   * when the client must not get them; a client that has not seen any of the answer has then already been
   * sent that error.
   */
  settle(answer: RelayedAnswer, last: Buffer | undefined): Promise<GatewayError | undefined>
  done(attempted: RelayResult): void
}

const refusalBytesMax = 64 * 1024

/**
 * Relays one upstream answer to the client as it arrives, while the protocol's watcher reads it. Only this
 * class decides what happens when the client leaves, when the upstream breaks off, and when the answer is
 * complete.
 */
export class Relay implements Listener {
  readonly #options: RelayOptions
  readonly #clock: Clock
  readonly #sentAt: number
  #reader: AnswerReader
  readonly #answer: ClientAnswer
  #upstream: UpstreamCall | undefined
  #status = 0
  #headers: ResponseHeaders = {}
  #mode: 'refusal' | 'stream' | 'whole' | 'passing' = 'whole'
  #kind: AnswerKind = 'other'
  #isKindSeen = false
  /** True when the reader changes the answer and therefore needs all of it. */
  #isRewritten = false
  #watcher: StreamWatcher | undefined
  #chunks: Buffer[] = []
  #length = 0
  #head: StreamHead | undefined
  /**
   * True when we decode a `content-encoding`. A few bytes may expand to many, so the answer must stay within
   * the bound.
   */
  #decoded = false
  #finished = false
  /** What the upstream sends after the end of its answer. */
  #tail: StreamTail | undefined
  #keepAliveTimer: NodeJS.Timeout | undefined

  constructor(options: RelayOptions) {
    this.#options = options
    this.#clock = options.clock
    this.#sentAt = options.clock.now()
    this.#reader = options.reader
    this.#answer = new ClientAnswer(options.admitted, options.bounds.clientStallMs, options.capture)
  }

  isWanted(): boolean {
    return !this.#options.admitted.life.clientGone
  }

  start(upstream: UpstreamCall, status: number, headers: ResponseHeaders): void {
    const { attempt, admitted, breakerCall } = this.#options
    this.#upstream = upstream
    this.#decoded = upstream.decodes === true
    this.#status = status
    this.#headers = headers
    attempt.status = status
    breakerCall.answered(status)
    attempt.firstByteMs = this.#clock.now() - this.#sentAt
    attempt.upstreamRequestId = requestIdIn(headers, knownSecrets(admitted))
    if (status < 200 || status > 299) {
      this.#mode = 'refusal'
      return
    }
    const label = headerText(headers['content-type']) ?? ''
    // Audio may begin like JSON or an event, so that only its label counts.
    this.#isKindSeen =
      this.#reader.passesBytes === true && (!admitted.facts.stream || /^audio\//i.test(label))
    this.#beginAs(upstream, kindOfLabel(label))
  }

  #beginAs(upstream: UpstreamCall, kind: AnswerKind): void {
    const { admitted, reader } = this.#options
    this.#kind = kind
    const streams = kind === 'events'
    const isOther = admitted.facts.stream ? kind === 'json' : streams
    this.#reader = isOther ? reader.forOtherKind() : reader
    this.#answer.setHead({
      status: this.#status,
      headers: this.#headers,
      streams,
      contentType: this.#reader.contentType,
    })
    this.#mode = streams ? 'stream' : kind === 'other' && this.#reader.passesBytes ? 'passing' : 'whole'
    this.#watcher = streams ? this.#reader.stream() : undefined
    clearInterval(this.#keepAliveTimer)
    if (this.#watcher?.keepAlive !== undefined) this.#keepAlive(upstream)
  }

  /**
   * Handles the first bytes together with those held so far. The kind of the answer is detected from them
   * rather than from its content type.
   */
  #takeFirst(upstream: UpstreamCall, chunk: Buffer): Buffer {
    const begin = this.#chunks.length === 0 ? chunk : Buffer.concat([...this.#chunks, chunk])
    const kind = kindOfBytes(begin)
    if (kind === undefined) return chunk
    this.#isKindSeen = true
    if (kind === 'other' || kind === this.#kind || this.#answer.hasBegun) return chunk
    this.#headers = { ...this.#headers, 'content-type': contentTypes[kind] }
    this.#chunks = []
    this.#length = 0
    this.#beginAs(upstream, kind)
    return begin
  }

  data(upstream: UpstreamCall, bytes: Buffer): void {
    if (this.#finished) {
      this.#tail?.take(bytes)
      return
    }
    const chunk = this.#isKindSeen || this.#mode === 'refusal' ? bytes : this.#takeFirst(upstream, bytes)
    switch (this.#mode) {
      case 'stream':
        if (this.#decoded) this.#length += chunk.length
        if (this.#length > this.#options.bounds.watchedAnswerBytesMax) this.#abortTooLong(upstream)
        else this.#pushStream(upstream, chunk)
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
        this.#options.admitted.row.firstTokenAt ??= this.#clock.now()
        this.#keepWatched(chunk)
        if (this.#decoded && this.#length > this.#options.bounds.watchedAnswerBytesMax)
          this.#abortTooLong(upstream)
        else this.#answer.write(upstream, chunk)
        return
    }
  }

  end(): void {
    if (this.#finished) {
      this.#tail?.end()
      return
    }
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
        if (this.#length === 0 && this.#canTryAnother())
          this.#giveUp(gatewayError('upstream_answer_empty'), nothingObserved)
        else this.#finish({ ...this.#watchPassed(), complete: true }, 'complete', null, undefined)
        return
    }
  }

  fail(error: GatewayError, sent: boolean): void {
    if (this.#finished) {
      this.#tail?.stop()
      return
    }
    this.#noteEnd(error)
    // The code that failed may fail again. The answer then ends without the format's closing bytes.
    const observation = sent ? orElse(nothingObserved, () => this.#observeSoFar()) : nothingSent
    if (this.#canTryAnother()) {
      this.#giveUp(error, observation)
      return
    }
    this.#finish(observation, streamEndAfter(error), error, this.#lastWords(error))
  }

  /** The closing bytes of the format for a stream that broke off. */
  #lastWords(error: GatewayError): Buffer | undefined {
    if (this.#options.admitted.life.clientGone) return undefined
    return orElse(undefined, () => this.#watcher?.fail?.(error))
  }

  #pushStream(upstream: UpstreamCall, chunk: Buffer): void {
    const { row } = this.#options.admitted
    if (this.#watcher === undefined) return
    const watched = this.#watcher.push(chunk)
    if (row.firstTokenAt === null && watched.hasContent) row.firstTokenAt = this.#clock.now()
    if (watched.terminal) {
      const observation = this.#watcher.observe()
      const failure = observation.error ?? observation.none
      this.#noteEnd(failure ?? null)
      if (failure !== undefined && this.#canTryAnother()) {
        this.#giveUp(failure, observation)
        upstream.abort(failure)
        return
      }
      if (this.#watcher.isFollowed === true && observation.error === undefined)
        this.#tail = new StreamTail(this.#watcher, this.#options.bounds.streamTailMs)
      // Write the row before the client can see that the answer is complete.
      const last = joinChunks(this.#withHead(watched.forward))
      this.#finish(observation, streamEndOf(observation), observation.none ?? null, last)
      // The error ends the answer, so the rest of the stream is not needed.
      if (observation.error !== undefined) upstream.abort(observation.error)
    } else {
      for (const bytes of this.#released(upstream, watched)) this.#answer.write(upstream, bytes)
    }
  }

  /** Returns the part of a stream that can be sent to the client now. */
  #released(upstream: UpstreamCall, { forward, hasContent }: WatchedChunk): Buffer[] {
    if (this.#answer.hasBegun) return forward
    if (hasContent) return this.#withHead(forward)
    this.#head ??= new StreamHead(this.#options.bounds.sseFrameBytesMax, this.#late(upstream))
    return this.#head.push(forward)
  }

  #late(upstream: UpstreamCall): () => void {
    const release = () => {
      if (this.#options.isDoubtful()) return
      for (const bytes of this.#withHead([])) this.#answer.write(upstream, bytes)
    }
    return confined((cause) => upstream.abort(broken(cause)), release)
  }

  #withHead(forward: Buffer[]): Buffer[] {
    return this.#head === undefined ? forward : [...this.#head.take(), ...forward]
  }

  #endStream(): void {
    const rest = this.#watcher?.end()
    const observation = this.#watcher?.observe() ?? nothingObserved
    const error = observation.error ?? (observation.complete ? observation.none : endedEarly())
    if (error !== undefined && this.#canTryAnother()) {
      this.#giveUp(error, observation)
      return
    }
    if (error !== undefined) this.#noteEnd(error)
    // After an early end, the rest is an incomplete frame, which is not sent. After the upstream's own error,
    // the rest is that error, which is sent.
    const isOwnEnd = error === undefined || error === observation.error || error === observation.none
    const last = rest !== undefined && isOwnEnd ? [rest] : []
    this.#finish(observation, streamEndOf(observation), error ?? null, joinChunks(this.#withHead(last)))
  }

  #endWhole(): void {
    const { observation, body } = this.#reader.whole(withoutMark(this.#joinHeld()))
    const failure = observation.error ?? observation.none
    if ((observation.complete && failure === undefined) || this.#options.admitted.life.clientGone) {
      this.#options.admitted.row.firstTokenAt ??= this.#clock.now()
      this.#finish(observation, 'complete', null, body)
      return
    }
    this.#giveUp(failure ?? notWhole(), observation)
  }

  /** `upstream` is the call to abort when it sends more of the refusal than we read. */
  #refuse(upstream?: UpstreamCall): void {
    const body = this.#joinHeld()
    const error = isRedirect(this.#status)
      ? redirected(this.#status)
      : this.#options.side.decodeError(this.#status, this.#headers, body)
    this.#noteEnd(error)
    const contentType = headerText(this.#headers['content-type']) ?? ''
    if (this.#options.admitted.life.clientGone) this.#finish(nothingSent, 'complete', error, undefined)
    else this.#giveUp(error, nothingSent, { status: this.#status, contentType, body })
    upstream?.abort(error)
  }

  /** A translation drops the upstream's keep-alives, so we send our own. */
  #keepAlive(upstream: UpstreamCall): void {
    const keepAlive = () => {
      if (this.#options.isDoubtful()) return
      if (this.#options.admitted.exchange.reply.writableNeedDrain) return
      const bytes = this.#watcher?.keepAlive?.()
      if (bytes !== undefined && bytes.length > 0) this.#answer.write(upstream, bytes)
    }
    this.#keepAliveTimer = setInterval(
      confined((cause) => upstream.abort(broken(cause)), keepAlive),
      this.#options.bounds.keepAliveMs,
    ).unref()
  }

  /** True while the client has not seen any of this answer, so another target can still answer. */
  #canTryAnother(): boolean {
    return !this.#answer.hasBegun && !this.#options.admitted.life.clientGone
  }

  #giveUp(error: GatewayError, observation: Observation, refusal?: UpstreamRefusal): void {
    this.#stopTimers()
    this.#options.attempt.error = attemptError(error)
    this.#options.done({ kind: 'unanswered', error, refusal, observation })
  }

  #stopTimers(): void {
    this.#finished = true
    clearInterval(this.#keepAliveTimer)
    this.#head?.take()
  }

  /** Settles, then sends the last bytes and ends the answer. Runs once. */
  #finish(
    observation: Observation,
    streamEnd: StreamEnd,
    error: GatewayError | null,
    last: Buffer | undefined,
  ): void {
    this.#stopTimers()
    const { life } = this.#options.admitted
    const end = life.clientGone ? 'client_gone' : life.shuttingDown && error !== null ? 'shutdown' : streamEnd
    const status = this.#answer.hasBegun || !life.clientGone ? this.#status : 499
    // An upstream may answer before it has read the whole request. In that case the request's memory must not
    // be reused.
    if (this.#upstream?.hasRequest !== true) life.slabs.length = 0
    this.#options.settle({ status, observation, streamEnd: end, error }, last).then(
      (refused) => {
        if (refused === undefined) return this.#end(error, last)
        if (this.#answer.hasBegun) this.#answer.finish(refused, undefined)
        this.#options.done({ kind: 'answered' })
      },
      // The row could not be written as planned, so the client gets an error in place of the last bytes.
      (cause: unknown) => {
        const failure = asGatewayError(cause)
        if (this.#canTryAnother()) this.#giveUp(failure, observation)
        else this.#end(failure, undefined)
      },
    )
  }

  #end(error: GatewayError | null, last: Buffer | undefined): void {
    const end = (last: Buffer | undefined) => {
      this.#answer.finish(error, last)
      this.#options.done({ kind: 'answered' })
    }
    const upstream = this.#upstream
    if (error !== null || this.#tail === undefined || upstream === undefined) end(last)
    else this.#tail.follow(last, { write: (bytes) => this.#answer.write(upstream, bytes), end })
  }

  /** Only an unchanged answer can be passed on before it is complete. */
  #heldBytesMax(): number {
    const { heldAnswerBytesMax, watchedAnswerBytesMax } = this.#options.bounds
    return this.#reader.contentType === undefined && !this.#isRewritten
      ? heldAnswerBytesMax
      : watchedAnswerBytesMax
  }

  #hold(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  #joinHeld(): Buffer {
    return joinChunks(this.#chunks) ?? Buffer.alloc(0)
  }

  #startPassing(upstream: UpstreamCall): void {
    if (this.#reader.contentType !== undefined || this.#isRewritten) this.#abortTooLong(upstream)
    else if (this.#reader.rewrites?.(this.#joinHeld()) === true) this.#isRewritten = true
    else {
      this.#mode = 'passing'
      this.#options.admitted.row.firstTokenAt ??= this.#clock.now()
      for (const chunk of this.#chunks) this.#answer.write(upstream, chunk)
    }
  }

  /** Aborts an answer that is longer than we translate or decode. */
  #abortTooLong(upstream: UpstreamCall): void {
    const error = tooLong(this.#options.bounds.watchedAnswerBytesMax)
    this.#noteEnd(error)
    if (this.#canTryAnother()) this.#giveUp(error, this.#observeSoFar())
    else this.#finish(this.#observeSoFar(), 'upstream_cut', error, this.#lastWords(error))
    upstream.abort(error)
  }

  /** The observation of an answer that has not ended. */
  #observeSoFar(): Observation {
    return this.#mode === 'passing'
      ? observeSize(this.#length)
      : (this.#watcher?.observe() ?? nothingObserved)
  }

  /**
   * An unchanged answer above the bound is still sent to the client, but its usage is estimated from its
   * size.
   */
  #keepWatched(chunk: Buffer): void {
    const { watchedAnswerBytesMax } = this.#options.bounds
    if (this.#length <= watchedAnswerBytesMax && !this.#reader.passesBytes) this.#chunks.push(chunk)
    else this.#chunks = []
    this.#length += chunk.length
  }

  #watchPassed(): Observation {
    return this.#chunks.length > 0
      ? this.#reader.whole(this.#joinHeld()).observation
      : observeSize(this.#length)
  }

  #noteEnd(error: GatewayError | null): void {
    const { attempt, admitted } = this.#options
    attempt.totalMs = this.#clock.now() - this.#sentAt
    if (error !== null && !admitted.life.clientGone) attempt.error = attemptError(error)
  }
}

function streamEndOf(observation: Observation): StreamEnd {
  return observation.complete ? 'complete' : 'upstream_cut'
}

function streamEndAfter(error: GatewayError): StreamEnd {
  return error.kind === 'upstream_timeout' ? 'timeout' : 'upstream_cut'
}

/**
 * The head of an unchanged stream, held back until the first content so that another target can still answer.
 * Most errors of an upstream that has begun to answer arrive with the head. `headMs` limits the delay for the
 * client.
 */
class StreamHead {
  readonly #bytesMax: number
  readonly #timer: NodeJS.Timeout
  #chunks: Buffer[] = []
  #bytes = 0

  /** `onLate` is called when the head has been held for long enough. */
  constructor(bytesMax: number, onLate: () => void) {
    this.#bytesMax = bytesMax
    this.#timer = setTimeout(onLate, headMs).unref()
  }

  /** Returns the bytes that can be sent now. */
  push(chunks: readonly Buffer[]): Buffer[] {
    for (const chunk of chunks) this.#bytes += chunk.length
    this.#chunks.push(...chunks)
    return this.#bytes <= this.#bytesMax ? [] : this.take()
  }

  /** Returns the held bytes and stops holding. */
  take(): Buffer[] {
    clearTimeout(this.#timer)
    const head = this.#chunks
    this.#chunks = []
    return head
  }
}

const headMs = 1_000

/** Joins the pieces into one buffer, without copying a single piece; undefined if there are none. */
function joinChunks(pieces: Buffer[]): Buffer | undefined {
  return pieces.length > 1 ? Buffer.concat(pieces) : pieces[0]
}
