import { LRUCache } from 'lru-cache'
import type { AskingFrame, FrameFormat } from '../canonical/frames.ts'
import type { Connection } from '../catalog/connection.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { Target } from '../routing/candidates.ts'
import type { ChannelLoad } from '../routing/channel-load.ts'
import type { Credential } from '../routing/credentials.ts'
import { type Lookup, policyOf } from './allowed-addresses.ts'
import { type OriginConnections, openOwnPlace, openPlace } from './origin-connections.ts'
import type { BodyParts } from './paced-body.ts'
import { headersOf, isParts, upgradeHeadersOf } from './request-headers.ts'
import { SocketCall } from './socket-call.ts'
import { type SocketPoolBounds, SocketPools } from './socket-pools.ts'
import { timeoutsOf, type UpstreamBounds } from './timeouts.ts'
import { CallHandler, type Listener, type UpstreamCall } from './upstream-call.ts'
import { openSocket } from './upstream-socket.ts'

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
  /**
   * Our place in a trace: names and values in turn. A WebSocket serves many requests, so it has none of it.
   */
  traceHeaders?: readonly string[] | undefined
  /** Present for a call that may go by WebSocket, where the channel says so. */
  frames?: FrameFormat | undefined
  /** Called with why a call does not go the way that its channel says. */
  note?(why: string): void
}

type CallTarget = Pick<Target, 'channel' | 'baseUrl'> & { credential: Credential | undefined }

interface SocketBounds extends SocketPoolBounds {
  upstreamFrameBytesMax: number
}

/** More pools than any catalog needs. Links to images lead to ever new hosts, so old pools must go. */
const placesMax = 1000

/**
 * All connections of this process to upstreams: one pool for each origin and address policy, and one of its
 * own for each channel that says how it is reached.
 */
export class Upstreams {
  readonly #bounds: UpstreamBounds & SocketBounds
  readonly #sockets: SocketPools
  readonly #load: ChannelLoad
  readonly #lookup: Lookup | undefined
  /**
   * Origins that this process serves itself, such as the demo channel: reserved origin -> its real origin.
   */
  readonly #ownOrigins: ReadonlyMap<string, string>
  /** An evicted pool lets its calls end. */
  readonly #places = new LRUCache<string, OriginConnections>({
    max: placesMax,
    dispose: ({ pool }) => void pool.close().catch(() => {}),
  })

  constructor(
    bounds: UpstreamBounds & SocketBounds,
    load: ChannelLoad,
    ownOrigins: ReadonlyMap<string, string> = new Map(),
    lookup?: Lookup,
  ) {
    this.#bounds = bounds
    this.#load = load
    this.#lookup = lookup
    this.#ownOrigins = ownOrigins
    this.#sockets = new SocketPools(bounds)
  }

  /** Send a request to the target. It follows no redirect: a redirect is an answer like any other. */
  call(target: CallTarget, request: UpstreamRequest, listener: Listener): UpstreamCall {
    if (request.frames !== undefined && target.channel.connection?.websocket === true)
      return this.#callBySocket(target, request, request.frames, listener)
    return this.#callByHttp(target, request, listener)
  }

  #callByHttp(target: CallTarget, request: UpstreamRequest, listener: Listener): UpstreamCall {
    const { channel, credential } = target
    const bounds = timeoutsOf(channel, this.#bounds)
    const handler = new CallHandler(listener, bounds.upstreamTotalMs, this.#load.begin(channel))
    let place: OriginConnections
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

  #callBySocket(
    target: CallTarget,
    request: UpstreamRequest,
    format: FrameFormat,
    listener: Listener,
  ): UpstreamCall {
    const { channel, credential = { secret: '', name: '' }, baseUrl } = target
    const overHttp = (why: string) => {
      request.note?.(why)
      return this.#callByHttp(target, request, listener)
    }
    const asking = askingFrame(format, request.body)
    if (asking === undefined) return overHttp('the request has no words for a WebSocket')
    let place: OriginConnections
    try {
      place = this.#placeOf(target)
    } catch {
      // Its failure is reported there.
      return this.#callByHttp(target, request, listener)
    }
    const own = { ...request, headers: [...format.headers, ...request.headers] }
    const headers = upgradeHeadersOf(credential, own, channel.connection)
    const { upstreamFrameBytesMax: frameBytesMax } = this.#bounds
    const path = withoutOrigin(place) + request.path
    return new SocketCall({
      listener,
      format,
      asking,
      pace: isParts(request.body) ? request.body.pace : undefined,
      stream: request.stream,
      pool: this.#sockets.of({ channel, secret: credential.secret, headers, baseUrl }),
      bounds: timeoutsOf(channel, this.#bounds),
      frameBytesMax,
      open: (opening) => openSocket({ place, path, headers, frameBytesMax }, opening),
      overHttp,
      onFinish: this.#load.begin(channel),
    })
  }

  /** The catalog has these channels now, by their ids: close WebSockets that none of them uses. */
  followChannels(channels: ReadonlyMap<string, Channel>): void {
    this.#sockets.follow(channels)
  }

  /** Let running calls end, then close every connection. */
  async close(): Promise<void> {
    this.#sockets.close()
    await Promise.all([...this.#places.values()].map((place) => place.pool.close()))
  }

  async destroy(): Promise<void> {
    this.#sockets.destroy()
    await Promise.all([...this.#places.values()].map((place) => place.pool.destroy()))
  }

  #placeOf({ channel, baseUrl, credential }: CallTarget): OriginConnections {
    const { connection, allowPrivateAddress: allowed } = channel
    const bound = connection?.proxy?.allowed === undefined ? '' : 'bounded '
    const way = connection === undefined ? '' : ` ${channel.id} ${bound}`
    // A link may lead anywhere: our certificate is not shown there.
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

function askingFrame(format: FrameFormat, body: UpstreamRequest['body']): AskingFrame | undefined {
  if (body === null) return undefined
  return format.ask(isParts(body) ? Buffer.concat(body.pieces) : body)
}

/** The path on the server itself, also where a proxy reads the path of calls. */
function withoutOrigin({ path, origin }: OriginConnections): string {
  return path.startsWith(origin) ? path.slice(origin.length) : path
}

function withoutCertificate({ cert: _, key: __, ...connection }: Connection): Connection {
  return connection
}
