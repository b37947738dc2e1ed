import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type ClientOptions, WebSocket } from 'ws'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { headerText } from '../canonical/headers.ts'
import { tooLong } from './answer-errors.ts'
import { broken, explain } from './call-errors.ts'
import { answerHeadBytesMax, type OriginConnections } from './origin-connections.ts'
import { byName, replaceHeaders } from './request-headers.ts'
import type { Signer } from './signer.ts'

/** The call that uses a connection. */
export interface SocketUser {
  frame(bytes: Buffer): void
  /** Called when the connection is closed. `code` is the upstream's close code if it sent a close frame. */
  closed(error: GatewayError, code: number | undefined): void
}

/**
 * Receives the result of opening a connection. Exactly one of these is called, once; none is called after
 * `abort`.
 */
export interface OpeningListener {
  opened(socket: UpstreamSocket): void
  /** Called if the upstream responded over HTTP. The listener reads the body. */
  refused(answer: IncomingMessage): void
  failed(error: GatewayError): void
}

export interface Opening {
  abort(): void
}

export interface OpeningOptions {
  connect: OriginConnections['connect']
  /** With the scheme `http` or `https`. */
  url: string
  /** Alternating names and values, unsigned. */
  headers: readonly string[]
  sign(call: { readonly signal: AbortSignal }): ReturnType<Signer>
  frameBytesMax: number
}

/** How long to wait for the upstream's close frame. */
const goodbyeMs = 2_000

/** Opens a WebSocket with the same address checks, proxy and certificates as calls over HTTP. */
export function openSocket(options: OpeningOptions, listener: OpeningListener): Opening {
  const ending = new AbortController()
  const { signal } = ending
  let opening: Opening | undefined
  const open = async () => {
    const signed = await options.sign({ signal })
    if (signal.aborted) return
    const headers = [...options.headers]
    replaceHeaders(headers, signed)
    opening = openWith(byName(headers), options, listener)
  }
  open().catch((error: unknown) => {
    if (!signal.aborted) listener.failed(explain(error))
  })
  return {
    abort() {
      ending.abort()
      opening?.abort()
    },
  }
}

function openWith(
  headers: Record<string, string>,
  { connect, url: text, frameBytesMax }: OpeningOptions,
  listener: OpeningListener,
): Opening {
  const url = new URL(text)
  const options: ClientOptions & { maxHeaderSize: number; closeTimeout: number } = {
    headers,
    perMessageDeflate: false,
    followRedirects: false,
    maxPayload: frameBytesMax,
    maxHeaderSize: answerHeadBytesMax,
    closeTimeout: goodbyeMs,
    createConnection: connectBy(connect, url),
  }
  const socket = new WebSocket(url, options)
  let isOver = false
  let requestId: string | undefined
  let answer: IncomingMessage | undefined
  const settle = (tell: () => void) => {
    if (isOver) return
    isOver = true
    tell()
  }
  socket.once('upgrade', (upgraded) => {
    requestId = idIn(upgraded.headers)
  })
  socket.once('open', () =>
    settle(() => listener.opened(new UpstreamSocket(socket, { requestId, frameBytesMax }))),
  )
  socket.once('unexpected-response', (_request, refusal) => {
    answer = refusal
    settle(() => listener.refused(refusal))
  })
  socket.on('error', (error) => settle(() => listener.failed(explain(error))))
  return {
    abort() {
      isOver = true
      answer?.destroy()
      socket.terminate()
    },
  }
}

type CreateConnection = NonNullable<ClientOptions['createConnection']>

/**
 * Node's client accepts a connection that is passed to a callback later, but the type used by `ws` does not
 * allow for that.
 */
function connectBy(
  connect: OriginConnections['connect'],
  { protocol, hostname, host, port }: URL,
): CreateConnection {
  const isSecure = protocol === 'https:'
  const to = {
    protocol,
    hostname: hostname.replace(/^\[|\]$/g, ''),
    host,
    port: port === '' ? (isSecure ? '443' : '80') : port,
  }
  const create = (_options: unknown, done: (error: Error | null, socket?: unknown) => void): undefined => {
    connect(to, (error, socket) => (error === null ? done(null, socket) : done(error)))
    return undefined
  }
  return create as unknown as CreateConnection
}

function idIn(headers: IncomingHttpHeaders): string | undefined {
  return headerText(headers['x-request-id'])
}

/** An open WebSocket to an upstream. It serves one call at a time. */
export class UpstreamSocket {
  readonly #socket: WebSocket
  readonly bornAt = performance.now()
  /** The upstream's request id of the upgrade. */
  readonly requestId: string | undefined
  /** The upstream's id of its newest response on this connection. */
  answerId: string | undefined
  /** Whether the connection has already served a response. */
  isUsed = false
  #user: SocketUser | undefined
  #onClosed = () => {}
  #hasParts = false

  constructor(
    socket: WebSocket,
    { requestId, frameBytesMax }: { requestId: string | undefined; frameBytesMax: number },
  ) {
    this.#socket = socket
    this.requestId = requestId
    socket.on('message', (data, isBinary) => this.#take(data as Buffer, isBinary))
    socket.on('error', (error) => this.#lose(faultOf(error, frameBytesMax)))
    socket.once('close', (code) => this.#closed(code))
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** Whether all data has been handed to the operating system. */
  get isSent(): boolean {
    return !this.#hasParts && this.#socket.bufferedAmount === 0
  }

  use(user: SocketUser | undefined): void {
    this.#user = user
  }

  /** `onClosed` is called once, however the connection ends. */
  whenClosed(onClosed: () => void): void {
    this.#onClosed = onClosed
  }

  /** Sends a text. With `pace`, a long text is sent in paced parts. */
  send(text: Buffer, pace?: (bytes: number) => Promise<void> | undefined): void {
    if (pace === undefined || text.length <= partBytes) this.#socket.send(text, { binary: false })
    else void this.#sendParts(text, pace)
  }

  pause(): void {
    this.#socket.pause()
  }

  resume(): void {
    this.#socket.resume()
  }

  /** Closes the connection with a close frame. */
  close(): void {
    this.#user = undefined
    this.#socket.close(1000)
  }

  /** Ends the connection immediately, because no frame can cancel a request. */
  terminate(): void {
    this.#user = undefined
    this.#socket.terminate()
  }

  /** Drops the connection because the process is shutting down. */
  lose(): void {
    // We dropped it ourselves, so the call must not look for another connection.
    this.#lose(gatewayError('upstream_dropped_at_exit'))
  }

  async #sendParts(text: Buffer, pace: (bytes: number) => Promise<void> | undefined): Promise<void> {
    this.#hasParts = true
    for (let at = 0; at < text.length; at += partBytes) {
      const part = text.subarray(at, at + partBytes)
      if (at > 0) await pace(part.length)
      if (!this.isOpen) return
      const fin = at + partBytes >= text.length
      await new Promise((sent) => this.#socket.send(part, { binary: false, fin }, sent))
    }
    this.#hasParts = false
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (isBinary) this.#lose(gatewayError('upstream_frame_invalid', { what: 'a binary frame' }))
    // A message outside a call is useless. Upstreams use it to announce that the connection is too old.
    else if (this.#user === undefined) this.terminate()
    else this.#user.frame(data)
  }

  #lose(error: GatewayError): void {
    const user = this.#user
    this.terminate()
    user?.closed(error, undefined)
  }

  #closed(code: number): void {
    this.#onClosed()
    const user = this.#user
    this.#user = undefined
    user?.closed(broken(undefined), code === abnormal ? undefined : code)
  }
}

/** The same size as in a paced body. */
const partBytes = 256 * 1024
/**
 * The code of a connection that ended without a close frame.
 * https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1
 */
const abnormal = 1006

function faultOf(error: Error & { code?: string }, frameBytesMax: number): GatewayError {
  if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return tooLong(frameBytesMax)
  if (error.code?.startsWith('WS_ERR_') === true) {
    return gatewayError('upstream_frame_invalid', { what: 'an invalid WebSocket frame' }, { cause: error })
  }
  return broken(error)
}
