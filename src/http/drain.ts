import type { Server } from 'node:http'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from '../stages/gateway.ts'

const lookMs = 50
/** For calls that were told to end at the deadline to write their rows. */
const settleMs = 2_000
/** For the connections that wait to be taken, of which there may always be a next. */
const takeMs = 1_000

/**
 * End the work of this process: no new requests, running ones finish, at the deadline what still runs is ended with
 * its format's own error. Resolves when every row is written.
 */
export async function drain(gateway: Gateway, server: Server): Promise<void> {
  gateway.draining = true
  await takeWaiting(server)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  await emptied(gateway, gateway.bounds.drainOnShutdownMs)
  for (const call of gateway.calls.all()) {
    call.shuttingDown = true
    call.running?.abort(
      new GatewayError(
        'unavailable',
        'This gateway process is shutting down; the answer is cut here. Try again.',
        { retryAfterSeconds: 1 },
      ),
    )
  }
  await emptied(gateway, settleMs)
  server.closeIdleConnections()
  await Promise.race([closed, sleep(settleMs, undefined, { ref: false })])
  server.closeAllConnections()
}

async function emptied(gateway: Gateway, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs
  while (gateway.calls.size > 0 && performance.now() < deadline) await sleep(lookMs)
}

/**
 * A port that closes resets the connections that the kernel has made and nobody has taken. A turn of the event loop
 * takes one, or none before the next turn: https://github.com/libuv/libuv/pull/3696
 */
async function takeWaiting(server: Server): Promise<void> {
  const deadline = performance.now() + takeMs
  let turnsWithout = 0
  const taken = () => {
    turnsWithout = 0
  }
  server.on('connection', taken)
  while (turnsWithout < 2 && performance.now() < deadline) {
    turnsWithout++
    await turn()
  }
  server.off('connection', taken)
}
