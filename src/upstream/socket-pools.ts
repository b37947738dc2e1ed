import type { Channel } from '../catalog/snapshot.ts'
import type { UpstreamSocket } from './upstream-socket.ts'

export interface SocketPoolBounds {
  upstreamIdleSocketsMax: number
  upstreamSocketIdleMs: number
  upstreamSocketAgeMs: number
}

/**
 * Identifies the calls that can share a connection: those of the same channel with the same settings,
 * credential and headers.
 */
export interface PoolOwner {
  channel: Channel
  secret: string
  /** The headers of the upgrade, unsigned. */
  headers: readonly string[]
  baseUrl: string
}

/** The idle WebSockets to upstreams, and all open ones. */
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
    const key = JSON.stringify([channel.id, settings, secret, headers])
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
   * Closes connections that are no longer used after a catalog change. A running call keeps its connection
   * until it ends.
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

  /** Closes all pools. Connections in use are closed after their call. */
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
  /** Idle connections with the timers that close them, longest idle first. */
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

  /** Counts a call from now on. Call the returned function once when the call ends. */
  begin(): () => void {
    this.#calls++
    return () => {
      this.#calls--
      this.#endIfEmpty()
    }
  }

  /**
   * Takes an idle connection: the one whose newest response is `continues`, or else the one that has been
   * idle longest, because its response is the least likely to be continued.
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

  /** Adds a new connection, which is already used by a call. */
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

  /** Makes the connection available for another call. */
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

  /** Stops the pool from keeping connections. */
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

/** Changes whenever the address or the connection settings of a channel change. */
function settingsOf({ protocols, connection, allowPrivateAddress }: Channel, baseUrl: string): string {
  const isThere = Object.values(protocols).includes(baseUrl)
  const { poolName, headers, websocket } = connection ?? {}
  return JSON.stringify([isThere, baseUrl, poolName, headers, websocket, allowPrivateAddress])
}
