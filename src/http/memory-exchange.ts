import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { gatewayError } from '../canonical/error.ts'
import { type Body, copyLarge, type LargeBodies } from './body.ts'
import type { BodyShare } from './body-memory.ts'
import type { Exchange, ExchangeReply } from './exchange.ts'

/** A request made by this process itself, or one received in a WebSocket frame. */
export interface MemoryRequest {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  headers: IncomingHttpHeaders
  body: Buffer
  /** Counts the body; when absent, the reader counts it. */
  share?: BodyShare
  /** The client address that address rules check. */
  clientAddress: string
  origin?: string
  isEncrypted?: boolean
}

/** Receives the parts of the answer, in this order. It receives nothing more once its client has left. */
export interface ReplyListener {
  begin(status: number, headers: OutgoingHttpHeaders): void
  /** Returns false when `drained` must be called before more is sent. The chunk's memory is not reused. */
  write(chunk: Uint8Array): boolean
  /** `isWhole` is false when the answer was cut off, like by a closed connection. */
  end(isWhole: boolean): void
}

/** A request whose body and reply stay in this process. Cutting off a slow reader is up to the caller. */
export class MemoryExchange implements Exchange {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly clientAddress: string
  readonly origin: string
  readonly isEncrypted: boolean
  readonly connection = undefined
  readonly hasArrived = true
  readonly share: BodyShare | undefined
  readonly reply: MemoryReply
  readonly #body: Buffer
  /** From then on the reader releases the share: it may hold the body longer than its client waits. */
  #isRead = false

  constructor(request: MemoryRequest, listener: ReplyListener) {
    const { method, path, headers, body, share, clientAddress } = request
    this.method = method
    this.path = path
    this.headers = { ...headers, 'content-length': String(body.length) }
    this.clientAddress = clientAddress
    this.origin = request.origin ?? 'http://localhost'
    this.isEncrypted = request.isEncrypted ?? false
    this.share = share
    this.reply = new MemoryReply(listener)
    this.#body = body
    if (share !== undefined)
      this.reply.once('close', () => {
        if (!this.#isRead) share.release()
      })
  }

  async readBody(bytesMax: number, share: BodyShare, large?: LargeBodies): Promise<Body | undefined> {
    this.#isRead = true
    const body = this.#body
    if (body.length > bytesMax) throw gatewayError('body_too_large', { bytesMax })
    share.set(body.length)
    if (this.reply.destroyed) return undefined
    if (large === undefined || body.length < large.fromBytes) return { bytes: body, release() {} }
    return await copyLarge(body, large)
  }

  /** Called when the listener has processed everything it received. */
  drained(): void {
    this.reply.drained()
  }

  /** Called when the client has left. Does nothing after the end of the answer. */
  leave(): void {
    this.reply.leave()
  }
}

class MemoryReply extends EventEmitter<{ close: []; drain: [] }> implements ExchangeReply {
  readonly #listener: ReplyListener
  readonly socket = null
  destroyed = false
  headersSent = false
  writableFinished = false
  writableNeedDrain = false
  statusCode = 200
  /** Sends no more of the answer to the listener. */
  #isOver = false

  constructor(listener: ReplyListener) {
    super()
    this.#listener = listener
  }

  writeHead(status: number, headers: OutgoingHttpHeaders): void {
    if (this.headersSent) throw new Error('the answer has begun already')
    this.headersSent = true
    this.statusCode = status
    if (!this.#isOver) this.#listener.begin(status, headers)
  }

  write(chunk: string | Uint8Array, encoding?: BufferEncoding): boolean {
    if (this.#isOver) return true
    if (!this.headersSent) this.writeHead(this.statusCode, {})
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk
    const isTaken = this.#listener.write(bytes)
    if (!isTaken) this.writableNeedDrain = true
    return isTaken
  }

  end(last?: string | Uint8Array, encoding?: BufferEncoding): void {
    if (this.#isOver) return
    if (last !== undefined) this.write(last, encoding)
    else if (!this.headersSent) this.writeHead(this.statusCode, {})
    this.#isOver = true
    this.writableFinished = true
    this.#listener.end(true)
    process.nextTick(() => this.#close())
  }

  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.destroyed = true
    this.#listener.end(false)
    process.nextTick(() => this.#close())
  }

  /** The listener receives the head immediately. */
  flushHeaders(): void {}

  /** A reply in memory has no socket that could stall. */
  setTimeout(): void {}

  drained(): void {
    if (!this.writableNeedDrain) return
    this.writableNeedDrain = false
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
