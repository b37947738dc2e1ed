import { LRUCache } from 'lru-cache'
import type { Dispatcher } from 'undici'
import type { AskingFrame, FrameFormat } from '../canonical/frames.ts'
import type { Connection } from '../catalog/channel-connection.ts'
import type { Channel } from '../catalog/snapshot.ts'
import type { Target } from '../routing/candidates.ts'
import type { ChannelLoad } from '../routing/channel-load.ts'
import { systemClock } from '../runtime/clock.ts'
import { type Lookup, policyOf } from './allowed-addresses.ts'
import { AwsIdentities } from './aws/identities.ts'
import { sdkSource } from './aws/sdk-source.ts'
import { framingOf, framings } from './framings.ts'
import { type OriginConnections, openOwnPlace, openPlace } from './origin-connections.ts'
import type { BodyParts } from './paced-body.ts'
import { headersOf, isParts, replaceHeaders, upgradeHeadersOf } from './request-headers.ts'
import { noHeaders, type SignedHeaders, type SignerOf, sign } from './signer.ts'
import { signersWith } from './signers.ts'
import { SocketCall } from './socket-call.ts'
import { type SocketPoolBounds, SocketPools } from './socket-pools.ts'
import { timeoutsOf, type UpstreamBounds } from './timeouts.ts'
import { CallHandler, type DeframerOf, type Listener, type UpstreamCall } from './upstream-call.ts'
import { openSocket } from './upstream-socket.ts'

export type { Listener, ResponseHeaders, UpstreamCall } from './upstream-call.ts'

/** The request to send. */
export interface UpstreamRequest {
  method: 'GET' | 'POST' | 'DELETE'
  /** The path relative to the channel's base URL. */
  path: string
  body: Buffer | BodyParts | null
  /** Whether the response should be a stream. */
  stream: boolean
  /** The media types of a response that is not a stream. Default JSON. */
  accept?: string | undefined
  /** Alternating names and values, without credentials. */
  headers: readonly string[]
  /**
   * Our trace context as alternating names and values. It is not sent over a WebSocket, which serves many
   * requests.
   */
  traceHeaders?: readonly string[] | undefined
  /** Present if the call can use a WebSocket, which the channel has to enable. */
  frames?: FrameFormat | undefined
  /** Called with the reason if a call does not use the transport that its channel specifies. */
  note?(why: string): void
}

/**
 * Where a request goes. Without a credential it fetches a link, which may point anywhere, so that it is not
 * signed.
 */
type CallTarget = Pick<Target, 'channel' | 'baseUrl'> & (Signatory | { credential: undefined })
type Signatory = Pick<Target, 'credential' | 'protocol'>

/** What differs between vendors below their protocols. Defaults to what this version supports. */
interface VendorWays {
  signerOf: SignerOf
  framings: typeof framings
}

interface SocketBounds extends SocketPoolBounds {
  upstreamFrameBytesMax: number
}

/**
 * More pools than any catalog needs. Links to images keep introducing new hosts, so old pools must be
 * evicted.
 */
const placesMax = 1000

/**
 * All connections of this process to upstreams: one pool per origin and address policy, plus a separate pool
 * for each channel with its own connection settings.
 */
export class Upstreams {
  readonly #bounds: UpstreamBounds & SocketBounds
  readonly #sockets: SocketPools
  readonly #load: ChannelLoad
  readonly #lookup: Lookup | undefined
  /**
   * Maps reserved origins that this process serves itself, such as that of the demo channel, to their real
   * origins.
   */
  readonly #ownOrigins: ReadonlyMap<string, string>
  readonly #ways: VendorWays
  readonly #deframerOf: DeframerOf = (contentType) =>
    framingOf(this.#ways.framings, contentType)?.(this.#bounds.upstreamFrameBytesMax)
  /** The running calls of an evicted pool are allowed to end. */
  readonly #places = new LRUCache<string, OriginConnections>({
    max: placesMax,
    dispose: ({ pool }) => void pool.close().catch(() => {}),
  })

  constructor(
    bounds: UpstreamBounds & SocketBounds,
    load: ChannelLoad,
    ownOrigins: ReadonlyMap<string, string> = new Map(),
    lookup?: Lookup,
    ways: Partial<VendorWays> = {},
  ) {
    this.#bounds = bounds
    this.#ways = { signerOf: ownSigners(), framings, ...ways }
    this.#load = load
    this.#lookup = lookup
    this.#ownOrigins = ownOrigins
    this.#sockets = new SocketPools(bounds)
  }

  /** Sends a request to the target. Redirects are not followed, but treated like any other response. */
  call(target: CallTarget, request: UpstreamRequest, listener: Listener): UpstreamCall {
    const { connection } = target.channel
    if (target.credential !== undefined && request.frames !== undefined && connection?.websocket === true)
      return this.#callBySocket(target, request, request.frames, listener)
    return this.#callByHttp(target, request, listener)
  }

  #callByHttp(target: CallTarget, request: UpstreamRequest, listener: Listener): UpstreamCall {
    const { channel } = target
    const bounds = timeoutsOf(channel, this.#bounds)
    const call = new CallHandler(
      listener,
      bounds.upstreamTotalMs,
      this.#load.begin(channel),
      this.#deframerOf,
    )
    try {
      const place = this.#placeOf(target)
      const headers = headersOf(request, target.credential && channel.connection)
      const { method, path, body } = request
      const sending = {
        method,
        path: place.path + path,
        headers,
        body: isParts(body) ? call.paced(body) : body,
        headersTimeout: bounds.upstreamFirstByteMs,
        bodyTimeout: bounds.upstreamIdleMs,
      }
      if (target.credential === undefined) send(call, place, sending, noHeaders)
      else {
        const unsigned = { method, url: place.base + path, headers, body, credential: target.credential }
        const signed = sign(this.#ways.signerOf(target), unsigned, call)
        if (signed instanceof Promise) void this.#sendLater(call, target, sending, signed)
        else send(call, place, sending, signed)
      }
    } catch (error) {
      // Deferred like every other failure, because `call` has not returned its handle yet.
      queueMicrotask(() => call.onResponseError(undefined, error))
    }
    return call
  }

  async #sendLater(
    call: CallHandler,
    target: CallTarget,
    sending: Sending,
    signing: Promise<SignedHeaders>,
  ): Promise<void> {
    try {
      const signed = await signing
      // The pool may have been closed meanwhile.
      if (!call.signal.aborted) send(call, this.#placeOf(target), sending, signed)
    } catch (error) {
      call.onResponseError(undefined, error)
    }
  }

  #callBySocket(
    target: CallTarget & Signatory,
    request: UpstreamRequest,
    format: FrameFormat,
    listener: Listener,
  ): UpstreamCall {
    const { channel, credential, baseUrl } = target
    const overHttp = (why: string) => {
      request.note?.(why)
      return this.#callByHttp(target, request, listener)
    }
    const asking = askingFrame(format, request.body)
    if (asking === undefined) return overHttp('the request cannot be expressed as a WebSocket frame')
    let place: OriginConnections
    try {
      place = this.#placeOf(target)
    } catch {
      // The HTTP call reports this failure.
      return this.#callByHttp(target, request, listener)
    }
    const headers = upgradeHeadersOf([...format.headers, ...request.headers], channel.connection)
    const { upstreamFrameBytesMax: frameBytesMax } = this.#bounds
    const url = place.base + request.path
    const unsigned = { method: 'GET', url, headers, body: null, credential } as const
    return new SocketCall({
      listener,
      format,
      asking,
      pace: isParts(request.body) ? request.body.pace : undefined,
      stream: request.stream,
      pool: this.#sockets.of({ channel, secret: credential.secret, headers, baseUrl }),
      bounds: timeoutsOf(channel, this.#bounds),
      frameBytesMax,
      open: (opening) =>
        openSocket(
          {
            connect: place.connect,
            url,
            sign: (call) => sign(this.#ways.signerOf(target), unsigned, call),
            headers,
            frameBytesMax,
          },
          opening,
        ),
      overHttp,
      onFinish: this.#load.begin(channel),
    })
  }

  /** Called with the new channels of the catalog by id. Closes WebSockets that none of them uses. */
  followChannels(channels: ReadonlyMap<string, Channel>): void {
    this.#sockets.follow(channels)
  }

  /** Waits for running calls to end, then closes all connections. */
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
    // A link may point anywhere, so our certificate is not presented there.
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
    // Pools for earlier settings of the channel are closed once their calls have ended.
    for (const former of way === '' ? [] : [...this.#places.keys()]) {
      if (former.includes(way) && !former.includes(connection?.poolName ?? '')) this.#places.delete(former)
    }
    this.#places.set(key, place)
    return place
  }
}

/** Tokens end by the time of day, and so do signatures: the clock of the machine is meant. */
function ownSigners(): SignerOf {
  return signersWith(new AwsIdentities(sdkSource, systemClock), systemClock)
}

type Sending = Dispatcher.DispatchOptions & { headers: string[] }

function send(call: CallHandler, place: OriginConnections, sending: Sending, signed: SignedHeaders): void {
  if (signed.length > 0) replaceHeaders(sending.headers, signed)
  if (place.isProxied) {
    call.isProxied = true
    sending.headers.push(...place.headers)
  }
  place.pool.dispatch(sending, call)
}

function askingFrame(format: FrameFormat, body: UpstreamRequest['body']): AskingFrame | undefined {
  if (body === null) return undefined
  return format.ask(isParts(body) ? Buffer.concat(body.pieces) : body)
}

function withoutCertificate({ cert: _, key: __, ...connection }: Connection): Connection {
  return connection
}
