import type { Socket } from 'node:net'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { EgressProxy } from '../catalog/connection.ts'

/** The most bytes of a proxy's answer to CONNECT. */
const headBytesMax = 16 * 1024

/**
 * Ask the proxy behind the socket for a tunnel. `done` is called once; after an error the socket is closed.
 * https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6
 */
export function openTunnel(
  socket: Socket,
  { authorization }: EgressProxy,
  to: { hostname: string; port: string },
  done: (error: Error | null) => void,
): void {
  const host = to.hostname.includes(':') ? `[${to.hostname}]` : to.hostname
  const authority = `${host}:${to.port === '' ? 443 : to.port}`
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`]
  if (authorization !== undefined) lines.push(`Proxy-Authorization: ${authorization}`)
  let head: Buffer = Buffer.alloc(0)
  const end = (error: Error | null) => {
    socket.off('readable', onReadable).off('close', onClose).off('error', end)
    if (error !== null) socket.destroy()
    done(error)
  }
  const onClose = () => end(refused('closed the connection'))
  const onReadable = () => {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    head = Buffer.concat([head, chunk])
    const at = head.indexOf('\r\n\r\n')
    if (at === -1) {
      if (head.length > headBytesMax) end(refused('answered at length'))
      return
    }
    const [, status] = /^HTTP\/1\.\d (\d{3})/.exec(head.toString('latin1', 0, at)) ?? []
    if (status === undefined) end(refused('did not answer in HTTP/1.1'))
    else if (!status.startsWith('2')) end(refused(`answered with status ${status}`))
    // In TLS the client speaks first.
    else if (head.length > at + 4) end(refused('spoke before the upstream could'))
    else end(null)
  }
  socket.on('readable', onReadable).once('close', onClose).once('error', end)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
}

/** It names neither the proxy nor its credentials: the client reads it. */
function refused(how: string): GatewayError {
  return gatewayError('upstream_proxy_failed', { how })
}
