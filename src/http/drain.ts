import type { Server } from 'node:http'
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import { GatewayError } from '../canonical/error.ts'
import type { RunningRequests } from './running-requests.ts'

const lookMs = 50
/** Time for requests that were ended at the deadline to write their rows. */
const settleMs = 2_000
/** Time for taking connections that wait: there may always be another one. */
const takeMs = 1_000

/** What the drain needs of a process. */
interface Work {
  /** Set to true: nothing new begins. */
  draining: boolean
  requests: RunningRequests<RunningRequest>
  bounds: { drainOnShutdownMs: number }
}

interface RunningRequest {
  place: number
  shuttingDown: boolean
  running: { abort(reason: GatewayError): void } | undefined
}

/**
 * End the work of this process: no new requests, running ones finish, at the deadline what still runs is ended with
 * its format's own error. Resolves when every row is written.
 */
export async function drain(work: Work, server: Server): Promise<void> {
  work.draining = true
  await takeWaiting(server)
  const closed = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeIdleConnections()
  await emptied(work, work.bounds.drainOnShutdownMs)
  for (const request of work.requests.all()) {
    request.shuttingDown = true
    request.running?.abort(
      new GatewayError(
        'unavailable',
        'This gateway process is shutting down; the answer is cut here. Try again.',
        { retryAfterSeconds: 1 },
      ),
    )
  }
  await emptied(work, settleMs)
  server.closeIdleConnections()
  await Promise.race([closed, sleep(settleMs, undefined, { ref: false })])
  server.closeAllConnections()
}

async function emptied({ requests }: Work, waitMs: number): Promise<void> {
  const deadline = performance.now() + waitMs
  while (requests.size > 0 && performance.now() < deadline) await sleep(lookMs)
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
