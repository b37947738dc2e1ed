import { gatewayError } from '../canonical/error.ts'
import type { OpenRecord } from './record.ts'

export interface CommitsOptions {
  /** Of the current journal. */
  progress(): { written: number; shipped: number }
  /** Have the shipper ship now. */
  ask(): void
  admitMs: number
  durableMs: number
}

/** With DURABILITY=postgres: the waits until Postgres has committed what is in the journal. */
export class Commits {
  readonly #options: CommitsOptions
  #waits = new CommitWaits()
  /** The length of the journal when the shipper was last asked. */
  #asked = 0
  /** Requests that were refused because Postgres did not commit their beginning. */
  readonly #refused = new WeakSet<OpenRecord>()
  #late = 0

  constructor(options: CommitsOptions) {
    this.#options = options
  }

  /** Answers that ended after `durableMs`, before Postgres had their rows. */
  get late(): number {
    return this.#late
  }

  /** Wait for the beginning of a request. Rejects `unavailable` after `admitMs`. */
  async opened(record: OpenRecord): Promise<void> {
    if (await this.#committed(this.#options.admitMs)) return
    this.#refused.add(record)
    throw gatewayError('recording_late', {}, { retryAfterSeconds: 5 })
  }

  /** Wait for the row of a request. One that was refused for want of Postgres does not wait again. */
  async closed(open: OpenRecord): Promise<void> {
    if (!this.#refused.delete(open)) await this.row()
  }

  /** Wait for what was written, for at most `durableMs`. */
  async row(): Promise<void> {
    if (!(await this.#committed(this.#options.durableMs))) this.#late += 1
  }

  /** Postgres has more than before. */
  reached(): void {
    this.#waits.reached(this.#options.progress().shipped)
  }

  /** The journal is another one: how much of the former one Postgres has is unknown. */
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

/** Waits until Postgres has a length of the journal. Call `until` with lengths that never decrease. */
class CommitWaits {
  /** In the order of their lengths. */
  readonly #waits = new Set<Wait>()

  /**
   * Resolves with true when `reached` was called with `length` or more, or with false after `withinMs` and by
   * `giveUp`.
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
