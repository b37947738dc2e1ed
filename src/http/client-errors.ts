import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { Bounds } from '../config/config.ts'
import type { Log } from '../telemetry/log.ts'
import { peerAddressOf } from './client-address.ts'
import type { ExchangeReply } from './exchange.ts'
import type { BegunRequest, Intake } from './intake.ts'

/** The parts of a process that client errors need. */
interface Refuser {
  intake: Intake
  bounds: Pick<Bounds, 'headerBytesMax' | 'headerReadMs' | 'requestReadMs'>
  log: Log
}

/** The most headers of one request. Node's parser refuses more. */
export const headersMax = 1000

/** The time for a client to read the answer to `CONNECT` and to close its side of the connection. */
const lingerMs = 5_000

/** Node's error code for a connection that ended in the middle of a request. */
const endedEarly = 'HPE_INVALID_EOF_STATE'

/**
 * For a server's `clientError` event: bytes that are not an HTTP request, headers that are too large, or a
 * request that did not arrive in time. Writes a row, sends an answer and closes the connection. If a request
 * had begun, the row and the answer are those of that request.
 */
export function refuseUnparsed(refuser: Refuser) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    // The connection broke or never sent a byte, so there is no request.
    if (!isOfRequest(error.code) || !socket.writable || isSilent(socket)) {
      socket.destroy()
      return
    }
    if (error.code === endedEarly && unreadRequestOn(refuser, socket)?.life.ended === false) {
      // The client closed its side in the middle of a request, whose handler notices the closed connection
      // and writes the row.
      socket.destroy()
      return
    }
    refuseAndLog(refuser, socket, explain(error.code, socket, refuser), statusOf(error.code))
  }
}

/**
 * For a server's `connect` event: bytes after a `CONNECT` request are not HTTP. Writes a row, sends an answer
 * and closes the connection. Node no longer handles the socket, so it is read here, and destroyed when the
 * client does not close its side. Node cannot finish the answer to an earlier request on it either; in that
 * case the connection closes immediately, and the earlier request ends like one whose client left.
 */
export function refuseTunnel(refuser: Refuser) {
  return (_request: IncomingMessage, socket: Duplex): void => {
    socket.on('error', () => {})
    socket.resume()
    const lingering = setTimeout(() => socket.destroy(), lingerMs).unref()
    socket.once('close', () => clearTimeout(lingering))
    if (refuser.intake.newestOn(socket) !== undefined) socket.destroy()
    refuseAndLog(refuser, socket, gatewayError('not_a_proxy'), 400)
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
  refuseSocket(refuser, socket, refusal, status).catch((cause: unknown) => {
    refuser.log.error({ cause: String(cause) }, 'could not write the row of a refused connection')
    socket.destroy()
  })
}

async function refuseSocket(
  refuser: Refuser,
  socket: Duplex,
  refusal: GatewayError,
  status: number | undefined,
): Promise<void> {
  const { intake } = refuser
  const newest = intake.newestOn(socket)
  const unread = unreadRequestOn(refuser, socket)
  if (unread?.life.ended === true) {
    // The request has its row: its answer was or will be sent before its whole body had arrived.
    answerAfter(unread.exchange.reply, socket, '')
    return
  }
  const client = { address: peerAddressOf(socket) || null, begun: unread }
  const bytes = answerBytes(await intake.refuseUnread(refusal, client, status))
  const reply = newest?.exchange.reply
  if (reply === undefined) socket.end(bytes)
  else if (unread === undefined) answerAfter(reply, socket, bytes)
  else if (reply.socket !== null && !reply.headersSent) socket.end(bytes)
  // In the middle of an answer, the client would read these bytes as a part of it.
  else socket.destroy()
}

/**
 * Sends `bytes` after the answer that is still being sent, so that the client receives that answer
 * completely.
 */
function answerAfter(reply: ExchangeReply, socket: Duplex, bytes: string): void {
  if (reply.writableFinished || reply.destroyed) {
    socket.destroy()
    return
  }
  // No request follows, so further bytes are left unread.
  socket.pause()
  reply.once('close', () => {
    if (socket.writable) socket.end(bytes)
    else socket.destroy()
  })
}

/** Returns the request on this connection whose body has not been received completely. */
function unreadRequestOn({ intake }: Refuser, socket: Duplex): BegunRequest | undefined {
  const newest = intake.newestOn(socket)
  return newest?.exchange.hasArrived === false ? newest : undefined
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
    return gatewayError('headers_too_large', { bytesMax: bounds.headerBytesMax, headersMax })
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return unreadRequestOn(refuser, socket) === undefined
      ? gatewayError('headers_late', { withinMs: Math.min(bounds.headerReadMs, bounds.requestReadMs) })
      : gatewayError('request_late', { withinMs: bounds.requestReadMs })
  }
  return gatewayError('not_http')
}

function statusOf(code: string | undefined): number | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : undefined
}
