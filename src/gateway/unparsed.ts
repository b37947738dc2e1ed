import { randomUUIDv7 } from 'node:crypto'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { GatewayError } from '../canonical/error.ts'
import { clientSide } from '../protocols/index.ts'
import { closeRecordOf, refusalOf } from './call.ts'
import type { Gateway } from './gateway.ts'

/** Bytes that are no HTTP request, headers too large, or one that did not arrive in time: an answer, a row, the end. */
export function refuseUnparsed(gateway: Gateway) {
  return (error: Error & { code?: string }, socket: Duplex): void => {
    // A connection that broke between requests asked for nothing.
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const id = randomUUIDv7()
    const refusal = explain(error.code, gateway)
    const rendered = clientSide('openai-chat').encodeError(refusal, id)
    const status = statusOf(error.code) ?? rendered.status
    const body = JSON.stringify(rendered.body)
    socket.end(
      `HTTP/1.1 ${status} Refused\r\nconnection: close\r\ncontent-type: application/json\r\nx-request-id: ${id}\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    )
    void gateway.ledger.refuseUnknown(
      {
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
      },
      closeRecordOf(nothingRead, refusalOf(refusal, status)),
    )
  }
}

const nothingRead = {
  identity: null,
  sentAt: null,
  firstTokenAt: null,
  attempts: [],
  get startedAt() {
    return Date.now()
  },
}

function explain(code: string | undefined, gateway: Gateway): GatewayError {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new GatewayError('request_too_large', `The request's headers are larger than ${gateway.bounds.headerBytesMax} bytes.`)
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new GatewayError('invalid_request', `The request did not arrive within ${gateway.bounds.requestReadMs} ms.`)
  }
  return new GatewayError('invalid_request', 'These bytes are not an HTTP/1.1 request.')
}

function statusOf(code: string | undefined): number | undefined {
  if (code === 'HPE_HEADER_OVERFLOW') return 431
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : undefined
}
