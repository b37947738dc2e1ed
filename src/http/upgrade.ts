import { type IncomingMessage, type RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

/** A connection whose client asks for another protocol. */
export interface Upgrade {
  socket: Duplex
  /** What came after the request. */
  head: Buffer
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

/**
 * For a server's `upgrade` event: the request goes the way of all requests, and its response is an answer in
 * HTTP until somebody takes the connection with `takeUpgrade`.
 */
export function handleUpgrade(handle: RequestListener) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    upgrades.set(request, { socket, head })
    // Node has taken its own listeners off.
    socket.on('error', () => socket.destroy())
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as Socket)
    response.once('finish', () => socket.end())
    handle(request, response)
  }
}

/** Whether this request can become another protocol. */
export function isUpgrade(request: IncomingMessage): boolean {
  return upgrades.has(request)
}

/**
 * Take the connection from its response, which must not be used any more. Undefined: the client has left, or
 * it was taken.
 */
export function takeUpgrade(request: IncomingMessage, response: ServerResponse): Upgrade | undefined {
  const upgrade = upgrades.get(request)
  upgrades.delete(request)
  if (upgrade === undefined || upgrade.socket.destroyed) return undefined
  response.detachSocket(upgrade.socket as Socket)
  return upgrade
}
