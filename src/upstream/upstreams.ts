import { LRUCache } from 'lru-cache'
import { Pool } from 'undici'
import type { Target } from '../routing/candidates.ts'
import type { ChannelLoad } from '../routing/channel-load.ts'
import type { Credential } from '../routing/credentials.ts'
import { checkHost, guardedLookup, type Lookup, policyOf } from './allowed-addresses.ts'
import { connector } from './connection.ts'
import { type BodyParts, sizeOf } from './paced-body.ts'
import { CallHandler, type Listener, type UpstreamCall } from './upstream-call.ts'

export interface UpstreamBounds {
  upstreamConnectMs: number
  upstreamFirstByteMs: number
  upstreamIdleMs: number
  upstreamTotalMs: number
}

export type { Listener, ResponseHeaders, UpstreamCall } from './upstream-call.ts'

/** The request to send. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** Below the channel's base URL. */
  path: string
  body: Buffer | BodyParts | null
  /** Whether the answer should be a stream. */
  stream: boolean
  /** Names and values in turn, without credentials. */
  headers: readonly string[]
  authHeaders(secret: string): Record<string, string>
}

const keepAliveMs = 30_000
/** We refuse an answer with larger headers. */
const answerHeadBytesMax = 64 * 1024
/** More pools than any catalog needs. Links to images lead to ever new hosts, so old pools must go. */
const placesMax = 1000

/** All connections of this process to upstreams: one pool for each origin and address policy. */
export class Upstreams {
  readonly #bounds: UpstreamBounds
  readonly #load: ChannelLoad
  readonly #lookup: Lookup | undefined
  /** Origins that this process serves itself, such as the demo channel: reserved origin -> its real origin. */
  readonly #ownOrigins: ReadonlyMap<string, string>
  /** An evicted pool lets its calls end. */
  readonly #places = new LRUCache<string, Place>({
    max: placesMax,
    dispose: ({ pool }) => void pool.close().catch(() => {}),
  })

  constructor(
    bounds: UpstreamBounds,
    load: ChannelLoad,
    ownOrigins: ReadonlyMap<string, string> = new Map(),
    lookup?: Lookup,
  ) {
    this.#bounds = bounds
    this.#load = load
    this.#lookup = lookup
    this.#ownOrigins = ownOrigins
  }

  /** Send a request to the target. It follows no redirect: a redirect is an answer like any other. */
  call(
    target: Pick<Target, 'channel' | 'baseUrl'> & { credential: Credential | undefined },
    request: UpstreamRequest,
    listener: Listener,
  ): UpstreamCall {
    const handler = new CallHandler(listener, this.#bounds.upstreamTotalMs, this.#load.begin(target.channel))
    let place: Place
    try {
      place = this.#placeOf(target)
    } catch (error) {
      // Report it later, like every other failure: `call` has not returned its handle yet.
      queueMicrotask(() => handler.onResponseError(undefined, error))
      return handler
    }
    place.pool.dispatch(
      {
        method: request.method,
        path: place.path + request.path,
        headers: headersOf(target.credential, request),
        body: isParts(request.body) ? handler.paced(request.body) : request.body,
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

/** No credential: we fetch a link, which needs none. */
function headersOf(
  credential: Credential | undefined,
  { stream, body, headers: own, authHeaders }: UpstreamRequest,
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
  if (isParts(body)) headers.push('content-length', String(sizeOf(body)))
  if (credential === undefined || credential.secret === '') return headers
  for (const [name, value] of Object.entries(authHeaders(credential.secret))) headers.push(name, value)
  return headers
}

function isParts(body: UpstreamRequest['body']): body is BodyParts {
  return body !== null && !Buffer.isBuffer(body)
}

interface Place {
  pool: Pool
  /** Path of the base URL, without a trailing slash. */
  path: string
}
