import { LRUCache } from 'lru-cache'
import { type Dispatcher, Pool } from 'undici'
import { GatewayError } from '../canonical/error.ts'
import type { Channel } from '../catalog/snapshot.ts'
import { checkHost, guardedLookup } from './address.ts'
import type { Target } from './route.ts'

export interface UpstreamBounds {
  upstreamConnectMs: number
  upstreamFirstByteMs: number
  upstreamIdleMs: number
  upstreamTotalMs: number
}

/** Hears one upstream call. `start` comes once, then `data` any number of times, then exactly one of `end` and `fail`. */
export interface Listener {
  start(call: UpstreamCall, status: number, headers: ResponseHeaders): void
  data(call: UpstreamCall, chunk: Buffer): void
  end(): void
  /** `sent`: the request may have reached the upstream. */
  fail(error: GatewayError, sent: boolean): void
}

export type ResponseHeaders = Record<string, string | string[] | undefined>

/** What is sent. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below the channel's base URL. */
  path: string
  body: Buffer | null
  /** Whether an answer in pieces is expected. */
  stream: boolean
  /** Names and values in turn, credentials left out. */
  headers: readonly string[]
  authHeaders(secret: string): Record<string, string>
}

/** Handle on a running call. */
export interface UpstreamCall {
  pause(): void
  resume(): void
  abort(reason: GatewayError): void
}

const keepAliveMs = 30_000
/** More than any catalog has: links to images lead to ever other hosts, which are not kept for ever. */
const placesMax = 1000

/** Connections to all upstreams of this process: one pool per origin and address policy. */
export class Upstreams {
  readonly #bounds: UpstreamBounds
  /** Origins that are served by this process itself, such as the demo channel: reserved name -> where it listens. */
  readonly #ownOrigins: ReadonlyMap<string, string>
  /** A pool that is pushed out lets its calls end. */
  readonly #places = new LRUCache<string, Place>({
    max: placesMax,
    dispose: ({ pool }) => void pool.close().catch(() => {}),
  })
  readonly #turns = new Map<string, number>()

  constructor(bounds: UpstreamBounds, ownOrigins: ReadonlyMap<string, string> = new Map()) {
    this.#bounds = bounds
    this.#ownOrigins = ownOrigins
  }

  /** Send a request to the target. Nothing is followed: a redirect is an answer like any other. */
  call(
    target: Pick<Target, 'channel' | 'baseUrl'>,
    request: UpstreamRequest,
    listener: Listener,
  ): UpstreamCall {
    const handler = new CallHandler(listener, this.#bounds.upstreamTotalMs)
    let place: Place
    try {
      place = this.#placeOf(target)
    } catch (error) {
      // Told later, as every other failure is: the caller has not returned yet.
      queueMicrotask(() => handler.onResponseError(undefined, error))
      return handler
    }
    place.pool.dispatch(
      {
        method: request.method,
        path: place.path + request.path,
        headers: this.#headersOf(target.channel, request),
        body: request.body,
        headersTimeout: this.#bounds.upstreamFirstByteMs,
        bodyTimeout: this.#bounds.upstreamIdleMs,
      },
      handler,
    )
    return handler
  }

  /** Let running calls end, then close every connection. */
  async close(): Promise<void> {
    await Promise.all([...this.#places.values()].map((place) => place.pool.close()))
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.#places.values()].map((place) => place.pool.destroy()))
  }

  #placeOf(target: Pick<Target, 'channel' | 'baseUrl'>): Place {
    const key = `${target.channel.allowPrivateAddress ? '+' : '-'}${target.baseUrl}`
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const url = new URL(target.baseUrl)
    const own = this.#ownOrigins.get(url.origin)
    const allowPrivate = target.channel.allowPrivateAddress || own !== undefined
    if (own === undefined) checkHost(url.hostname, allowPrivate)
    const pool = new Pool(own ?? url.origin, {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      allowH2: false,
      connect: { timeout: this.#bounds.upstreamConnectMs, lookup: guardedLookup(allowPrivate) },
    })
    const place = { pool, path: url.pathname.replace(/\/$/, '') }
    this.#places.set(key, place)
    return place
  }

  /** Credentials of a channel take turns. */
  #headersOf(channel: Channel, { stream, headers: own, authHeaders }: UpstreamRequest): string[] {
    const headers = [
      'content-type',
      'application/json',
      'accept',
      stream ? 'text/event-stream' : 'application/json',
      'accept-encoding',
      'identity',
      'user-agent',
      'tollgate/0.1',
      ...own,
    ]
    // Without a turn: who fetches a link for a channel has none of its credentials.
    if (channel.credentials.length === 0) return headers
    const turn = this.#turns.get(channel.id) ?? 0
    this.#turns.set(channel.id, turn + 1)
    const secret = channel.credentials[turn % channel.credentials.length] ?? ''
    if (secret === '') return headers
    for (const [name, value] of Object.entries(authHeaders(secret))) headers.push(name, value)
    return headers
  }
}

interface Place {
  pool: Pool
  /** Path of the base URL, without a trailing slash. */
  path: string
}

/** undici's handler for one call: callbacks without promises or streams, which cost more than the call itself. */
class CallHandler implements Dispatcher.DispatchHandler, UpstreamCall {
  readonly #listener: Listener
  readonly #timer: NodeJS.Timeout
  #controller: Dispatcher.DispatchController | undefined
  #aborted: GatewayError | undefined
  #done = false

  constructor(listener: Listener, totalMs: number) {
    this.#listener = listener
    this.#timer = setTimeout(() => this.abort(tookTooLong(totalMs)), totalMs)
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  abort(reason: GatewayError): void {
    if (this.#done || this.#aborted !== undefined) return
    this.#aborted = reason
    // A request that still waits for a connection has no controller yet: onRequestStart will see the reason.
    this.#controller?.abort(reason)
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#aborted !== undefined) controller.abort(this.#aborted)
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: ResponseHeaders,
  ): void {
    if (status < 200) return
    this.#listener.start(this, status, headers)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici gives an empty one whenever a call resumes: who pauses at each chunk would never get to the end.
    if (chunk.length > 0) this.#listener.data(this, chunk)
  }

  onResponseEnd(): void {
    this.#finish()
    try {
      this.#listener.end()
    } catch (error) {
      // undici tells of nothing more: without this, nobody would ever answer the client.
      this.#listener.fail(broken(error), true)
    }
  }

  onResponseError(_controller: unknown, error: unknown): void {
    if (this.#done) return
    this.#finish()
    this.#listener.fail(this.#aborted ?? explain(error), this.#controller !== undefined)
  }

  #finish(): void {
    this.#done = true
    clearTimeout(this.#timer)
  }
}

function tookTooLong(totalMs: number): GatewayError {
  return new GatewayError('upstream_timeout', `The upstream took longer than ${totalMs} ms in all.`)
}

/** What a failed connection means for the caller. The cause, which may name hosts, stays in our own log. */
function explain(error: unknown): GatewayError {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : ''
  switch (code) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new GatewayError('upstream_timeout', 'The upstream could not be reached in time.', {
        cause: error,
      })
    case 'UND_ERR_HEADERS_TIMEOUT':
      return new GatewayError('upstream_timeout', 'The upstream did not begin to answer in time.', {
        cause: error,
      })
    case 'UND_ERR_BODY_TIMEOUT':
      return new GatewayError('upstream_timeout', 'The upstream stopped in the middle of its answer.', {
        cause: error,
      })
    case 'ECONNREFUSED':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new GatewayError('upstream_error', 'The upstream could not be reached.', { cause: error })
    default:
      return broken(error)
  }
}

function broken(cause: unknown): GatewayError {
  return new GatewayError('upstream_error', 'The connection to the upstream broke.', { cause })
}
