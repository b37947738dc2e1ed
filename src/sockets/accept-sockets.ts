import type { IncomingMessage } from 'node:http'
import { WebSocketServer } from 'ws'
import { bodyOwnerOf } from '../http/body-memory.ts'
import type { Handler } from '../http/exchange.ts'
import type { HttpExchange } from '../http/http-exchange.ts'
import { takeUpgrade } from '../http/upgrade.ts'
import { prepareTurn } from '../pipeline/background/prepare-turn.ts'
import { end } from '../pipeline/end.ts'
import { formatAt, type PathFormat } from '../pipeline/endpoints.ts'
import type { Gateway } from '../pipeline/gateway.ts'
import { handleRequest } from '../pipeline/handle-request.ts'
import { identify } from '../pipeline/identify.ts'
import type { Received } from '../pipeline/received.ts'
import { protocolsWithState, stateOf } from '../protocols/index.ts'
import { ClientSocket, type ClientSocketParts } from './client-socket.ts'
import type { OpenSockets } from './open-sockets.ts'

/** The formats that support WebSocket. */
const states = protocolsWithState()
  .map(stateOf)
  .flatMap((state) => (state.sockets === undefined ? [] : { state, form: state.sockets }))

/** Whether a request asks for a WebSocket on a path that supports it. */
export function asksForSocket({ method, url = '', headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    states.some(({ form }) => form.path === pathOf(url)) &&
    headers.upgrade?.toLowerCase() === 'websocket'
  )
}

function pathOf(url: string): string {
  return url.split('?', 1)[0] ?? ''
}

/**
 * Serves WebSockets. The upgrade is authenticated like any request: a client without a valid key gets an
 * error over HTTP, and the attempt has a row. A successful upgrade has no row, because each request on the
 * connection has its own. `handlers` serve the same requests over HTTP, by path.
 */
export function acceptSockets(
  gateway: Gateway & { sockets: OpenSockets },
  handlers: ReadonlyMap<string, Handler>,
): (exchange: HttpExchange) => Promise<void> {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: gateway.bounds.socketFrameBytesMax,
  })
  const byPath = new Map(
    states.map(({ state, form }) => {
      const handle = handlers.get(form.path)
      if (handle === undefined) throw new Error(`${form.path} has no handler`)
      const format = formatAt(form.path)
      return [form.path, { state, form, format, handle, prepare: prepareTurn(gateway, format) }]
    }),
  )
  const accept = async (received: Received, { request, reply }: HttpExchange, served: Served) => {
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
        client: served.format.client,
        headers: headersOfRequests(request),
        ...{ clientAddress, origin, isEncrypted },
        ...served,
        isDraining: () => gateway.draining,
      }
      const opened = new ClientSocket(socket, parts)
      socket.once('close', gateway.sockets.add(identity.keyId, opened))
      if (gateway.draining) opened.drain()
    })
  }
  return async (exchange) => {
    const served = byPath.get(pathOf(exchange.request.url ?? ''))
    if (served === undefined) throw new Error(`${exchange.path} has no WebSocket`)
    const handle = (_: Gateway, received: Received) => accept(received, exchange, served)
    await handleRequest(gateway, served.format, handle)(exchange)
  }
}

/** What serves the requests of a connection. */
interface Served extends Pick<ClientSocketParts, 'state' | 'form' | 'handle' | 'prepare'> {
  format: PathFormat
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
