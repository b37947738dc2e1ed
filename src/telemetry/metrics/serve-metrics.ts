import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { http } from '../../runtime/node-http.ts'
import type { Log } from '../log.ts'
import { contentType, renderText } from './render.ts'
import type { SeriesSnapshot } from './store.ts'

/** Prometheus keeps a connection open between scrapes, which may be a minute apart. */
const keepAliveMs = 90_000
const connectionsMax = 64

/**
 * Serves `GET /metrics` on a separate port, so that clients of the gateway cannot reach it. Concurrent
 * requests share a response. `GET /healthz` responds as long as the event loop runs, even in a process that
 * only runs workers or that has reached its maximum number of clients. Rejects with an Error for the operator
 * if the port is in use.
 */
export async function serveMetrics(
  { metricsHost: host, metricsPort }: { metricsHost: string; metricsPort: number },
  log: Log,
  collect: () => Promise<SeriesSnapshot>,
): Promise<{ close(): void }> {
  let running: Promise<string> | undefined
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.replace(/\?.*$/s, '')
    if (path === '/healthz') return end(response, 200, 'ok\n')
    if (path !== '/metrics') return end(response, 404, 'Metrics are available at /metrics.\n')
    if (request.method !== 'GET' && request.method !== 'HEAD') return end(response, 405, 'GET /metrics\n')
    try {
      running ??= collect()
        .then(renderText)
        .finally(() => {
          running = undefined
        })
      end(response, 200, await running, contentType)
    } catch (error) {
      log.error({ cause: String(error) }, 'metrics cannot be collected')
      end(response, 500, 'Metrics cannot be collected at the moment. The log contains the reason.\n')
    }
  }
  const server = http.createServer((request, response) => void answer(request, response))
  server.keepAliveTimeout = keepAliveMs
  server.maxConnections = connectionsMax
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const isTaken = cause.code === 'EADDRINUSE'
      reject(
        isTaken
          ? new Error(`Port ${metricsPort} is taken by another program. Set METRICS_PORT to a free port.`)
          : new Error(`cannot listen on METRICS_HOST and METRICS_PORT`, { cause }),
      )
    })
    server.listen({ host, port: metricsPort }, resolve)
  })
  // For example when file descriptors run out. An error without a listener would end the process.
  server.on('error', (error) => log.error({ cause: String(error) }, 'the metrics port failed'))
  const { port } = server.address() as AddressInfo
  log.info({ host, port }, 'serving metrics')
  return {
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function end(response: ServerResponse, status: number, text: string, type = 'text/plain'): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(response.req.method === 'HEAD' ? undefined : text)
}
