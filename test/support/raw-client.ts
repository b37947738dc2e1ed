import { connect, type Socket } from 'node:net'

/** Send these bytes; answers all that comes until the other side ends the connection. Both in Latin-1. */
export function say(port: number, text: string, host = '127.0.0.1'): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => socket.write(Buffer.from(text, 'latin1')))
    heardFrom(socket).then(resolve, reject)
  })
}

/** All that comes until the connection is over. A reset counts as an end: a server that closes before it has read all sends one. */
export function heardFrom(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = ''
    socket.setEncoding('latin1').on('data', (data: string) => {
      heard += data
    })
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error)
    })
    socket.on('close', () => resolve(heard))
  })
}

/** The statuses of the answers, in order. */
export function statusesOf(heard: string): number[] {
  return [...heard.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))
}

/** The ids of the answers, in order. */
export function idsOf(heard: string): string[] {
  return [...heard.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id ?? '')
}

/** The JSON of the last answer. */
// biome-ignore lint/suspicious/noExplicitAny: what a client reads from JSON.
export function lastJsonOf(heard: string): any {
  return JSON.parse(heard.slice(heard.lastIndexOf('\r\n\r\n') + 4))
}

/** The reason of the last error. */
export function reasonIn(heard: string): string | undefined {
  return [...heard.matchAll(/^x-tollgate-reason: (\w+)\r$/gm)].at(-1)?.[1]
}
