import { gatewayError } from '../canonical/error.ts'
import type { Bounds } from '../config/config.ts'
import { RunningCounts } from '../runtime/running-counts.ts'

/** The methods of a connection that end it. */
export interface OpenSocket {
  /** Closes it as soon as nothing runs on it. */
  drain(): void
  /** Breaks the connection off. */
  terminate(): void
}

/** The WebSockets of this process. */
export class OpenSockets {
  readonly #bounds: Pick<Bounds, 'socketsMax' | 'keySocketsMax' | 'socketStatesBytesMax'>
  readonly #open = new Set<OpenSocket>()
  readonly #ofKeys = new RunningCounts()
  /** The total size of what all connections remember. */
  #stateBytes = 0

  constructor(bounds: Pick<Bounds, 'socketsMax' | 'keySocketsMax' | 'socketStatesBytesMax'>) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#open.size
  }

  /** Returns the total size of what all connections remember, and the keys with the most connections. */
  state(keys: number): { stateBytes: number; keys: { owner: string; count: number }[] } {
    return { stateBytes: this.#stateBytes, keys: this.#ofKeys.most(keys) }
  }

  /** Throws `unavailable` or `rate_limited`. */
  requireRoom(keyId: string): void {
    const { socketsMax, keySocketsMax } = this.#bounds
    if (this.#open.size >= socketsMax) {
      throw gatewayError('sockets_full', { most: socketsMax }, { retryAfterSeconds: 1 })
    }
    if (this.#ofKeys.of(keyId) < keySocketsMax) return
    throw gatewayError('key_sockets_full', { most: keySocketsMax }, { retryAfterSeconds: 1 })
  }

  /** Counts a connection until the returned function is called. */
  add(keyId: string, socket: OpenSocket): () => void {
    this.#open.add(socket)
    const end = this.#ofKeys.begin(keyId)
    return () => {
      if (this.#open.delete(socket)) end()
    }
  }

  /**
   * Replaces the size of what a connection remembers. Returns false when there is no room, in which case the
   * connection must remember nothing.
   */
  remember(before: number, after: number): boolean {
    this.#stateBytes -= before
    if (this.#stateBytes + after > this.#bounds.socketStatesBytesMax) return false
    this.#stateBytes += after
    return true
  }

  /**
   * Called when this process is ending: idle connections close immediately, others when their running
   * requests have ended.
   */
  drain(): void {
    for (const socket of this.#open) socket.drain()
  }

  terminate(): void {
    for (const socket of this.#open) socket.terminate()
  }
}
