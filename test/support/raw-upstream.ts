import { type AddressInfo, createServer, type Socket } from 'node:net'

/** An upstream that writes exactly the bytes that its rules say, HTTP or not. */
export interface RawUpstream {
  /** Without a path. */
  url: string
  port: number
  /** In the order in which their heads arrived. */
  requests: RawRequest[]
  /** Connections that are open. */
  sockets: Set<Socket>
  close(): Promise<void>
}

export interface RawRequest {
  head: string
  path: string
  /** What has arrived of it so far. */
  body: Buffer
  /** Its number on its connection, from 1. */
  turn: number
  socket: Socket
}

export interface RawRules {
  /** Called when the head has arrived, perhaps without the body. */
  onHead?(request: RawRequest): void
  /** Called when all of it has arrived. */
  onRequest(request: RawRequest): void
}

export async function startRawUpstream(rules: RawRules): Promise<RawUpstream> {
  const requests: RawRequest[] = []
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('end', () => socket.end())
    readRequests(socket, rules, requests)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    sockets,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

/** Let the upstream be silent for `ms`, then go on. */
export function afterSilence(ms: number, step: () => void): void {
  setTimeout(step, ms)
}

function readRequests(socket: Socket, rules: RawRules, requests: RawRequest[]): void {
  let held = Buffer.alloc(0)
  let turn = 0
  let current: RawRequest | undefined
  let missing = 0
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    for (;;) {
      if (current === undefined) {
        const end = held.indexOf('\r\n\r\n')
        if (end === -1) return
        const head = held.toString('latin1', 0, end + 4)
        held = held.subarray(end + 4)
        missing = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0)
        turn++
        current = { head, path: head.split(' ')[1] ?? '', body: Buffer.alloc(0), turn, socket }
        requests.push(current)
        rules.onHead?.(current)
      }
      const taken = held.subarray(0, missing)
      current.body = Buffer.concat([current.body, taken])
      held = held.subarray(taken.length)
      missing -= taken.length
      if (missing > 0) return
      const whole = current
      current = undefined
      rules.onRequest(whole)
      if (held.length === 0) return
    }
  })
}

/** A head and a body of known length. */
export function answerBytes(
  body: Buffer | string,
  { status = '200 OK', type = 'application/json', headers = '' } = {},
): Buffer {
  const head = `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(body)])
}

/** The head of an answer whose body comes in chunks. */
export function chunkedHead(type: string, headers = ''): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\ntransfer-encoding: chunked\r\n${headers}\r\n`
}

export function chunkBytes(piece: Buffer | string): Buffer {
  return Buffer.concat([
    Buffer.from(`${Buffer.byteLength(piece).toString(16)}\r\n`),
    Buffer.from(piece),
    Buffer.from('\r\n'),
  ])
}
