import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Serve for `shutdownDelayMs` more, while `/readyz` answers 503: proxies stop choosing this process before
 * its port closes. The answers on their connections say `connection: close`, so that they send nothing on
 * them when the port is closed.
 */
export async function leave(
  work: { leaving: boolean; bounds: { shutdownDelayMs: number } },
  server: Server,
): Promise<void> {
  work.leaving = true
  const isLast = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  // Node tells of a request with `expect: 100-continue` by an event of its own.
  server.prependListener('request', isLast).prependListener('checkContinue', isLast)
  await sleep(work.bounds.shutdownDelayMs)
}
