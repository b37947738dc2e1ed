import { gatewayError } from '../canonical/error.ts'
import { Bulkhead, inTurn } from '../runtime/bulkhead.ts'

export interface SubKeyTurnsOptions {
  /** Changes of sub-keys that run at once, of all tenants. */
  atOnce: number
  /** Changes of one tenant that wait for their turn. Beyond it a change is `rate_limited`. */
  waitingMax: number
  /** Longest wait for a turn. */
  waitMs: number
}

/**
 * Lets clients change sub-keys in turns, tenant by tenant. Each change takes a connection of those that
 * admins use: without turns one tenant could take all of them.
 */
export class SubKeyTurns {
  readonly #turns: Bulkhead
  readonly #waitMs: number

  constructor({ atOnce, waitingMax, waitMs }: SubKeyTurnsOptions) {
    const perOwner = { waiting: waitingMax }
    this.#turns = new Bulkhead({
      running: atOnce,
      perOwner,
      refuse: () => gatewayError('sub_key_changes_full', { waitingMax }, { retryAfterSeconds: 1 }),
    })
    this.#waitMs = waitMs
  }

  /**
   * Run `change` when its turn has come. Rejects `rate_limited` when too many of this owner wait,
   * `unavailable` when the turn does not come in time, and with the reason of the signal when the client
   * leaves before it.
   */
  async run<T>(
    { owner, signal }: { owner: string; signal: AbortSignal },
    change: () => Promise<T>,
  ): Promise<T> {
    const patience = new AbortController()
    const timer = setTimeout(
      () => patience.abort(gatewayError('sub_key_changes_slow', {}, { retryAfterSeconds: 2 })),
      this.#waitMs,
    )
    const terms = { owner, signal: AbortSignal.any([signal, patience.signal]) }
    try {
      return await inTurn(this.#turns, change, terms)
    } finally {
      clearTimeout(timer)
    }
  }
}
