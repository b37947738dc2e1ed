import type { Server } from 'node:http'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { RunningRequests } from './running-requests.ts'

const pollMs = 50
/** The time for requests that were ended at the deadline to write their rows. */
const settleMs = 2_000
/** The longest time for accepting pending connections, because new ones may keep arriving. */
const acceptMs = 1_000

/** The parts of a process that the drain needs. */
interface Work {
  /** Set by the drain: no new work begins. */
  draining: boolean
  requests: RunningRequests<RunningRequest>
  sockets: { drain(): void; terminate(): void }
}

interface RunningRequest {
  place: number
  shuttingDown: boolean
  running: { abort(reason: GatewayError): void } | undefined
}

/**
 * Ends the work of this process: accepts no new requests and lets running ones finish. After `drainMs`, ends
 * the remaining ones with an error in their format. Resolves when every row is written.
 */
export async function drain(work: Work, server: Server, drainMs: number): Promise<void> {
  work.draining = true
  await acceptPending(server)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  work.sockets.drain()
  await waitUntilEmpty(work, drainMs)
  for (const request of work.requests.all()) {
    request.shuttingDown = true
    request.running?.abort(gatewayError('draining', {}, { retryAfterSeconds: 1 }))
  }
  await waitUntilEmpty(work, settleMs)
  server.closeIdleConnections()
  await Promise.race([closed, sleep(settleMs, undefined, { ref: false })])
  server.closeAllConnections()
  work.sockets.terminate()
}

async function waitUntilEmpty({ requests }: Work, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs
  while (requests.size > 0 && performance.now() < deadline) await sleep(pollMs)
}

/**
 * Closing a port resets the connections that the kernel has established but this process has not accepted
 * yet. One turn of the event loop accepts at most one connection: https://github.com/libuv/libuv/pull/3696
 */
async function acceptPending(server: Server): Promise<void> {
  const deadline = performance.now() + acceptMs
  let turnsWithout = 0
  const onConnection = () => {
    turnsWithout = 0
  }
  server.on('connection', onConnection)
  while (turnsWithout < 2 && performance.now() < deadline) {
    turnsWithout++
    await turn()
  }
  server.off('connection', onConnection)
}
