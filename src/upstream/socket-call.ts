import type { IncomingMessage } from 'node:http'
import { GatewayError, gatewayError } from '../canonical/error.ts'
import type { AskingFrame, FrameFormat, FrameReader, ReadFrame } from '../canonical/frames.ts'
import { endedEarly } from './answer-errors.ts'
import { broken } from './call-errors.ts'
import type { BodyParts } from './paced-body.ts'
import type { SocketPool } from './socket-pools.ts'
import type { UpstreamBounds } from './timeouts.ts'
import type { Listener, UpstreamCall } from './upstream-call.ts'
import type { Opening, OpeningListener, UpstreamSocket } from './upstream-socket.ts'

export interface SocketCallParts {
  listener: Listener
  format: FrameFormat
  asking: AskingFrame
  pace: BodyParts['pace'] | undefined
  /** Whether the client requests a stream. */
  stream: boolean
  pool: SocketPool
  bounds: UpstreamBounds
  frameBytesMax: number
  open(listener: OpeningListener): Opening
  /** Sends the same request over HTTP instead. `why` is the reason why the WebSocket cannot be used. */
  overHttp(why: string): UpstreamCall
  /** Called once, before the listener is notified of the end. */
  onFinish(): void
}

/** Responses to an upgrade that mean that WebSockets are not supported here. */
const noSocket: ReadonlySet<number> = new Set([404, 426])
/** The code with which a server closes a connection on which it received a frame that is too large. */
const frameTooLarge = 1009

/**
 * A call over a WebSocket. The request is one frame, and the frames of the response are converted into the
 * bytes that HTTP would deliver. After the upgrade, the call has exclusive use of the connection until the
 * last frame.
 */
export class SocketCall implements UpstreamCall, OpeningListener {
  readonly #parts: SocketCallParts
  readonly #total: NodeJS.Timeout
  readonly #leave: () => void
  /** Expires when the upstream is silent. */
  #silence: NodeJS.Timeout
  #reader: FrameReader
  #opening: Opening | undefined
  #socket: UpstreamSocket | undefined
  /** The HTTP call that has taken over the request. */
  #other: UpstreamCall | undefined
  #sent = false
  /** Whether a frame of the response has arrived. */
  #isAnswered = false
  #hasStarted = false
  /** The bytes of the frames from one read, which are passed on together. */
  #ready: Buffer[] = []
  #paused = false
  #done = false

  constructor(parts: SocketCallParts) {
    this.#parts = parts
    const { bounds, pool } = parts
    this.#leave = pool.begin()
    this.#reader = this.#newReader()
    this.#total = setTimeout(
      () => this.abort(gatewayError('upstream_too_slow', { totalMs: bounds.upstreamTotalMs })),
      bounds.upstreamTotalMs,
    )
    this.#silence = setTimeout(
      () => this.abort(gatewayError('upstream_answer_late')),
      bounds.upstreamFirstByteMs,
    )
    // Deferred, because `call` has not returned this handle yet.
    queueMicrotask(() => this.#begin())
  }

  /** The frame has its own memory. */
  get hasRequest(): boolean {
    return this.#other === undefined || this.#other.hasRequest === true
  }

  get isSent(): boolean {
    return this.#other?.isSent ?? this.#sent
  }

  pause(): void {
    this.#paused = true
    if (this.#other !== undefined) this.#other.pause()
    else if (!this.#done) this.#socket?.pause()
  }

  resume(): void {
    this.#paused = false
    if (this.#other !== undefined) this.#other.resume()
    else if (!this.#done) this.#socket?.resume()
  }

  abort(reason: GatewayError): void {
    if (this.#other !== undefined) this.#other.abort(reason)
    else this.#fail(reason)
  }

  opened(socket: UpstreamSocket): void {
    this.#opening = undefined
    this.#parts.pool.add(socket)
    this.#ask(socket)
  }

  refused(answer: IncomingMessage): void {
    const { listener } = this.#parts
    const { statusCode: status = 502, headers } = answer
    if (noSocket.has(status)) {
      this.#goOverHttp(`the response to the WebSocket upgrade was ${status}`)
      return
    }
    if (status < 300) {
      this.#fail(gatewayError('upstream_upgrade_refused', { status }))
      return
    }
    this.#isAnswered = true
    this.#waitFor(this.#parts.bounds.upstreamIdleMs)
    this.#safely(() => listener.start(this, status, headers))
    answer.on('data', (chunk: Buffer) => {
      if (this.#done) return
      this.#silence.refresh()
      this.#safely(() => listener.data(this, chunk))
    })
    answer.once('end', () => this.#end())
    answer.once('error', (error) => this.#fail(broken(error)))
  }

  failed(error: GatewayError): void {
    this.#fail(error)
  }

  #begin(): void {
    if (this.#done) return
    const waiting = this.#parts.pool.take(this.#parts.asking.continues)
    if (waiting === undefined) this.#open()
    else this.#ask(waiting)
  }

  #open(): void {
    this.#opening = this.#parts.open(this)
  }

  #ask(socket: UpstreamSocket): void {
    const { listener, asking, pace, bounds } = this.#parts
    if (listener.isWanted?.() === false) {
      this.#parts.pool.giveBack(socket)
      this.#fail(gatewayError('upstream_call_abandoned'))
      return
    }
    this.#socket = socket
    socket.use({ frame: (bytes) => this.#take(bytes), closed: (error, code) => this.#closed(error, code) })
    this.#waitFor(bounds.upstreamFirstByteMs)
    this.#sent = true
    socket.send(asking.frame, pace)
    if (this.#paused) socket.pause()
  }

  #take(bytes: Buffer): void {
    if (this.#done) return
    let frame: ReadFrame
    try {
      frame = this.#reader.push(bytes)
    } catch (cause) {
      this.#flush()
      this.#fail(cause instanceof GatewayError ? cause : broken(cause))
      return
    }
    if (frame.kind === 'refusal') this.#refuse(frame)
    else this.#passOn(frame)
  }

  #refuse({ status, headers, body, isOfConnection }: ReadFrame & { kind: 'refusal' }): void {
    if (isOfConnection && this.#askAgain()) return
    this.#isAnswered = true
    const { requestId } = this.#socket ?? {}
    this.#dropSocket()
    this.#safely(() => {
      this.#parts.listener.start(this, status, {
        ...(requestId !== undefined && { 'x-request-id': requestId }),
        ...headers,
      })
      if (!this.#done) this.#parts.listener.data(this, body)
    })
    this.#end()
  }

  #passOn({ bytes, last }: ReadFrame & { kind: 'event' }): void {
    // Over HTTP a response that is not streamed arrives as a whole, so pauses between its events do not count
    // as silence.
    if (this.#isAnswered || !this.#parts.stream) this.#silence.refresh()
    else this.#waitFor(this.#parts.bounds.upstreamIdleMs)
    this.#isAnswered = true
    if (bytes.length > 0 && this.#ready.push(bytes) === 1 && last === undefined)
      queueMicrotask(() => this.#flush())
    if (last === undefined) return
    this.#flush()
    const socket = this.#socket
    if (this.#done || socket === undefined) return
    if (last.isReusable && socket.isSent) {
      socket.answerId = last.answerId
      socket.isUsed = true
      this.#socket = undefined
      socket.resume()
      this.#parts.pool.giveBack(socket)
    } else this.#dropSocket()
    this.#end()
  }

  /**
   * Passes on the frames of one read of the socket as one chunk, because a separate write to the client for
   * each would cost more than the frames themselves.
   */
  #flush(): void {
    if (this.#done || this.#ready.length === 0) return
    const [first = nothing] = this.#ready
    const chunk = this.#ready.length === 1 ? first : Buffer.concat(this.#ready)
    this.#ready = []
    this.#safely(() => {
      this.#start()
      if (!this.#done) this.#parts.listener.data(this, chunk)
    })
  }

  #start(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    const { requestId } = this.#socket ?? {}
    const id = requestId === undefined ? {} : { 'x-request-id': requestId }
    this.#parts.listener.start(this, 200, { 'content-type': this.#reader.contentType, ...id })
  }

  #closed(error: GatewayError, code: number | undefined): void {
    if (this.#done) return
    if (!this.#isAnswered && code === frameTooLarge) {
      this.#goOverHttp('the frame is too large for the upstream')
      return
    }
    if (!this.#isAnswered && error.fault !== 'gateway' && this.#askAgain()) return
    this.#socket = undefined
    this.#flush()
    // A close frame in the middle is equivalent to the end of a stream over HTTP.
    if (code !== undefined && this.#hasStarted) this.#end()
    else this.#fail(code === undefined ? error : endedEarly())
  }

  /**
   * A reused connection may have been closed while it was idle. In that case, the same request is sent once
   * more over a new connection.
   */
  #askAgain(): boolean {
    const socket = this.#socket
    if (socket?.isUsed !== true) return false
    this.#dropSocket()
    this.#reader = this.#newReader()
    this.#open()
    return true
  }

  #goOverHttp(why: string): void {
    if (this.#done) return
    this.#release()
    this.#other = this.#parts.overHttp(why)
    if (this.#paused) this.#other.pause()
  }

  #newReader(): FrameReader {
    const { format, stream, frameBytesMax } = this.#parts
    return format.reader({ stream, bytesMax: frameBytesMax })
  }

  #waitFor(ms: number): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      // While the client is not reading, the upstream is not considered silent.
      if (this.#paused && this.#isAnswered) this.#silence.refresh()
      else
        this.abort(
          gatewayError(this.#isAnswered && this.#parts.stream ? 'upstream_stalled' : 'upstream_answer_late'),
        )
    }, ms)
  }

  /** An error in the listener must not end the process. */
  #safely(tell: () => void): void {
    try {
      tell()
    } catch (cause) {
      this.#fail(broken(cause))
    }
  }

  #end(): void {
    if (this.#done) return
    this.#release()
    try {
      this.#parts.listener.end()
    } catch (cause) {
      this.#parts.listener.fail(broken(cause), true)
    }
  }

  #fail(error: GatewayError): void {
    if (this.#done) return
    this.#release()
    this.#parts.listener.fail(error, this.#sent)
  }

  #dropSocket(): void {
    this.#socket?.terminate()
    this.#socket = undefined
  }

  #release(): void {
    this.#done = true
    clearTimeout(this.#total)
    clearTimeout(this.#silence)
    this.#opening?.abort()
    this.#opening = undefined
    this.#dropSocket()
    this.#ready = []
    this.#leave()
    this.#parts.onFinish()
  }
}

const nothing = Buffer.alloc(0)
