import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { encodingOf } from '../http/encoding.ts'
import { broken, explain } from './call-errors.ts'
import { type Sender, sendsNext, sendsNow } from './connection.ts'
import { AnswerDecoder } from './decode-answer.ts'
import { type BodyParts, PacedBody } from './paced-body.ts'

/**
 * Receives one upstream call: `start` once, then `data` any number of times, then exactly one of `end` and
 * `fail`.
 */
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

/**
 * undici's handler for one call. It uses no promises or streams: they would cost more than the call itself.
 */
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

  /** `onFinish`: called once, before the listener learns of the end. */
  constructor(listener: Listener, totalMs: number, onFinish: () => void) {
    this.#listener = listener
    this.#onFinish = onFinish
    this.#timer = setTimeout(() => this.abort(gatewayError('upstream_too_slow', { totalMs })), totalMs)
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
    if (this.#aborted === undefined && this.#listener.isWanted?.() === false)
      this.#aborted = gatewayError('upstream_call_abandoned')
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
      this.abort(gatewayError('upstream_proxy_failed', { how: 'answered with status 407' }))
      return
    }
    const encoding = encodingOf(headers['content-encoding'])
    if (encoding === 'unknown') {
      this.abort(
        gatewayError('upstream_http_invalid', { how: 'answered in an encoding that was not asked for' }),
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
    // The upstream answered before it had read the request: the next request would wait behind the rest of
    // this one.
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
