import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { http } from '../runtime/node-http.ts'

/** A connection whose client requests another protocol. */
export interface Upgrade {
  socket: Duplex
  /** The bytes received after the request. */
  head: Buffer
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>()

/**
 * For a server's `upgrade` event: the request is handled like any other, and its response is an HTTP answer
 * unless the connection is taken with `takeUpgrade`.
 */
export function handleUpgrade(handle: RequestListener) {
  return (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    upgrades.set(request, { socket, head })
    // Node has removed its own listeners.
    socket.on('error', () => socket.destroy())
    const response = new http.ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as Socket)
    response.once('finish', () => socket.end())
    handle(request, response)
  }
}

/** Whether this request can switch to another protocol. */
export function isUpgrade(request: IncomingMessage): boolean {
  return upgrades.has(request)
}

/**
 * Takes the connection from its response, which must not be used any more. Returns undefined when the client
 * has left or the connection was already taken.
 */
export function takeUpgrade(request: IncomingMessage, response: ServerResponse): Upgrade | undefined {
  const upgrade = upgrades.get(request)
  upgrades.delete(request)
  if (upgrade === undefined || upgrade.socket.destroyed) return undefined
  response.detachSocket(upgrade.socket as Socket)
  return upgrade
}
