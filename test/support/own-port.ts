import { createSocket } from 'node:dgram'
import { isFree } from '../../src/db/postmaster.ts'

/** Below the ports that an embedded Postgres takes, and below those that the kernel gives to connections and to port 0. */
const range = { first: 10_000, last: 15_400 }
let next = range.first + (process.pid % (range.last - range.first))

/**
 * A port of 127.0.0.1 for a server that a test starts, stops and starts again. Until this process ends, no other test
 * gets it, and no connection of the kernel's choice.
 */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = next
    next = port === range.last ? range.first : port + 1
    if ((await lock(port)) && (await isFree(port))) return port
  }
}

/**
 * Takes the UDP port of the same number, which is in the way of no TCP server. The kernel gives it to one process, and
 * takes it back when that ends.
 */
function lock(port: number): Promise<boolean> {
  const socket = createSocket('udp4')
  return new Promise((resolve) => {
    socket.once('error', () => {
      socket.close()
      resolve(false)
    })
    socket.bind({ port, address: '127.0.0.1', exclusive: true }, () => {
      socket.unref()
      resolve(true)
    })
  })
}
