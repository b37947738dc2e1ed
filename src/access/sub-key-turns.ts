import { GatewayError } from '../canonical/error.ts'
import { FairQueue } from '../fair-queue.ts'

export interface SubKeyTurnsOptions {
  /** Changes of sub-keys that run at once, of all tenants. */
  atOnce: number
  /** Changes of one tenant that wait for their turn. Beyond it a change is `rate_limited`. */
  waitingMax: number
  /** Longest wait for a turn. */
  waitMs: number
}

/**
 * Lets clients change sub-keys in turns, tenant by tenant. Each change takes a connection of those that admins use: without turns
 * one tenant could take all of them.
 */
export class SubKeyTurns {
  readonly #options: SubKeyTurnsOptions
  readonly #waiting = new FairQueue<() => void>()
  #running = 0

  constructor(options: SubKeyTurnsOptions) {
    this.#options = options
  }

  /**
   * Run `change` when its turn has come. Rejects `rate_limited` when too many of this owner wait, `unavailable` when the turn does
   * not come in time, and with the reason of the signal when the client leaves before it.
   */
  async run<T>(
    { owner, signal }: { owner: string; signal: AbortSignal },
    change: () => Promise<T>,
  ): Promise<T> {
    await this.#turnOf(owner, signal)
    try {
      return await change()
    } finally {
      this.#running--
      this.#waiting.next()?.()
    }
  }

  async #turnOf(owner: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { atOnce, waitingMax, waitMs } = this.#options
    if (this.#running < atOnce) {
      this.#running++
      return
    }
    if (this.#waiting.of(owner) >= waitingMax) throw tooMany(waitingMax)
    await new Promise<void>((resolve, reject) => {
      const begin = () => {
        end()
        this.#running++
        resolve()
      }
      const leave = () => refuse(signal.reason)
      const timer = setTimeout(() => refuse(late()), waitMs)
      const refuse = (reason: unknown) => {
        end()
        this.#waiting.remove(owner, begin)
        reject(reason)
      }
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.add(owner, begin)
    })
  }
}

function tooMany(waitingMax: number): GatewayError {
  return new GatewayError(
    'rate_limited',
    `${waitingMax} changes of sub-keys of this tenant wait in this gateway process, as many as may. Wait for one of them to end.`,
    { retryAfterSeconds: 1 },
  )
}

function late(): GatewayError {
  return new GatewayError('unavailable', 'Sub-keys change slowly just now. Nothing was changed: try again.', {
    retryAfterSeconds: 2,
  })
}
