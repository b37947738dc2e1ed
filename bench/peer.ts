import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** A process of the bench that exchanges messages with this one. It ends when this one ends. */
export interface Peer<Reply> {
  pid: number
  send(message: object | string): void
  /** The next message. Rejects when the process has ended, or after two minutes. */
  receive(): Promise<Reply>
  stop(): Promise<void>
}

/** A peer that serves requests with `serveBodies`. */
export interface ServerPeer extends Pick<Peer<unknown>, 'pid' | 'stop'> {
  port: number
  /** Requests since the last call of this function. */
  requests(): Promise<number>
}

export async function startServer(
  file: string,
  args: string[] = [],
  nodeArgs: string[] = [],
): Promise<ServerPeer> {
  const peer = startPeer<{ port: number } | { requests: number }>(file, args, nodeArgs)
  const reply = await peer.receive()
  return {
    pid: peer.pid,
    port: 'port' in reply ? reply.port : 0,
    async requests() {
      peer.send('count')
      const counted = await peer.receive()
      return 'requests' in counted ? counted.requests : Number.NaN
    },
    stop: peer.stop,
  }
}

/** Start a file of this folder. */
export function startPeer<Reply>(file: string, args: string[] = [], nodeArgs: string[] = []): Peer<Reply> {
  const execArgv = [...process.execArgv, ...nodeArgs]
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, { execArgv })
  const inbox: Reply[] = []
  let wake: (() => void) | undefined
  child.on('message', (message) => {
    inbox.push(message as Reply)
    wake?.()
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void exited.then(() => wake?.())
  return {
    pid: child.pid ?? 0,
    send: (message) => void child.send(message),
    async receive() {
      const deadline = setTimeout(() => child.kill('SIGKILL'), 120_000)
      while (inbox.length === 0 && child.exitCode === null && child.signalCode === null) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      clearTimeout(deadline)
      const message = inbox.shift()
      if (message === undefined) throw new Error(`${file} ended without an answer`)
      return message
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
