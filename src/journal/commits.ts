import { gatewayError } from '../canonical/error.ts'
import type { OpenRecord } from './record.ts'

export interface CommitsOptions {
  /** The progress of the current journal. */
  progress(): { written: number; shipped: number }
  /** Makes the shipper ship now. */
  ask(): void
  admitMs: number
  durableMs: number
}

/** With DURABILITY=postgres: waits until Postgres has committed what is in the journal. */
export class Commits {
  readonly #options: CommitsOptions
  #waits = new CommitWaits()
  /** The length of the journal at the last request to the shipper. */
  #asked = 0
  /** Requests that were refused because Postgres did not commit their beginning. */
  readonly #refused = new WeakSet<OpenRecord>()
  #late = 0

  constructor(options: CommitsOptions) {
    this.#options = options
  }

  /** The number of answers that ended after `durableMs`, before Postgres had their rows. */
  get late(): number {
    return this.#late
  }

  /** Waits until the beginning of a request is committed. Rejects with `unavailable` after `admitMs`. */
  async opened(record: OpenRecord): Promise<void> {
    if (await this.#committed(this.#options.admitMs)) return
    this.#refused.add(record)
    throw gatewayError('recording_late', {}, { retryAfterSeconds: 5 })
  }

  /**
   * Waits until the row of a request is committed. A request refused because of a missing commit does not
   * wait again.
   */
  async closed(open: OpenRecord): Promise<void> {
    if (!this.#refused.delete(open)) await this.row()
  }

  /** Waits until everything written so far is committed, but at most `durableMs`. */
  async row(): Promise<void> {
    if (!(await this.#committed(this.#options.durableMs))) this.#late += 1
  }

  /** Must be called when more has been committed to Postgres. */
  reached(): void {
    this.#waits.reached(this.#options.progress().shipped)
  }

  /**
   * Must be called when a new journal is started, because it is unknown how much of the former one is in
   * Postgres.
   */
  beginAnew(): void {
    this.#waits.giveUp()
    this.#asked = 0
  }

  async #committed(withinMs: number): Promise<boolean> {
    const { written, shipped } = this.#options.progress()
    if (shipped >= written) return true
    if (this.#asked < written) this.#options.ask()
    this.#asked = written
    return await this.#waits.until(written, withinMs)
  }
}

/**
 * Waits until Postgres has the journal up to a length. `until` must be called with lengths that never
 * decrease.
 */
class CommitWaits {
  /** Ordered by length. */
  readonly #waits = new Set<Wait>()

  /**
   * Resolves with true once `reached` is called with `length` or more, and with false after `withinMs` or
   * when `giveUp` is called.
   */
  until(length: number, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isReached: boolean) => {
        clearTimeout(late)
        this.#waits.delete(wait)
        resolve(isReached)
      }
      const late = setTimeout(() => end(false), withinMs)
      const wait = { length, end }
      this.#waits.add(wait)
    })
  }

  giveUp(): void {
    for (const wait of this.#waits) wait.end(false)
  }

  reached(length: number): void {
    for (const wait of this.#waits) {
      if (wait.length > length) return
      wait.end(true)
    }
  }
}

interface Wait {
  length: number
  end(isReached: boolean): void
}
