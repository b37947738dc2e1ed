import type { IncomingHttpHeaders } from 'node:http'
import type { Handler } from './exchange.ts'
import { MemoryExchange } from './memory-exchange.ts'

/** The part of `fetch` that callers in this process need. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>

export interface FetchInit {
  method: string
  headers: Record<string, string>
  body: string | null
  signal: AbortSignal
}

/**
 * Makes requests to the handlers of this process, each found by its path. `origin` is the part before the
 * path in each address. A path without a handler is answered with 404. When the signal aborts, the client
 * counts as having left.
 */
export function memoryFetch(handlers: ReadonlyMap<string, Handler>, origin: string): Fetch {
  return (url, init) => {
    const path = url.slice(origin.length)
    const handle = init.method === 'POST' ? handlers.get(path) : undefined
    if (handle === undefined) return Promise.resolve(Response.json({}, { status: 404 }))
    return exchanged(handle, path, init)
  }
}

function exchanged(handle: Handler, path: string, init: FetchInit): Promise<Response> {
  const { signal } = init
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    let body: ReadableStreamDefaultController<Uint8Array> | undefined
    const stop = (error: unknown) => {
      signal.removeEventListener('abort', leave)
      reject(error)
      body?.error(error)
    }
    const exchange = new MemoryExchange(
      {
        method: 'POST',
        path,
        headers: lowerCased(init.headers),
        body: Buffer.from(init.body ?? ''),
        clientAddress: '127.0.0.1',
      },
      {
        begin(status, headers) {
          const source = {
            start: (controller: typeof body) => {
              body = controller
            },
            pull: () => exchange.drained(),
            cancel: () => exchange.leave(),
          }
          const named = Object.entries(headers).map(([name, value]) => [name, String(value)] as const)
          try {
            const stream = withoutBody.has(status) ? null : new ReadableStream<Uint8Array>(source)
            resolve(new Response(stream, { status, headers: Object.fromEntries(named) }))
          } catch (error) {
            exchange.leave()
            stop(error)
          }
        },
        write(chunk) {
          body?.enqueue(chunk)
          return (body?.desiredSize ?? 1) > 0
        },
        end(isWhole) {
          if (!isWhole) return stop(new TypeError('the answer was cut off'))
          signal.removeEventListener('abort', leave)
          body?.close()
        },
      },
    )
    function leave() {
      exchange.leave()
      stop(signal.reason)
    }
    signal.addEventListener('abort', leave, { once: true })
    void handle(exchange)
  })
}

/**
 * Statuses whose response has no body, whatever the handler writes:
 * https://fetch.spec.whatwg.org/#null-body-status
 */
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])

function lowerCased(headers: Record<string, string>): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
