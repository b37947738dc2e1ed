import { LRUCache } from 'lru-cache'
import type { Connection } from '../catalog/connection.ts'
import type { Target } from '../routing/candidates.ts'
import type { ChannelLoad } from '../routing/channel-load.ts'
import type { Credential } from '../routing/credentials.ts'
import { type Lookup, policyOf } from './allowed-addresses.ts'
import type { BodyParts } from './paced-body.ts'
import { openOwnPlace, openPlace, type Place } from './place.ts'
import { headersOf, isParts } from './request-headers.ts'
import { timeoutsOf, type UpstreamBounds } from './timeouts.ts'
import { CallHandler, type Listener, type UpstreamCall } from './upstream-call.ts'

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

/** More pools than any catalog needs. Links to images lead to ever new hosts, so old pools must go. */
const placesMax = 1000

/**
 * All connections of this process to upstreams: one pool for each origin and address policy, and one of its own for each
 * channel that says how it is reached.
 */
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
    const { channel, credential } = target
    const bounds = timeoutsOf(channel, this.#bounds)
    const handler = new CallHandler(listener, bounds.upstreamTotalMs, this.#load.begin(channel))
    let place: Place
    try {
      place = this.#placeOf(target)
    } catch (error) {
      // Report it later, like every other failure: `call` has not returned its handle yet.
      queueMicrotask(() => handler.onResponseError(undefined, error))
      return handler
    }
    const headers = headersOf(credential, request, channel.connection)
    if (place.isProxied) {
      handler.isProxied = true
      headers.push(...place.headers)
    }
    place.pool.dispatch(
      {
        method: request.method,
        path: place.path + request.path,
        headers,
        body: isParts(request.body) ? handler.paced(request.body) : request.body,
        headersTimeout: bounds.upstreamFirstByteMs,
        bodyTimeout: bounds.upstreamIdleMs,
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

  #placeOf({
    channel,
    baseUrl,
    credential,
  }: Pick<Target, 'channel' | 'baseUrl'> & { credential: Credential | undefined }): Place {
    const { connection, allowPrivateAddress: allowed } = channel
    const way = connection === undefined ? '' : ` ${channel.id} `
    // A link may lead anywhere: nobody there sees our certificate.
    const isLink = credential === undefined && connection?.cert !== undefined
    const key = policyOf(allowed) + way + (connection?.poolName ?? '') + (isLink ? ' link ' : '') + baseUrl
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const own = this.#ownOrigins.get(new URL(baseUrl).origin)
    const connectMs = timeoutsOf(channel, this.#bounds).upstreamConnectMs
    const place =
      own === undefined
        ? openPlace(baseUrl, {
            allowed,
            connection: isLink ? withoutCertificate(connection) : connection,
            connectMs,
            lookup: this.#lookup,
          })
        : openOwnPlace(baseUrl, own, { connectMs })
    // Settings that the channel had before: their calls may end, and their connections close.
    for (const former of way === '' ? [] : [...this.#places.keys()]) {
      if (former.includes(way) && !former.includes(connection?.poolName ?? '')) this.#places.delete(former)
    }
    this.#places.set(key, place)
    return place
  }
}

function withoutCertificate({ cert: _, key: __, ...connection }: Connection): Connection {
  return connection
}
