import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { GatewayError } from '../canonical/error.ts'
import type { Gateway } from './gateway.ts'

const lookMs = 50
/** For calls that were told to end at the deadline to write their rows. */
const settleMs = 2_000

/**
 * End the work of this process: no new requests, running ones finish, at the deadline what still runs is ended with
 * its format's own error. Resolves when every row is written.
 */
export async function drain(gateway: Gateway, server: Server): Promise<void> {
  gateway.draining = true
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  await emptied(gateway, gateway.bounds.drainOnShutdownMs)
  for (const call of gateway.calls) {
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
