import type { ExchangeReply } from './exchange.ts'

/** Sends server-sent events, in the order of the calls, to a client that may be slow or gone. */
export class EventStream {
  readonly #reply: ExchangeReply
  readonly #stallMs: number
  readonly #keepAlive: NodeJS.Timeout
  #work: Promise<void> = Promise.resolve()
  /** The number of events that have not been sent yet. */
  #waiting = 0

  /**
   * Sends the headers, then a comment every `keepAliveMs`, because proxies close silent connections. For
   * `clientStallMs`, see `writeTo`.
   */
  constructor(
    reply: ExchangeReply,
    headers: Record<string, string>,
    { keepAliveMs, clientStallMs }: { keepAliveMs: number; clientStallMs: number },
  ) {
    this.#reply = reply
    this.#stallMs = clientStallMs
    reply.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    })
    reply.flushHeaders()
    this.#keepAlive = setInterval(() => {
      // A comment would only queue after the waiting events.
      if (this.#waiting === 0) void this.send((write) => write(': keep-alive\n\n'))
    }, keepAliveMs)
    reply.once('close', () => clearInterval(this.#keepAlive))
  }

  /**
   * Sends one event. Its `write` resolves when more may be written. Nothing is sent to a client that has
   * gone. An event that rejects may have been sent in part, so it ends the connection. Never rejects.
   */
  send(event: (write: (text: string) => Promise<void>) => Promise<void>): Promise<void> {
    this.#waiting++
    this.#work = this.#work
      .then(() => (this.#reply.destroyed ? undefined : event(this.#write)))
      .catch(() => {
        this.#reply.destroy()
      })
      .finally(() => {
        this.#waiting--
      })
    return this.#work
  }

  /** Ends the stream after all events sent so far. */
  async end(): Promise<void> {
    clearInterval(this.#keepAlive)
    await this.#work
    endAnswer(this.#reply, this.#stallMs)
  }

  readonly #write = (text: string): Promise<void> => writeTo(this.#reply, text, this.#stallMs)
}

/**
 * Writes, and resolves when more may be written or the client is gone. Closes the connection when the client
 * has read nothing for `stallMs`.
 */
export async function writeTo(reply: ExchangeReply, bytes: string | Buffer, stallMs: number): Promise<void> {
  if (reply.destroyed || reply.write(bytes)) return
  await new Promise<void>((resolve) => {
    const end = () => {
      clearTimeout(timeout)
      reply.off('drain', end)
      reply.off('close', end)
      resolve()
    }
    const timeout = setTimeout(() => {
      reply.destroy()
      end()
    }, stallMs)
    reply.once('drain', end)
    reply.once('close', end)
  })
}

/** Ends an answer. Closes the connection when the client has not read the rest within `stallMs`. */
export function endAnswer(reply: ExchangeReply, stallMs: number): void {
  if (reply.destroyed) return
  const timeout = setTimeout(() => reply.destroy(), stallMs)
  reply.once('close', () => clearTimeout(timeout))
  reply.end()
}
