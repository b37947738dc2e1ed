import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { GatewayError } from '../canonical/error.ts'
import { encodingOf } from '../http/encoding.ts'
import { type Sender, sendsNext, sendsNow } from './connection.ts'
import { AnswerDecoder } from './decode-answer.ts'
import { type BodyParts, PacedBody } from './paced-body.ts'
import { refused } from './tunnel.ts'

/** Receives one upstream call: `start` once, then `data` any number of times, then exactly one of `end` and `fail`. */
export interface Listener {
  /** Asked right before the request goes out. False: nothing is sent, and `fail` says so. */
  isWanted?(): boolean
  start(call: UpstreamCall, status: number, headers: ResponseHeaders): void
  data(call: UpstreamCall, chunk: Buffer): void
  end(): void
  /** `sent`: the request may have reached the upstream. */
  fail(error: GatewayError, sent: boolean): void
}

export type ResponseHeaders = Record<string, string | string[] | undefined>

/** Handle on a running call. */
export interface UpstreamCall {
  /** True: we decode the answer, so its size is not the size that the upstream sent. */
  readonly decodes?: boolean
  /** True once the whole request is sent: its memory may be used again. */
  readonly hasRequest?: boolean
  pause(): void
  resume(): void
  abort(reason: GatewayError): void
}

/** undici's handler for one call. It uses no promises or streams: they would cost more than the call itself. */
export class CallHandler implements Dispatcher.DispatchHandler, UpstreamCall, Sender {
  readonly #listener: Listener
  readonly #timer: NodeJS.Timeout
  readonly #onFinish: () => void
  #controller: Dispatcher.DispatchController | undefined
  #socket: Socket | undefined
  #decoder: AnswerDecoder | undefined
  #aborted: GatewayError | undefined
  #sent = false
  /** Parts of the body have not been written yet. */
  #hasParts = false
  #done = false

  /** A proxy reads the request, and may answer it itself. */
  isProxied = false

  /** `onFinish`: called once, before the listener hears of the end. */
  constructor(listener: Listener, totalMs: number, onFinish: () => void) {
    this.#listener = listener
    this.#onFinish = onFinish
    this.#timer = setTimeout(() => this.abort(tookTooLong(totalMs)), totalMs)
  }

  get decodes(): boolean {
    return this.#decoder !== undefined
  }

  get hasRequest(): boolean {
    return !this.#hasParts && this.#socket?.writableLength === 0
  }

  /** A body that goes out in parts: the request is not whole before the last one. */
  paced(parts: BodyParts): PacedBody {
    this.#hasParts = true
    return new PacedBody(parts, {
      first: (write) => sendsNow(this, write),
      whole: () => {
        this.#hasParts = false
      },
    })
  }

  // When the call is over, another call may use its connection.
  pause(): void {
    if (this.#done) return
    if (this.#decoder === undefined) this.#controller?.pause()
    else this.#decoder.pause()
  }

  resume(): void {
    if (this.#done) return
    if (this.#decoder === undefined) this.#controller?.resume()
    else this.#decoder.resume()
  }

  abort(reason: GatewayError): void {
    if (this.#done || this.#aborted !== undefined) return
    this.#aborted = reason
    if (this.#controller === undefined) {
      // The call still waits for a connection. onRequestStart ends it when it gets one.
      queueMicrotask(() => this.#fail(reason))
      return
    }
    this.#controller.abort(reason)
    // After the end of the answer undici reports nothing more, while the decoder may still hold bytes.
    this.#fail(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted === undefined && this.#listener.isWanted?.() === false) this.#aborted = notWanted()
    if (this.#aborted !== undefined) {
      controller.abort(this.#aborted)
      return
    }
    this.#sent = true
    if (!this.#hasParts) sendsNext(this)
  }

  onConnection(socket: Socket): void {
    this.#socket = socket
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: ResponseHeaders): void {
    if (status < 200) return
    if (status === 407 && this.isProxied) {
      this.abort(refused('answered with status 407'))
      return
    }
    const encoding = encodingOf(headers['content-encoding'])
    if (encoding === 'unknown') {
      this.abort(
        new GatewayError('upstream_error', 'The upstream answered in an encoding it was not asked for.'),
      )
      return
    }
    if (encoding === 'identity') {
      this.#listener.start(this, status, headers)
      return
    }
    this.#decoder = new AnswerDecoder(encoding, {
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      data: (chunk) => this.#listener.data(this, chunk),
      end: () => this.#end(),
      fail: (error) => this.abort(error),
    })
    const { 'content-encoding': _, 'content-length': __, ...rest } = headers
    this.#listener.start(this, status, rest)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici gives an empty chunk at each resume: a listener that pauses at each chunk would never finish.
    if (chunk.length === 0) return
    if (this.#decoder === undefined) this.#listener.data(this, chunk)
    else this.#decoder.push(chunk)
  }

  onResponseEnd(): void {
    // The upstream answered before it had read the request: the next request would wait behind the rest of this one.
    if (!this.hasRequest) this.#socket?.destroy()
    if (this.#decoder === undefined) this.#end()
    else this.#decoder.end()
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (this.#done) return
    if (this.#decoder === undefined || this.#aborted !== undefined)
      this.#fail(this.#aborted ?? explain(error))
    else this.#decoder.breakOff(explain(error))
  }

  #end(): void {
    if (this.#done) return
    this.#finish()
    try {
      this.#listener.end()
    } catch (error) {
      // undici reports nothing more: without this the client would never get an answer.
      this.#listener.fail(broken(error), true)
    }
  }

  #fail(error: GatewayError): void {
    if (this.#done) return
    this.#finish()
    this.#listener.fail(error, this.#sent)
  }

  #finish(): void {
    this.#done = true
    this.#decoder?.close()
    clearTimeout(this.#timer)
    this.#onFinish()
  }
}

function tookTooLong(totalMs: number): GatewayError {
  return new GatewayError('upstream_timeout', `The upstream took longer than ${totalMs} ms in all.`)
}

function notWanted(): GatewayError {
  return new GatewayError('upstream_error', 'The client went away before anything was sent.', {
    fault: 'client',
  })
}

/** The error of a failed connection, for the client. The cause may name hosts and goes only to our log. */
function explain(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  const code = codeOf(cause)
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new GatewayError('upstream_timeout', 'The upstream could not be reached in time.', { cause })
    case 'UND_ERR_HEADERS_TIMEOUT':
      return new GatewayError('upstream_timeout', 'The upstream did not begin to answer in time.', { cause })
    case 'UND_ERR_BODY_TIMEOUT':
      return new GatewayError('upstream_timeout', 'The upstream stopped in the middle of its answer.', {
        cause,
      })
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return new GatewayError('upstream_error', 'The upstream could not be reached.', { cause })
    case 'UND_ERR_HEADERS_OVERFLOW':
      return new GatewayError('upstream_error', "The headers of the upstream's answer are too large.", {
        cause,
      })
    case 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH':
      return new GatewayError('upstream_error', "The upstream's answer is not as long as it declared.", {
        cause,
      })
    case 'HTTPParserError':
      return new GatewayError('upstream_error', 'The upstream answered with what is no HTTP/1.1.', { cause })
  }
  return broken(cause)
}

/** The code of an error, or its name when it has no code. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return 'code' in error && error.code !== undefined ? String(error.code) : error.name
}

function broken(cause: unknown): GatewayError {
  return new GatewayError('upstream_error', 'The connection to the upstream broke.', { cause })
}
