import type { IncomingMessage } from 'node:http'
import { WebSocketServer } from 'ws'
import { bodyOwnerOf } from '../http/body-memory.ts'
import type { Handler } from '../http/exchange.ts'
import type { HttpExchange } from '../http/http-exchange.ts'
import { takeUpgrade } from '../http/upgrade.ts'
import { end } from '../pipeline/end.ts'
import { formatAt } from '../pipeline/endpoints.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { handleRequest } from '../pipeline/handle-request.ts'
import { identify } from '../pipeline/identify.ts'
import { prepareTurn } from '../pipeline/prepare-turn.ts'
import type { Received } from '../pipeline/received.ts'
import type { OpenSockets } from './open-sockets.ts'
import { ResponsesSocket } from './responses-socket.ts'

export const socketPath = '/v1/responses'

/** Whether a request asks for a WebSocket on a path that supports it. */
export function asksForSocket({ method, url = '', headers }: IncomingMessage): boolean {
  const path = url.split('?', 1)[0]
  return method === 'GET' && path === socketPath && headers.upgrade?.toLowerCase() === 'websocket'
}

/**
 * Serves WebSockets. The upgrade is authenticated like any request: a client without a valid key gets an
 * error over HTTP, and the attempt has a row. A successful upgrade has no row, because each request on the
 * connection has its own.
 */
export function acceptSockets(
  gateway: Gateway & { sockets: OpenSockets },
  handle: Handler,
): (exchange: HttpExchange) => Promise<void> {
  const format = formatAt(socketPath)
  const prepare = prepareTurn(gateway, format)
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: gateway.bounds.socketFrameBytesMax,
  })
  const accept = async (received: Received, { request, reply }: HttpExchange) => {
    const { identity } = await identify(gateway, received)
    gateway.sockets.requireRoom(identity.keyId)
    await end(gateway, received, 'unlogged')
    const upgrade = takeUpgrade(request, reply)
    if (upgrade === undefined) return
    const { clientAddress, origin, isEncrypted } = received.exchange
    server.handleUpgrade(request, upgrade.socket, upgrade.head, (socket) => {
      const parts = {
        bounds: gateway.bounds,
        sockets: gateway.sockets,
        stream: upgrade.socket,
        beginShare: () => gateway.bodies.begin(bodyOwnerOf(identity)),
        client: format.client,
        headers: headersOfRequests(request),
        ...{ clientAddress, origin, isEncrypted },
        handle,
        prepare,
        isDraining: () => gateway.draining,
      }
      const responses = new ResponsesSocket(socket, parts)
      socket.once('close', gateway.sockets.add(identity.keyId, responses))
      if (gateway.draining) responses.drain()
    })
  }
  return (exchange) =>
    handleRequest(gateway, format, (_: Gateway, received) => accept(received, exchange))(exchange)
}

/** The headers of the connection, which are not repeated for each request. */
const ownHeaders: ReadonlySet<string> = new Set([
  ...['connection', 'upgrade', 'host', 'content-length', 'transfer-encoding', 'content-encoding', 'expect'],
  ...['accept-encoding', 'idempotency-key', 'x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host'],
])

/** The headers of the upgrade that apply to each request on the connection. */
function headersOfRequests({ headers }: IncomingMessage): Record<string, string> {
  const kept = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || ownHeaders.has(name) || name.startsWith('sec-websocket-')
      ? []
      : [[name, Array.isArray(value) ? value.join(', ') : value]],
  )
  return { ...Object.fromEntries(kept), 'content-type': 'application/json' }
}
