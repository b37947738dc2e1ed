import { LRUCache } from 'lru-cache'
import { Pool } from 'undici'
import type { Target } from '../routing/candidates.ts'
import type { Credential } from '../routing/credentials.ts'
import { checkHost, guardedLookup, type Lookup, policyOf } from './allowed-addresses.ts'
import { connector } from './connection.ts'
import { CallHandler, type Listener, type UpstreamCall } from './upstream-call.ts'

export interface UpstreamBounds {
  upstreamConnectMs: number
  upstreamFirstByteMs: number
  upstreamIdleMs: number
  upstreamTotalMs: number
}

export type { Listener, ResponseHeaders, UpstreamCall } from './upstream-call.ts'

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

const keepAliveMs = 30_000
/** A larger head of an answer is refused. */
const answerHeadBytesMax = 64 * 1024
/** More than any catalog has: links to images lead to ever other hosts, which are not kept for ever. */
const placesMax = 1000

/** Connections to all upstreams of this process: one pool per origin and address policy. */
export class Upstreams {
  readonly #bounds: UpstreamBounds
  readonly #lookup: Lookup | undefined
  /** Origins that are served by this process itself, such as the demo channel: reserved name -> where it listens. */
  readonly #ownOrigins: ReadonlyMap<string, string>
  /** A pool that is pushed out lets its calls end. */
  readonly #places = new LRUCache<string, Place>({
    max: placesMax,
    dispose: ({ pool }) => void pool.close().catch(() => {}),
  })

  constructor(bounds: UpstreamBounds, ownOrigins: ReadonlyMap<string, string> = new Map(), lookup?: Lookup) {
    this.#bounds = bounds
    this.#lookup = lookup
    this.#ownOrigins = ownOrigins
  }

  /** Send a request to the target. Nothing is followed: a redirect is an answer like any other. */
  call(
    target: Pick<Target, 'channel' | 'baseUrl'> & { credential: Credential | undefined },
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
        headers: headersOf(target.credential, request),
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
    const key = policyOf(target.channel.allowPrivateAddress) + target.baseUrl
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const url = new URL(target.baseUrl)
    const own = this.#ownOrigins.get(url.origin)
    const allowed = own !== undefined || target.channel.allowPrivateAddress
    if (own === undefined) checkHost(url.hostname, allowed)
    const pool = new Pool(own ?? url.origin, {
      pipelining: 1,
      keepAliveTimeout: keepAliveMs,
      allowH2: false,
      maxHeaderSize: answerHeadBytesMax,
      connect: connector({
        timeout: this.#bounds.upstreamConnectMs,
        lookup: guardedLookup(allowed, this.#lookup),
      }),
    })
    const place = { pool, path: url.pathname.replace(/\/$/, '') }
    this.#places.set(key, place)
    return place
  }
}

/** Without a credential: who fetches a link for a channel has none of its own. */
function headersOf(
  credential: Credential | undefined,
  { stream, headers: own, authHeaders }: UpstreamRequest,
): string[] {
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
  if (credential === undefined || credential.secret === '') return headers
  for (const [name, value] of Object.entries(authHeaders(credential.secret))) headers.push(name, value)
  return headers
}

interface Place {
  pool: Pool
  /** Path of the base URL, without a trailing slash. */
  path: string
}
