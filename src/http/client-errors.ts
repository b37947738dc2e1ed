import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../canonical/error.ts'
import type { Bounds } from '../config.ts'
import { peerAddressOf } from './client-address.ts'
import type { BegunRequest, Intake } from './intake.ts'

/** What client errors need of a process. */
interface Refuser {
  intake: Intake
  bounds: Pick<Bounds, 'headerBytesMax' | 'headerReadMs' | 'requestReadMs'>
  log: { error(fields: object, message: string): void }
}

/** Most headers of one request. Node's parser refuses more. */
export const headersMax = 1000

/** How long a client has to read the answer to `CONNECT` and to close its side of the connection. */
const lingerMs = 5_000

/** The code of Node's parser for a connection that ended in the middle of a request. */
const endedEarly = 'HPE_INVALID_EOF_STATE'

/**
 * Bytes that are no HTTP request, headers too large, or a request that did not arrive in time: a row, an answer, the
 * end of the connection. Where a call had begun, the row and the answer are that call's.
 */
export function refuseUnparsed(refuser: Refuser) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    // A connection that broke, or that never sent a byte, has asked for nothing.
    if (!isOfRequest(error.code) || !socket.writable || isSilent(socket)) {
      socket.destroy()
      return
    }
    if (error.code === endedEarly && unreadOn(refuser, socket)?.life.ended === false) {
      // The client ended its side in the middle of a request. The call finds its client gone, and writes its row.
      socket.destroy()
      return
    }
    refuseAndLog(refuser, socket, explain(error.code, socket, refuser), statusOf(error.code))
  }
}

/**
 * `CONNECT`: what would follow it is no HTTP. A row, an answer, the end of the connection. Node has let go of it: here it
 * is read on, and ended where its client does not end it. Node would not bring what is still being answered on it to its
 * end either: that connection ends at once, and the call before finds its client gone.
 */
export function refuseTunnel(refuser: Refuser) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    socket.on('error', () => {})
    socket.resume()
    const lingering = setTimeout(() => socket.destroy(), lingerMs).unref()
    socket.once('close', () => clearTimeout(lingering))
    if (refuser.intake.newestOn(socket) !== undefined) socket.destroy()
    refuseAndLog(
      refuser,
      socket,
      new GatewayError('invalid_request', 'This is no proxy: CONNECT is not served.'),
      400,
    )
  }
}

/** Any other code means that the connection broke, in TLS or below it. */
function isOfRequest(code: string | undefined): boolean {
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' || code?.startsWith('HPE_') === true
}

function isSilent(socket: Duplex): boolean {
  return (socket as Socket).bytesRead === 0
}

function refuseAndLog(
  refuser: Refuser,
  socket: Duplex,
  refusal: GatewayError,
  status: number | undefined,
): void {
  refuseOn(refuser, socket, refusal, status).catch((cause: unknown) => {
    refuser.log.error({ cause: String(cause) }, 'a refused connection has no row')
    socket.destroy()
  })
}

async function refuseOn(
  refuser: Refuser,
  socket: Duplex,
  refusal: GatewayError,
  status: number | undefined,
): Promise<void> {
  const { intake } = refuser
  const newest = intake.newestOn(socket)
  const unread = unreadOn(refuser, socket)
  if (unread?.life.ended === true) {
    // It was answered before it had come whole, or is about to be, and has its row.
    endBehind(unread.response, socket, '')
    return
  }
  const client = { address: peerAddressOf(socket) || null, begun: unread }
  const bytes = answerBytes(await intake.refuseUnread(refusal, client, status))
  const response = newest?.response
  if (response === undefined) socket.end(bytes)
  else if (unread === undefined) endBehind(response, socket, bytes)
  else if (response.socket !== null && !response.headersSent) socket.end(bytes)
  // In the middle of an answer these bytes would be read as part of it.
  else socket.destroy()
}

/** A request before this one is still being answered: its client gets that answer whole. */
function endBehind(response: ServerResponse, socket: Duplex, bytes: string): void {
  if (response.writableFinished || response.destroyed) {
    socket.destroy()
    return
  }
  // Bytes that come now belong to no request.
  socket.pause()
  response.once('close', () => {
    if (socket.writable) socket.end(bytes)
    else socket.destroy()
  })
}

/** The request that has begun and has not come whole. */
function unreadOn({ intake }: Refuser, socket: Duplex): BegunRequest | undefined {
  const newest = intake.newestOn(socket)
  return newest?.request.complete === false ? newest : undefined
}

function answerBytes(rendered: Awaited<ReturnType<Intake['refuseUnread']>>): string {
  const { status } = rendered
  const body = JSON.stringify(rendered.body)
  const headers = {
    ...rendered.headers,
    connection: 'close',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`
}

function explain(code: string | undefined, socket: Duplex, refuser: Refuser): GatewayError {
  const { bounds } = refuser
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new GatewayError(
      'request_too_large',
      `The request's headers are larger than ${bounds.headerBytesMax} bytes, or more than ${headersMax}.`,
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError(
      'invalid_request',
      unreadOn(refuser, socket) === undefined
        ? `The headers of the request did not arrive within ${Math.min(bounds.headerReadMs, bounds.requestReadMs)} ms.`
        : `The request did not arrive within ${bounds.requestReadMs} ms.`,
    )
  }
  return new GatewayError('invalid_request', 'These bytes are not an HTTP/1.1 request.')
}

function statusOf(code: string | undefined): number | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : undefined
}
