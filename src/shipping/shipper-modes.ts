import type { PostgresBackend, ShipperConnection } from './shipper-connection.ts'
import type { ShipperIdentity } from './shipper-identity.ts'
import type { Connected, ShipperSession } from './shipper-session.ts'
import type { Succession } from './succession.ts'

/**
 * What the shipper is doing:
 *
 * - `connecting`: opens a connection, after the previous one has ended in Postgres.
 * - `succeeding`: another process has adopted the journal; this one continues under another id.
 * - `joining`: registers with Postgres, and reads how far the journal has been shipped.
 * - `shipping`: one pass over everything that is due.
 * - `idle`: nothing is due until the interval ends or a message arrives.
 * - `draining`: the last pass. The process has ended, and writes nothing more.
 * - `backing off`: Postgres does not answer, or the journal directory does not exist.
 * - `closed`: the end. What Postgres does not have stays in the journal.
 */
export type Mode =
  | ({ name: 'connecting'; succession: Succession | undefined } & Connected)
  | ({ name: 'succeeding'; succession: Succession } & Connected)
  | ({ name: 'joining' } & Connected)
  | { name: 'shipping'; session: ShipperSession }
  | { name: 'idle'; session: ShipperSession; sleep: Sleep }
  | { name: 'draining'; session: ShipperSession; endsBy: number }
  | ({ name: 'backing off'; sleep: Sleep } & Remains)
  | { name: 'closed' }

/** What remains when a connection is lost. */
export interface Remains {
  identity: ShipperIdentity
  lost: PostgresBackend | undefined
  /** Continues with the next connection. */
  succession: Succession | undefined
}

type ModeName = Mode['name']
export type ModeOf<Name extends ModeName> = Extract<Mode, { name: Name }>
/** The modes that can follow. */
export type After<Name extends ModeName> = ModeOf<(typeof transitions)[Name][number]>
export type OpenMode = Exclude<Mode, ModeOf<'closed'>>

/**
 * A lost connection leads to `backing off`, a fence to `connecting`, and the deadline of the shutdown to
 * `closed`.
 */
export const transitions = {
  connecting: ['succeeding', 'joining', 'backing off', 'closed'],
  succeeding: ['joining', 'backing off', 'closed'],
  joining: ['shipping', 'draining', 'connecting', 'backing off', 'closed'],
  shipping: ['shipping', 'idle', 'draining', 'connecting', 'backing off', 'closed'],
  idle: ['shipping', 'draining', 'closed'],
  draining: ['connecting', 'backing off', 'closed'],
  'backing off': ['connecting', 'closed'],
  closed: [],
} as const satisfies Record<ModeName, readonly ModeName[]>

/** The mode of the shipper. `enter` is the only way to change it. */
export class Modes {
  #mode: Mode
  readonly #onClosed: () => void

  constructor(first: ModeOf<'connecting'>, onClosed: () => void) {
    this.#mode = first
    this.#onClosed = onClosed
  }

  get mode(): Mode {
    return this.#mode
  }

  /**
   * Throws if `next` cannot follow the current mode. Ends the sleep of the current mode, and its connection
   * unless `next` has it.
   */
  enter(next: Mode): void {
    const before = this.#mode
    const possible: readonly ModeName[] = transitions[before.name]
    if (!possible.includes(next.name))
      throw new Error(`a shipper that is ${before.name} cannot be ${next.name} next`)
    this.#mode = next
    if ('sleep' in before) before.sleep.end()
    const connection = connectionOf(before)
    if (connection !== connectionOf(next)) connection?.close()
    if (next.name === 'closed') this.#onClosed()
  }

  /** Ends a sleep, if there is one. */
  wake(): void {
    if ('sleep' in this.#mode) this.#mode.sleep.end()
  }
}

export function remainsOf(mode: OpenMode): Remains {
  if (mode.name === 'backing off') return mode
  const { identity, connection } = 'session' in mode ? mode.session : mode
  return {
    identity,
    lost: connection.backend,
    succession: 'succession' in mode ? mode.succession : undefined,
  }
}

function connectionOf(mode: Mode): ShipperConnection | undefined {
  if ('session' in mode) return mode.session.connection
  return 'connection' in mode ? mode.connection : undefined
}

export class Sleep {
  readonly #over = Promise.withResolvers<void>()
  readonly #timer: NodeJS.Timeout

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#over.resolve(), ms)
  }

  get over(): Promise<void> {
    return this.#over.promise
  }

  end(): void {
    clearTimeout(this.#timer)
    this.#over.resolve()
  }
}
