import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Clients that read nothing for a while, and then go on. */
export async function stopReading(sockets: readonly Socket[], ms: number): Promise<void> {
  for (const socket of sockets) socket.pause()
  await sleep(ms)
  for (const socket of sockets) socket.resume()
}
