import type { Socket } from 'node:net'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { EgressProxy } from '../catalog/channel-connection.ts'

/** The maximum size of the headers of a proxy's response to CONNECT. */
const headBytesMax = 16 * 1024

/**
 * Requests a tunnel from the proxy at the other end of the socket. `done` is called once; after an error the
 * socket is closed. https://www.rfc-editor.org/rfc/rfc9110#section-9.3.6
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
      if (head.length > headBytesMax) end(refused('sent headers that are too large'))
      return
    }
    const [, status] = /^HTTP\/1\.\d (\d{3})/.exec(head.toString('latin1', 0, at)) ?? []
    if (status === undefined) end(refused('did not respond with HTTP/1.1'))
    else if (!status.startsWith('2')) end(refused(`responded with status ${status}`))
    // In TLS the client sends first.
    else if (head.length > at + 4) end(refused('sent data before the upstream could'))
    else end(null)
  }
  socket.on('readable', onReadable).once('close', onClose).once('error', end)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
}

/** Contains neither the name of the proxy nor its credentials, because the client reads it. */
function refused(how: string): GatewayError {
  return gatewayError('upstream_proxy_failed', { how })
}
