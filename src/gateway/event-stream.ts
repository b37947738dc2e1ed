import { once } from 'node:events'
import type { ServerResponse } from 'node:http'

/** Server-sent events to a client that may be slow or gone. Calls wait for those before them. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #keepAlive: NodeJS.Timeout
  #work: Promise<void> = Promise.resolve()

  /** Sends the headers. `keepAliveMs`: a comment is sent that often, for proxies that take silence for death. */
  constructor(response: ServerResponse, headers: Record<string, string>, keepAliveMs: number) {
    this.#response = response
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...headers,
    })
    response.flushHeaders()
    this.#keepAlive = setInterval(() => {
      void this.send(async (write) => write(': keep-alive\n\n'))
    }, keepAliveMs)
    response.once('close', () => clearInterval(this.#keepAlive))
  }

  /**
   * `write` resolves when more may be written; nothing is written to a client that is gone. An event that rejects cuts
   * the stream: half of it may be out. Never rejects.
   */
  send(event: (write: (text: string) => Promise<void>) => Promise<void>): Promise<void> {
    this.#work = this.#work
      .then(() => (this.#response.destroyed ? undefined : event(this.#write)))
      .catch(() => {
        this.#response.destroy()
      })
    return this.#work
  }

  /** Behind all that was sent. */
  async end(): Promise<void> {
    clearInterval(this.#keepAlive)
    await this.#work
    this.#response.end()
  }

  readonly #write = (text: string): Promise<void> => writeTo(this.#response, text)
}

/** Resolves when more may be written, or the client is gone. */
export async function writeTo(response: ServerResponse, bytes: string | Buffer): Promise<void> {
  if (response.destroyed || response.write(bytes)) return
  const gone = new AbortController()
  const onClose = () => gone.abort()
  response.once('close', onClose)
  try {
    await once(response, 'drain', { signal: gone.signal })
  } catch {
    // It is gone: whoever writes next finds out.
  } finally {
    response.off('close', onClose)
  }
}
