import type { ServerResponse } from 'node:http'

/** Server-sent events to a client that may be slow or gone. Events are sent in the order of the calls. */
export class EventStream {
  readonly #response: ServerResponse
  readonly #stallMs: number
  readonly #keepAlive: NodeJS.Timeout
  #work: Promise<void> = Promise.resolve()
  /** Events that are not sent yet. */
  #waiting = 0

  /**
   * Sends the headers. A comment is sent every `keepAliveMs`, because proxies close silent connections.
   * `clientStallMs`: see `writeTo`.
   */
  constructor(
    response: ServerResponse,
    headers: Record<string, string>,
    { keepAliveMs, clientStallMs }: { keepAliveMs: number; clientStallMs: number },
  ) {
    this.#response = response
    this.#stallMs = clientStallMs
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      ...headers,
    })
    response.flushHeaders()
    this.#keepAlive = setInterval(() => {
      // While events wait, a comment would only pile up behind them.
      if (this.#waiting === 0) void this.send((write) => write(': keep-alive\n\n'))
    }, keepAliveMs)
    response.once('close', () => clearInterval(this.#keepAlive))
  }

  /**
   * `write` resolves when more may be written; nothing is written to a client that is gone. An event that rejects cuts
   * the stream: half of it may be out. Never rejects.
   */
  send(event: (write: (text: string) => Promise<void>) => Promise<void>): Promise<void> {
    this.#waiting++
    this.#work = this.#work
      .then(() => (this.#response.destroyed ? undefined : event(this.#write)))
      .catch(() => {
        this.#response.destroy()
      })
      .finally(() => {
        this.#waiting--
      })
    return this.#work
  }

  /** End the stream after all events that were sent before. */
  async end(): Promise<void> {
    clearInterval(this.#keepAlive)
    await this.#work
    endAnswer(this.#response, this.#stallMs)
  }

  readonly #write = (text: string): Promise<void> => writeTo(this.#response, text, this.#stallMs)
}

/** Resolves when more may be written, or the client is gone. A client that reads nothing for `stallMs` is cut off. */
export async function writeTo(
  response: ServerResponse,
  bytes: string | Buffer,
  stallMs: number,
): Promise<void> {
  if (response.destroyed || response.write(bytes)) return
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(late)
      response.off('drain', end)
      response.off('close', end)
      resolve()
    }
    const late = setTimeout(() => {
      response.destroy()
      end()
    }, stallMs)
    response.once('drain', end)
    response.once('close', end)
  })
}

/** Ends an answer. A client that has not read the rest within `stallMs` is cut off. */
export function endAnswer(response: ServerResponse, stallMs: number): void {
  if (response.destroyed) return
  const late = setTimeout(() => response.destroy(), stallMs)
  response.once('close', () => clearTimeout(late))
  response.end()
}
