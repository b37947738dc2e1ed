import { FairQueue } from '../runtime/fair-queue.ts'

/**
 * Limits the bytes of large bodies that are moved in and out in one turn of the event loop. Many fast
 * connections could otherwise keep it busy with nothing but copying. When the bytes of a turn are used up,
 * the owners alternate.
 */
export class TurnBudget {
  readonly #bytesEachTurn: number
  readonly #waiting = new FairQueue<Waiting>()
  #left: number
  #isRefilling = false

  constructor(bytesEachTurn: number) {
    this.#bytesEachTurn = bytesEachTurn
    this.#left = bytesEachTurn
  }

  /**
   * Takes bytes. Returns undefined when the caller can continue immediately. Otherwise it must wait for the
   * promise, which resolves in a later turn.
   */
  take(owner: string, bytes: number): Promise<void> | undefined {
    this.#refillLater()
    if (this.#left > 0 && this.#waiting.size === 0) {
      this.#left -= bytes
      return undefined
    }
    return new Promise((resume) => this.#waiting.add(owner, { bytes, resume }))
  }

  #refillLater(): void {
    if (this.#isRefilling) return
    this.#isRefilling = true
    setImmediate(() => this.#refill())
  }

  #refill(): void {
    this.#isRefilling = false
    this.#left = this.#bytesEachTurn
    while (this.#left > 0) {
      const next = this.#waiting.next()
      if (next === undefined) return
      this.#left -= next.bytes
      next.resume()
    }
    this.#refillLater()
  }
}

interface Waiting {
  bytes: number
  resume(): void
}
