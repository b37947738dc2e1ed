import { gatewayError } from '../canonical/error.ts'
import { Bulkhead, inTurn } from '../runtime/bulkhead.ts'

export interface SubKeyTurnsOptions {
  /** The number of sub-key changes that run at once, across all tenants. */
  atOnce: number
  /** The number of changes of one tenant that can wait. Further changes are `rate_limited`. */
  waitingMax: number
  /** The longest wait for a turn. */
  waitMs: number
}

/**
 * Lets clients change sub-keys in turns, tenant by tenant. Each change uses one of the connections that
 * admins use, and without turns one tenant could occupy all of them.
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
   * Runs `change` when its turn comes. Rejects with `rate_limited` if too many changes of this owner are
   * waiting, with `unavailable` if the turn does not come in time, and with the signal's reason if the client
   * disconnects first.
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
