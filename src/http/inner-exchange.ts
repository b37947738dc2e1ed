import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type BodyShare, bringShare, takeShare } from './body-memory.ts'
import { meetAs } from './client-address.ts'

/**
 * A request that came by another way than HTTP, such as a frame of a WebSocket, or a job. Its handlers see an
 * HTTP request.
 */
export interface InnerRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** As in the first line of HTTP, with its query. */
  path: string
  /** Names in lower case. */
  headers: Record<string, string>
  body: Buffer
  /** Counts the body. It is released with the request, or where nothing reads the body, with the response. */
  share?: BodyShare
  /** The address that rules for addresses see. */
  clientAddress: string
}

/** Receives the answer, in this order. It receives nothing more once its client has left. */
export interface InnerListener {
  start(status: number, headers: OutgoingHttpHeaders): void
  /** False: call `drained` when more may come. The chunk is not reused. */
  data(chunk: Uint8Array): boolean
  /** `isWhole` false: the answer was cut, as a closed connection cuts it. */
  end(isWhole: boolean): void
}

export interface InnerExchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The listener has taken all that it received. */
  drained(): void
  /** The client has left. Does nothing after the end of the answer. */
  leave(): void
}

/**
 * A request and its response in memory, for a handler of HTTP requests. Nothing is written as HTTP, and
 * nothing waits for a socket: who reads slowly is the caller's to cut.
 */
export function innerExchange(asked: InnerRequest, listener: InnerListener): InnerExchange {
  const socket = new NoSocket()
  meetAs(socket, asked.clientAddress)
  const request = requestOver(socket, asked)
  const response = new InnerResponse(request, listener)
  if (asked.share !== undefined) {
    bringShare(request, asked.share)
    response.once('close', () => takeShare(request)?.release())
  }
  return {
    request,
    response,
    drained: () => response.drained(),
    leave: () => response.leave(),
  }
}

function requestOver(socket: Duplex, { method, path, headers, body }: InnerRequest): IncomingMessage {
  // Of its socket, a request uses no more than a Duplex has.
  const request = new IncomingMessage(socket as Socket)
  request.method = method
  request.url = path
  request.httpVersion = '1.1'
  request.httpVersionMajor = 1
  request.httpVersionMinor = 1
  request.headers = { ...headers, 'content-length': String(body.length) }
  if (body.length > 0) request.push(body)
  request.push(null)
  request.complete = true
  return request
}

class NoSocket extends Duplex {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done()
  }
}

class InnerResponse extends ServerResponse {
  readonly #listener: InnerListener
  #isBlocked = false
  #isOver = false
  #isWhole = false

  constructor(request: IncomingMessage, listener: InnerListener) {
    super(request)
    this.#listener = listener
    // The types of Node declare these getters as properties, which no getter of a class may override.
    Object.defineProperty(this, 'writableNeedDrain', { get: () => this.#isBlocked })
    Object.defineProperty(this, 'writableFinished', { get: () => this.#isWhole })
  }

  override writeHead(status: number, ...rest: unknown[]): this {
    const given = rest.at(-1)
    const headers: OutgoingHttpHeaders = { ...this.getHeaders(), ...(isHeaders(given) ? given : {}) }
    super.writeHead(status, headers)
    if (!this.#isOver) this.#listener.start(status, headers)
    return this
  }

  override flushHeaders(): void {
    if (!this.headersSent) this.writeHead(this.statusCode)
  }

  override write(chunk: string | Uint8Array, encoding?: unknown): boolean {
    if (this.#isOver) return true
    this.flushHeaders()
    const isTaken = this.#listener.data(
      typeof chunk === 'string' ? Buffer.from(chunk, encodingOf(encoding)) : chunk,
    )
    if (!isTaken) this.#isBlocked = true
    return isTaken
  }

  override end(last?: unknown, encoding?: unknown): this {
    if (this.#isOver) return this
    if (typeof last === 'string' || last instanceof Uint8Array) this.write(last, encoding)
    else this.flushHeaders()
    // `writableEnded` reads it.
    this.finished = true
    this.#isOver = true
    this.#isWhole = true
    this.#listener.end(true)
    process.nextTick(() => {
      this.emit('finish')
      this.#close()
    })
    return this
  }

  override destroy(): this {
    if (this.#isOver) return this
    this.#isOver = true
    this.#listener.end(false)
    process.nextTick(() => this.#close())
    this.destroyed = true
    return this
  }

  /** Nothing waits here for a client that reads slowly. */
  override setTimeout(): this {
    return this
  }

  drained(): void {
    if (!this.#isBlocked) return
    this.#isBlocked = false
    if (!this.#isOver) this.emit('drain')
  }

  leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#close()
  }

  #close(): void {
    this.destroyed = true
    this.emit('close')
  }
}

function isHeaders(value: unknown): value is OutgoingHttpHeaders {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The encoding of a text that is written; Node also takes a callback in its place. */
function encodingOf(given: unknown): BufferEncoding {
  return typeof given === 'string' && Buffer.isEncoding(given) ? given : 'utf8'
}
