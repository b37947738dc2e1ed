import { randomUUIDv7 } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../canonical/error.ts'
import type { OpenRecord } from '../ledger/record.ts'
import { clientSide } from '../protocols/index.ts'
import type { RenderedError } from '../protocols/protocol.ts'
import { type Call, closeRecordOf, refusalOf } from './call.ts'
import type { Gateway } from './gateway.ts'
import { newestCallOn, settle } from './settle.ts'

/** Of Node's parser: the connection's end, where more of a request had to come. */
const endedEarly = 'HPE_INVALID_EOF_STATE'

/**
 * Bytes that are no HTTP request, headers too large, or a request that did not arrive in time: a row, an answer, the
 * end of the connection. Where a call had begun, the row and the answer are that call's.
 */
export function refuseUnparsed(gateway: Gateway) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    // A connection that broke between requests asked for nothing.
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    if (error.code === endedEarly && unreadOn(socket)?.settled === false) {
      // The client ended its side in the middle of a request. The call finds its client gone, and writes its row.
      socket.destroy()
      return
    }
    refuseOn(gateway, socket, explain(error.code, gateway), statusOf(error.code)).catch((cause: unknown) => {
      gateway.log.error({ cause: String(cause) }, 'a refused connection has no row')
      socket.destroy()
    })
  }
}

async function refuseOn(
  gateway: Gateway,
  socket: Duplex,
  refusal: GatewayError,
  ownStatus: number | undefined,
): Promise<void> {
  const call = newestCallOn(socket)
  const unread = unreadOn(socket)
  if (unread?.settled === true) {
    // It was answered before it had come whole, and has its row.
    socket.destroy()
    return
  }
  const id = unread?.id ?? randomUUIDv7()
  const rendered = (unread?.endpoint.client ?? clientSide('openai-chat')).encodeError(refusal, id)
  const status = ownStatus ?? rendered.status
  const ending = refusalOf(refusal, status)
  if (unread !== undefined) await settle(gateway, unread, ending)
  else await gateway.ledger.refuseUnknown(nobodysRecord(id, socket), closeRecordOf(nothingRead, ending))
  const { response } = call ?? {}
  // In the middle of an answer these bytes would be read as part of it.
  const mayAnswer =
    response === undefined || (unread !== undefined && response.socket !== null && !response.headersSent)
  if (mayAnswer) socket.end(answerBytes(status, rendered))
  else socket.destroy()
}

/** The call whose request has begun and has not come whole. */
function unreadOn(socket: Duplex): Call | undefined {
  const call = newestCallOn(socket)
  return call?.request.complete === false ? call : undefined
}

function nobodysRecord(id: string, socket: Duplex): OpenRecord {
  return {
    id,
    tenantId: null,
    keyId: null,
    groupId: null,
    endpoint: '(unreadable)',
    clientProtocol: null,
    requestedModel: null,
    stream: false,
    clientAddress: (socket as Socket).remoteAddress ?? null,
    userAgent: null,
    idempotencyKey: null,
    reservedAccountId: null,
    capture: 'none',
    body: null,
  }
}

const nothingRead = {
  identity: null,
  sentAt: null,
  firstTokenAt: null,
  attempts: [],
  notes: null,
  get startedAt() {
    return Date.now()
  },
}

function answerBytes(status: number, rendered: RenderedError): string {
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

function explain(code: string | undefined, gateway: Gateway): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new GatewayError(
      'request_too_large',
      `The request's headers are larger than ${gateway.bounds.headerBytesMax} bytes.`,
    )
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError(
      'invalid_request',
      `The request did not arrive within ${gateway.bounds.requestReadMs} ms.`,
    )
  }
  return new GatewayError('invalid_request', 'These bytes are not an HTTP/1.1 request.')
}

function statusOf(code: string | undefined): number | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : undefined
}
