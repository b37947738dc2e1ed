import { setTimeout as sleep } from 'node:timers/promises'
import { causeOf } from '../canonical/error.ts'
import { Backoff } from '../runtime/backoff.ts'

/**
 * Retries writes that no client waits for until Postgres accepts them. After an outage they are written in
 * their original order.
 */
export class InsistentWrites {
  readonly #onOutage: (error: string) => void
  readonly #ended = new AbortController()
  readonly #running = new Set<Promise<void>>()
  /** Writes that Postgres has not accepted yet, oldest first. */
  readonly #untaken: Write[] = []
  #untakenBytes = 0
  #retrying: Promise<void> | undefined

  /** `onOutage` is called when an outage begins. */
  constructor(onOutage: (error: string) => void) {
    this.#onOutage = onOutage
  }

  /**
   * Resolves when Postgres has accepted the write, or after the first attempt. `write` must limit its own
   * duration, and can be called again, in which case the second call must change nothing. `bytes` is the
   * memory that the write holds. In a long outage at most 10000 writes or 256 MB are kept.
   */
  add(write: () => Promise<unknown>, bytes = 0): Promise<void> {
    const tried = this.#try(write).then((taken) => {
      this.#running.delete(tried)
      if (taken || this.#untaken.length >= untakenMax || this.#untakenBytes > untakenBytesMax) return
      this.#untaken.push({ run: write, bytes })
      this.#untakenBytes += bytes
      this.#retrying ??= this.#retry().finally(() => {
        this.#retrying = undefined
      })
    })
    this.#running.add(tried)
    return tried
  }

  /** Waits for running writes and retries failed ones once, for at most `deadlineMs`. */
  async end(deadlineMs: number): Promise<void> {
    this.#ended.abort()
    const written = Promise.all(this.#running).then(() => this.#retrying)
    await Promise.race([written, sleep(deadlineMs, undefined, { ref: false })])
  }

  async #try(run: Write['run']): Promise<boolean> {
    try {
      await run()
      return true
    } catch (error) {
      if (this.#untaken.length === 0) this.#onOutage(String(causeOf(error)))
      return false
    }
  }

  async #retry(): Promise<void> {
    const { signal } = this.#ended
    const pauses = new Backoff(retryMs)
    for (;;) {
      const isLast = signal.aborted
      await sleep(pauses.next(), undefined, { ref: false, signal }).catch(() => {})
      for (let write = this.#untaken[0]; write !== undefined; write = this.#untaken[0]) {
        if (!(await this.#try(write.run))) break
        this.#untaken.shift()
        this.#untakenBytes -= write.bytes
        pauses.reset()
      }
      if (this.#untaken.length === 0 || isLast) return
    }
  }
}

interface Write {
  run: () => Promise<unknown>
  bytes: number
}

const untakenMax = 10_000
const untakenBytesMax = 256 * 1024 * 1024
const retryMs = { least: 100, most: 2_000 }
