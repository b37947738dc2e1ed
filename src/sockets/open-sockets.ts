import { gatewayError } from '../canonical/error.ts'
import type { Bounds } from '../config.ts'
import { RunningCounts } from '../runtime/running-counts.ts'

/** One connection, as those that end it see it. */
export interface OpenSocket {
  /** Close it once nothing runs on it. */
  drain(): void
  /** Break it off. */
  terminate(): void
}

/** The WebSockets of this process. */
export class OpenSockets {
  readonly #bounds: Pick<Bounds, 'socketsMax' | 'keySocketsMax' | 'socketStatesBytesMax'>
  readonly #open = new Set<OpenSocket>()
  readonly #ofKeys = new RunningCounts()
  /** What all connections remember. */
  #stateBytes = 0

  constructor(bounds: Pick<Bounds, 'socketsMax' | 'keySocketsMax' | 'socketStatesBytesMax'>) {
    this.#bounds = bounds
  }

  get size(): number {
    return this.#open.size
  }

  /** What all of them remember, and the keys that have most of them. */
  state(keys: number): { stateBytes: number; keys: { owner: string; count: number }[] } {
    return { stateBytes: this.#stateBytes, keys: this.#ofKeys.most(keys) }
  }

  /** Throws `unavailable` and `rate_limited`. */
  requireRoom(keyId: string): void {
    const { socketsMax, keySocketsMax } = this.#bounds
    if (this.#open.size >= socketsMax) {
      throw gatewayError('sockets_full', { most: socketsMax }, { retryAfterSeconds: 1 })
    }
    if (this.#ofKeys.of(keyId) < keySocketsMax) return
    throw gatewayError('key_sockets_full', { most: keySocketsMax }, { retryAfterSeconds: 1 })
  }

  /** Until the returned function is called. */
  add(keyId: string, socket: OpenSocket): () => void {
    this.#open.add(socket)
    const end = this.#ofKeys.begin(keyId)
    return () => {
      if (this.#open.delete(socket)) end()
    }
  }

  /**
   * Count what a connection remembers instead of what it remembered. False: there is no more room, and it
   * must remember nothing.
   */
  remember(before: number, after: number): boolean {
    this.#stateBytes -= before
    if (this.#stateBytes + after > this.#bounds.socketStatesBytesMax) return false
    this.#stateBytes += after
    return true
  }

  /** This process ends: idle connections close at once, others after what runs on them. */
  drain(): void {
    for (const socket of this.#open) socket.drain()
  }

  terminate(): void {
    for (const socket of this.#open) socket.terminate()
  }
}
