import type { Socket } from 'node:net'
import type { Dispatcher } from 'undici'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { headerText } from '../canonical/headers.ts'
import { contentTypes } from '../http/answer-kind.ts'
import { encodingOf } from '../http/encoding.ts'
import { broken, explain } from './call-errors.ts'
import { type Sender, sendsNext, sendsNow } from './connectors.ts'
import { AnswerDecoder } from './decode-answer.ts'
import type { Deframer } from './framings.ts'
import { type BodyParts, PacedBody } from './paced-body.ts'

/**
 * Receives one upstream call: `start` once, then `data` any number of times, then either `end` or `fail`
 * once.
 */
export interface Listener {
  /** Called right before the request is sent. If it returns false, nothing is sent and `fail` is called. */
  isWanted?(): boolean
  start(call: UpstreamCall, status: number, headers: ResponseHeaders): void
  data(call: UpstreamCall, chunk: Buffer): void
  end(): void
  /** `sent` means that the request may have reached the upstream. */
  fail(error: GatewayError, sent: boolean): void
}

export type ResponseHeaders = Record<string, string | string[] | undefined>

/** Creates what turns an answer's frames into server-sent events; undefined if its bytes pass unchanged. */
export type DeframerOf = (contentType: string | undefined) => Deframer | undefined

/** A handle for a running call. */
export interface UpstreamCall {
  /** Whether the response is decoded here, so that its size differs from what the upstream sent. */
  readonly decodes?: boolean
  /** Whether the whole request has been sent, so that its memory can be reused. */
  readonly hasRequest?: boolean
  /** Whether the upstream may have received any of the request. */
  readonly isSent?: boolean
  pause(): void
  resume(): void
  abort(reason: GatewayError): void
}

/**
 * undici's handler for one call. It uses no promises or streams, which would cost more than the call itself.
 */
export class CallHandler implements Dispatcher.DispatchHandler, UpstreamCall, Sender {
  readonly #listener: Listener
  readonly #timer: NodeJS.Timeout
  readonly #onFinish: () => void
  readonly #deframerOf: DeframerOf
  #controller: Dispatcher.DispatchController | undefined
  #socket: Socket | undefined
  #decoder: AnswerDecoder | undefined
  #deframer: Deframer | undefined
  #aborted: GatewayError | undefined
  /** Created when a signer first needs it. */
  #ending: AbortController | undefined
  #sent = false
  /** Whether parts of the body have not been written yet. */
  #hasParts = false
  #done = false

  /** Whether a proxy reads the request, and may respond to it itself. */
  isProxied = false

  /** `onFinish` is called once, before the listener is notified of the end. */
  constructor(listener: Listener, totalMs: number, onFinish: () => void, deframerOf: DeframerOf) {
    this.#listener = listener
    this.#onFinish = onFinish
    this.#deframerOf = deframerOf
    this.#timer = setTimeout(() => this.abort(gatewayError('upstream_too_slow', { totalMs })), totalMs)
  }

  get decodes(): boolean {
    return this.#decoder !== undefined
  }

  get hasRequest(): boolean {
    return !this.#hasParts && this.#socket?.writableLength === 0
  }

  get isSent(): boolean {
    return this.#sent
  }

  /** Aborted when the call has ended. */
  get signal(): AbortSignal {
    this.#ending ??= new AbortController()
    if (this.#done) this.#ending.abort()
    return this.#ending.signal
  }

  /** Returns a body that is sent in parts. The request is not complete until the last part. */
  paced(parts: BodyParts): PacedBody {
    this.#hasParts = true
    return new PacedBody(parts, {
      first: (write) => sendsNow(this, write),
      whole: () => {
        this.#hasParts = false
      },
    })
  }

  // After the call has ended, another call may use its connection.
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
      // The call is still waiting to be signed or for a connection. onRequestStart ends it once it gets one.
      queueMicrotask(() => this.#fail(reason))
      return
    }
    this.#controller.abort(reason)
    // After the end of the response undici reports nothing more, but the decoder may still hold bytes.
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
      this.abort(gatewayError('upstream_proxy_failed', { how: 'responded with status 407' }))
      return
    }
    const encoding = encodingOf(headers['content-encoding'])
    if (encoding === 'unknown') {
      this.abort(gatewayError('upstream_http_invalid', { how: 'used an encoding that was not requested' }))
      return
    }
    if (encoding === 'identity') {
      this.#start(status, headers)
      return
    }
    this.#decoder = new AnswerDecoder(encoding, {
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      data: (chunk) => this.#pass(chunk),
      end: () => this.#end(),
      fail: (error) => this.abort(error),
    })
    const { 'content-encoding': _, 'content-length': __, ...rest } = headers
    this.#start(status, rest)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici passes an empty chunk on each resume, so a listener that pauses on each chunk would never
    // finish.
    if (chunk.length === 0) return
    if (this.#decoder === undefined) this.#pass(chunk)
    else this.#decoder.push(chunk)
  }

  onResponseEnd(): void {
    // The upstream responded before it had read the request. Close the connection, because the next request
    // would have to wait for the rest of this one.
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

  #start(status: number, headers: ResponseHeaders): void {
    this.#deframer = this.#deframerOf(headerText(headers['content-type']))
    if (this.#deframer === undefined) {
      this.#listener.start(this, status, headers)
      return
    }
    const { 'content-length': _, ...rest } = headers
    this.#listener.start(this, status, { ...rest, 'content-type': contentTypes.events })
  }

  #pass(chunk: Buffer): void {
    if (this.#deframer === undefined) {
      this.#listener.data(this, chunk)
      return
    }
    let events: Buffer
    try {
      events = this.#deframer.push(chunk)
    } catch (cause) {
      this.abort(explain(cause))
      return
    }
    if (events.length > 0) this.#listener.data(this, events)
  }

  #end(): void {
    if (this.#done) return
    try {
      this.#deframer?.end()
    } catch (cause) {
      this.#fail(explain(cause))
      return
    }
    this.#finish()
    try {
      this.#listener.end()
    } catch (error) {
      // undici reports nothing more, so without this the client would never get a response.
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
    this.#ending?.abort()
    this.#onFinish()
  }
}
