import { createServer, request as forward, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'

/** A proxy as companies have one: it demands credentials, opens tunnels, and passes plain requests on. */
export interface EgressProxy {
  /** Of a user `user` with password `proxy-pass-word`. */
  url: string
  port: number
  /** What it was asked for, with the answer's status: `CONNECT localhost:443 200`, `POST http://127.0.0.1/v1 200`. */
  asked: string[]
  /** Connections to it that are open. */
  sockets: Set<Socket>
  close(): Promise<void>
}

/** `silent`: it takes connections and never answers. `tls`: it is reached by TLS itself. */
export async function startEgressProxy({
  silent = false,
  tls,
}: {
  silent?: boolean
  tls?: TlsOptions
} = {}): Promise<EgressProxy> {
  const asked: string[] = []
  const sockets = new Set<Socket>()
  const wanted = `Basic ${Buffer.from('user:proxy-pass-word').toString('base64')}`
  const isAllowed = ({ headers }: IncomingMessage) => headers['proxy-authorization'] === wanted
  const answerOne = (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, url = '', headers } = incoming
    if (!isAllowed(incoming)) {
      asked.push(`${method} ${url} 407`)
      response.writeHead(407).end()
      return
    }
    asked.push(`${method} ${url} 200`)
    const { 'proxy-authorization': _, ...rest } = headers
    const onward = forward(url, { method, headers: rest }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(response)
    })
    onward.on('error', () => response.writeHead(502).end())
    incoming.pipe(onward)
  }
  const server = tls === undefined ? createServer(answerOne) : createTlsServer(tls, answerOne)
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  })
  server.on('connect', (incoming, socket) => {
    socket.once('end', () => socket.destroy())
    if (silent) return void socket.resume()
    const status = isAllowed(incoming) ? 200 : 407
    asked.push(`CONNECT ${incoming.url} ${status}`)
    if (status !== 200) {
      socket.resume().end(`HTTP/1.1 ${status} Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n`)
      return
    }
    const [host, port] = (incoming.url ?? '').split(':')
    const onward = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      socket.pipe(onward).pipe(socket)
    })
    onward.on('error', () => {}).on('close', () => socket.destroy())
    socket.on('close', () => onward.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url:
      tls === undefined
        ? `http://user:proxy-pass-word@127.0.0.1:${port}`
        : `https://user:proxy-pass-word@localhost:${port}`,
    port,
    asked,
    sockets,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
