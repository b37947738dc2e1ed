import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * Serves requests of the bench in a process of its own, see `startServer`. Sends its port to its parent, answers each message
 * with the number of requests since the last one, and ends when its parent ends. `handle` gets a request with its whole body.
 */
export function serveBodies(
  handle: (body: Buffer, response: ServerResponse, request: IncomingMessage) => void,
): void {
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const [first] = parts
      handle(parts.length === 1 && first ? first : Buffer.concat(parts), response, request)
    })
  })
  server.keepAliveTimeout = 60_000
  server.listen(0, '127.0.0.1', 4096, () => process.send?.({ port: (server.address() as AddressInfo).port }))
  process.on('message', () => {
    process.send?.({ requests })
    requests = 0
  })
  process.on('disconnect', () => process.exit(0))
  // Killed by the signal itself, Node would write no profile.
  process.on('SIGTERM', () => process.exit(0))
}
