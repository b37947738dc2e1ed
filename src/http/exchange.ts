import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Body, LargeBodies } from './body.ts'
import type { BodyShare } from './body-memory.ts'

/**
 * One request and its reply, wherever it comes from: HTTP, a frame of a WebSocket, a job, a probe or the
 * playground. The pipeline knows no more than this about its caller.
 */
export interface Exchange {
  readonly method: string
  /** With its query, as in the first line of an HTTP request. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** Empty: unknown, because the connection ended before we read its address. */
  readonly clientAddress: string
  /** Scheme and host that the client called, without a slash at the end. */
  readonly origin: string
  readonly isEncrypted: boolean
  /** The connection that carries it and may carry others; undefined: it has none. */
  readonly connection: Duplex | undefined
  /** Whether the whole request has arrived. */
  readonly hasArrived: boolean
  /** Counts the body, which is in memory before the request begins. The reader releases it. */
  readonly share: BodyShare | undefined
  readonly reply: ExchangeReply
  /**
   * The body, decoded. Resolves with undefined when the client left before its end. Rejects `body_too_large`
   * for more than `bytesMax` bytes, encoded or decoded; `content_encoding_unknown` or
   * `content_encoding_damaged`; and as `share` does. Without `large`, no body is large.
   */
  readBody(bytesMax: number, share: BodyShare, large?: LargeBodies): Promise<Body | undefined>
}

/**
 * Sends the answer. Named as Node's `ServerResponse`, which is the reply over HTTP, so that the path of most
 * answers has no layer between the pipeline and Node.
 */
export interface ExchangeReply {
  /** Closed: the answer has gone out, or its client has left. */
  readonly destroyed: boolean
  readonly headersSent: boolean
  /** The whole answer has gone out. */
  readonly writableFinished: boolean
  readonly writableNeedDrain: boolean
  readonly statusCode: number
  /** Bytes that wait for the client; null: the reply has no socket, or none any more. */
  readonly socket: { readonly writableLength: number } | null
  writeHead(status: number, headers: OutgoingHttpHeaders): unknown
  /** Send the head now. */
  flushHeaders(): unknown
  /** False: wait for `drain`. */
  write(chunk: string | Uint8Array): boolean
  end(): unknown
  end(last: Uint8Array | undefined): unknown
  end(last: string, encoding: BufferEncoding): unknown
  /** Cut the answer. */
  destroy(): unknown
  setTimeout(ms: number, onStall: () => void): unknown
  listenerCount(event: string): number
  once(event: 'close' | 'drain', listener: () => void): unknown
  off(event: 'close' | 'drain', listener: () => void): unknown
}

/** Answers an exchange. Never rejects. */
export type Handler = (exchange: Exchange) => Promise<void>
