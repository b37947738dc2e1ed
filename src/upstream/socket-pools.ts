import type { Channel } from '../catalog/snapshot.ts'
import type { UpstreamSocket } from './upstream-socket.ts'

export interface SocketPoolBounds {
  upstreamIdleSocketsMax: number
  upstreamSocketIdleMs: number
  upstreamSocketAgeMs: number
}

/**
 * Who may use a connection again: calls of the same channel with the same settings, credential and headers.
 */
export interface PoolOwner {
  channel: Channel
  secret: string
  /** The headers of the upgrade, with the credential. */
  headers: Readonly<Record<string, string>>
  baseUrl: string
}

/** The WebSockets to upstreams that wait for a request, and all that are open. */
export class SocketPools {
  readonly #bounds: SocketPoolBounds
  readonly #pools = new Map<string, SocketPool>()
  readonly #all = new Set<UpstreamSocket>()
  #isClosing = false

  constructor(bounds: SocketPoolBounds) {
    this.#bounds = bounds
  }

  of({ channel, secret, headers, baseUrl }: PoolOwner): SocketPool {
    const settings = settingsOf(channel, baseUrl)
    const key = JSON.stringify([channel.id, settings, headers])
    const known = this.#pools.get(key)
    if (known !== undefined) return known
    const place = { channelId: channel.id, settings, secret, baseUrl }
    const pool = new SocketPool(this.#bounds, place, this.#all, () => {
      if (this.#pools.get(key) === pool) this.#pools.delete(key)
    })
    if (this.#isClosing) pool.retire()
    else this.#pools.set(key, pool)
    return pool
  }

  /**
   * Close what a changed catalog does not use any more. A call that runs keeps its connection until its end.
   */
  follow(channels: ReadonlyMap<string, Channel>): void {
    if (this.#pools.size === 0) return
    for (const pool of [...this.#pools.values()]) {
      const channel = channels.get(pool.place.channelId)
      const isSame =
        channel !== undefined &&
        settingsOf(channel, pool.place.baseUrl) === pool.place.settings &&
        channel.credentials.includes(pool.place.secret)
      if (!isSame) pool.retire()
    }
  }

  /** Those that run close after their call. */
  close(): void {
    this.#isClosing = true
    for (const pool of [...this.#pools.values()]) pool.retire()
  }

  destroy(): void {
    this.close()
    for (const socket of [...this.#all]) socket.lose()
  }
}

interface PoolPlace {
  channelId: string
  settings: string
  secret: string
  baseUrl: string
}

/** The connections of one owner. */
export class SocketPool {
  readonly place: PoolPlace
  readonly #bounds: SocketPoolBounds
  readonly #all: Set<UpstreamSocket>
  readonly #onEmpty: () => void
  /** With the timer that closes each. The one that waits longest is the first. */
  readonly #idle = new Map<UpstreamSocket, NodeJS.Timeout>()
  #open = 0
  #calls = 0
  #isRetired = false

  constructor(bounds: SocketPoolBounds, place: PoolPlace, all: Set<UpstreamSocket>, onEmpty: () => void) {
    this.#bounds = bounds
    this.place = place
    this.#all = all
    this.#onEmpty = onEmpty
  }

  /** A call begins. Call the function that it returns once, at its end. */
  begin(): () => void {
    this.#calls++
    return () => {
      this.#calls--
      this.#endIfEmpty()
    }
  }

  /**
   * A connection that waits: the one whose newest answer is `continues`, else the one that waits longest,
   * because its answer is the least likely to be continued.
   */
  take(continues: string | undefined): UpstreamSocket | undefined {
    for (const socket of [...this.#idle.keys()]) if (!this.#isGood(socket)) this.#drop(socket)
    const waiting = [...this.#idle.keys()]
    const holder =
      continues === undefined ? undefined : waiting.find(({ answerId }) => answerId === continues)
    const taken = holder ?? waiting[0]
    if (taken !== undefined) this.#forget(taken)
    return taken
  }

  /** A new connection, which a call uses. */
  add(socket: UpstreamSocket): void {
    this.#open++
    this.#all.add(socket)
    socket.whenClosed(() => {
      this.#open--
      this.#all.delete(socket)
      this.#forget(socket)
      this.#endIfEmpty()
    })
  }

  /** Its call is over, and it takes another. */
  giveBack(socket: UpstreamSocket): void {
    socket.use(undefined)
    const { upstreamIdleSocketsMax, upstreamSocketIdleMs } = this.#bounds
    if (this.#isRetired || !this.#isGood(socket) || this.#idle.size >= upstreamIdleSocketsMax) {
      socket.close()
      return
    }
    const waitMs = Math.min(upstreamSocketIdleMs, this.#leftMs(socket))
    this.#idle.set(socket, setTimeout(() => this.#drop(socket), waitMs).unref())
  }

  /** It keeps no connection from now on. */
  retire(): void {
    this.#isRetired = true
    for (const socket of [...this.#idle.keys()]) this.#drop(socket)
    this.#onEmpty()
  }

  #endIfEmpty(): void {
    if (this.#open === 0 && this.#calls === 0) this.#onEmpty()
  }

  #isGood(socket: UpstreamSocket): boolean {
    return socket.isOpen && this.#leftMs(socket) > 0
  }

  #leftMs({ bornAt }: UpstreamSocket): number {
    return bornAt + this.#bounds.upstreamSocketAgeMs - performance.now()
  }

  #drop(socket: UpstreamSocket): void {
    this.#forget(socket)
    socket.close()
  }

  #forget(socket: UpstreamSocket): void {
    clearTimeout(this.#idle.get(socket))
    this.#idle.delete(socket)
  }
}

/** Changes with where and how the connections of a channel are made. */
function settingsOf({ protocols, connection, allowPrivateAddress }: Channel, baseUrl: string): string {
  const isThere = Object.values(protocols).includes(baseUrl)
  const { poolName, headers, websocket } = connection ?? {}
  return JSON.stringify([isThere, baseUrl, poolName, headers, websocket, allowPrivateAddress])
}
