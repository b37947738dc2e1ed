import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { ownPort } from './own-port.ts'

/** A proxy between a process and a server such as Postgres. A test breaks it as networks break. It ends with the test. */
export interface Wire {
  /** The URL of the server, by way of this wire. */
  url: string
  /** Let everything pass again. Held bytes come first. New connections are accepted. */
  mend(): Promise<void>
  /** Lets nothing pass, and neither end notices: like a stopped server, or a network that drops packets. */
  freeze(): void
  /** The same for the current connections only, and new ones work: like a router that forgot its connections. */
  forget(): void
  /** Break all connections; new ones work: as after a restart of the server. */
  drop(): void
  /** Break all connections and refuse new ones: nothing listens there. */
  cut(): Promise<void>
  /** New connections go to this port of the server's host. */
  aim(port: number): void
  /** Delay all bytes by this much, each way. */
  slow(ms: number): void
  /** Break each new connection after this many bytes of the server. Undefined: break none. */
  breakAfter(bytes: number | undefined): void
  /** Connections that were made so far. */
  readonly made: number
}

export async function startWire(serverUrl: string): Promise<Wire> {
  const target = new URL(serverUrl)
  const pairs = new Set<Pair>()
  let frozen = false
  let targetPort = Number(target.port)
  let delayMs = 0
  let made = 0
  let bytesMax: number | undefined
  const server = createServer((client) => {
    made++
    const pair = join(client, targetPort, target.hostname, () => delayMs)
    if (bytesMax !== undefined) pair.breakAfter(bytesMax)
    if (frozen) pair.pause()
    pairs.add(pair)
    client.once('close', () => pairs.delete(pair))
  })
  const port = await ownPort()
  const listen = () =>
    new Promise<void>((listening, fail) => {
      server.once('error', fail)
      server.listen(port, '127.0.0.1', () => {
        server.off('error', fail)
        listening()
      })
    })
  await listen()
  const url = new URL(serverUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  const forgotten = new Set<Pair>()
  const drop = () => {
    for (const pair of pairs) pair.destroy()
  }
  const cut = async () => {
    const closed = new Promise<void>((done) => server.close(() => done()))
    drop()
    await closed
  }
  onTestFinished(async () => {
    for (const pair of forgotten) pair.destroy()
    if (server.listening) await cut()
  })
  return {
    url: url.href,
    async mend() {
      frozen = false
      delayMs = 0
      for (const pair of pairs) if (!forgotten.has(pair)) pair.resume()
      if (!server.listening) await listen()
    },
    freeze() {
      frozen = true
      for (const pair of pairs) pair.pause()
    },
    forget() {
      for (const pair of pairs) {
        pair.pause()
        forgotten.add(pair)
      }
    },
    drop,
    cut,
    aim(at) {
      targetPort = at
    },
    slow(ms) {
      delayMs = ms
    },
    breakAfter(bytes) {
      bytesMax = bytes
    },
    get made() {
      return made
    },
  }
}

interface Pair {
  pause(): void
  resume(): void
  destroy(): void
  breakAfter(bytes: number): void
}

/** Two sockets. Each gets the bytes and the end of the other, unless they are paused. */
function join(client: Socket, port: number, host: string, delayMs: () => number): Pair {
  const server = connect({ port, host, allowHalfOpen: true })
  client.allowHalfOpen = true
  let paused = false
  const later = (step: () => void) => {
    const ms = delayMs()
    if (ms === 0) step()
    else setTimeout(step, ms)
  }
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    from.on('data', (bytes) => later(() => to.write(bytes)))
    from.on('end', () => later(() => to.end()))
    from.on('error', () => {
      // While nothing passes, the other end does not learn of a reset either.
      if (!paused) to.destroy()
    })
  }
  server.on('close', () => {
    if (!paused) client.destroy()
  })
  return {
    pause() {
      paused = true
      client.pause()
      server.pause()
    },
    resume() {
      paused = false
      client.resume()
      server.resume()
      if (client.destroyed) server.destroy()
    },
    destroy() {
      client.destroy()
      server.destroy()
    },
    breakAfter(bytes) {
      let left = bytes
      server.on('data', (piece) => {
        left -= piece.length
        if (left > 0) return
        client.destroy()
        server.destroy()
      })
    },
  }
}
