import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Body, LargeBodies } from './body.ts'
import type { BodyShare } from './body-memory.ts'

/**
 * One request and its reply, from any source: HTTP, a WebSocket frame, a job, a probe or the playground. The
 * pipeline knows nothing else about its caller.
 */
export interface Exchange {
  readonly method: string
  /** Includes the query, as in the first line of an HTTP request. */
  readonly path: string
  /** Names are in lower case. */
  readonly headers: IncomingHttpHeaders
  /** Empty when the connection ended before its address was read. */
  readonly clientAddress: string
  /** The scheme and host that the client called, without a trailing slash. */
  readonly origin: string
  readonly isEncrypted: boolean
  /** The connection that carries it and may carry other requests; undefined when there is none. */
  readonly connection: Duplex | undefined
  /** Whether the whole request has arrived. */
  readonly hasArrived: boolean
  /** Counts a body that is in memory before the request begins. The reader releases it. */
  readonly share: BodyShare | undefined
  readonly reply: ExchangeReply
  /**
   * Returns the decoded body. Resolves with undefined when the client leaves before its end. Rejects with
   * `body_too_large` for more than `bytesMax` bytes, encoded or decoded, with `content_encoding_unknown` or
   * `content_encoding_damaged`, and with the errors of `share`. Without `large`, no body is large.
   */
  readBody(bytesMax: number, share: BodyShare, large?: LargeBodies): Promise<Body | undefined>
}

/**
 * Sends the answer. Its members are named after those of Node's `ServerResponse`, which is the reply over
 * HTTP, so that most answers have no layer between the pipeline and Node.
 */
export interface ExchangeReply {
  /** Closed: the answer has been sent, or its client has left. */
  readonly destroyed: boolean
  readonly headersSent: boolean
  /** The whole answer has been sent. */
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  readonly statusCode: number
  /** The number of bytes queued for the client; null when the reply has no socket, or no longer has one. */
  readonly socket: { readonly writableLength: number } | null
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  /** Sends the head immediately. */
  flushHeaders(): unknown
  /** Returns false when the caller must wait for `drain`. */
  write(chunk: string | Uint8Array): boolean
  end(): unknown
  end(last: Uint8Array | undefined): unknown
  end(last: string, encoding: BufferEncoding): unknown
  /** Cuts off the answer. */
  destroy(): unknown
  setTimeout(ms: number, onStall: () => void): unknown
  listenerCount(event: string): number
  once(event: 'close' | 'drain', listener: () => void): unknown
  off(event: 'close' | 'drain', listener: () => void): unknown
}

/** Answers an exchange. Never rejects. */
export type Handler = (exchange: Exchange) => Promise<void>
