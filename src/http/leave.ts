import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Keeps serving for `shutdownDelayMs` while `/readyz` answers 503, so that proxies stop choosing this process
 * before its port closes. Answers contain `connection: close`, so that proxies do not reuse their connections
 * when the port is closed.
 */
export async function leave(
  work: { leaving: boolean; bounds: { shutdownDelayMs: number } },
  server: Server,
): Promise<void> {
  work.leaving = true
  const isLast = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  // Node emits a separate event for a request with `expect: 100-continue`.
  server.prependListener('request', isLast).prependListener('checkContinue', isLast)
  await sleep(work.bounds.shutdownDelayMs)
}
