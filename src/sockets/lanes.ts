import { type GatewayError, gatewayError } from '../canonical/error.ts'
import type { LaneState } from './lane-state.ts'
import type { OpenSockets } from './open-sockets.ts'

/**
 * The most answers that run on a connection at once, and the most requests that wait for them. The vendor
 * runs the same number.
 */
export const lanesMax = 16

/** The lane of requests that name no lane. */
export const unnamed = ''

/** What a connection remembers: the newest answers of its most recently used lanes. */
export class LaneStates {
  readonly #states = new Map<string, LaneState>()
  readonly #sockets: Pick<OpenSockets, 'remember'>

  constructor(sockets: Pick<OpenSockets, 'remember'>) {
    this.#sockets = sockets
  }

  /**
   * Returns the state after the answer with this id, whichever lane it ran in, because a lane may continue an
   * answer of another.
   */
  find(id: string | undefined): LaneState | undefined {
    if (id === undefined) return undefined
    for (const state of this.#states.values()) if (state.id === id) return state
    return undefined
  }

  /** Sets the newest answer of a lane; undefined removes it. */
  set(lane: string, state: LaneState | undefined): void {
    const before = this.#states.get(lane)?.items.length ?? 0
    this.#states.delete(lane)
    if (this.#sockets.remember(before, state?.items.length ?? 0) && state !== undefined)
      this.#states.set(lane, state)
    const [oldest] = this.#states.keys()
    if (this.#states.size > lanesMax && oldest !== undefined) this.set(oldest, undefined)
  }

  forget(state: LaneState): void {
    for (const [lane, each] of this.#states) if (each === state) this.set(lane, undefined)
  }

  clear(): void {
    for (const lane of [...this.#states.keys()]) this.set(lane, undefined)
  }
}

/** The refusal of a request on a connection where another one is running. */
export function oneAtATime(): GatewayError {
  return gatewayError('socket_busy')
}

/** The refusal of a request beyond `lanesMax`. */
export function tooManyLanes(what: 'running' | 'waiting'): GatewayError {
  return gatewayError('socket_lanes_full', { most: lanesMax, what })
}
