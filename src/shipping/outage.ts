import { Backoff, pauseAfter } from '../runtime/backoff.ts'

export interface OutageOptions {
  /** Whether `onBegin` has been called for an outage that began earlier. */
  isOn: boolean
  instanceDeadMs: number
  onBegin(message: string): void
  onEnd(): void
}

const reconnectMs = { least: 100, most: 2_000 }
/**
 * The limits for the time that a statement can take. After it, the shipper closes the connection and opens
 * another. The time doubles after each timeout.
 */
const answerMs = { least: 1_000, most: 300_000 }

/** Whether Postgres accepts rows, and how patiently the shipper asks it while it does not. */
export class Outage {
  readonly #options: OutageOptions
  readonly #pauses = new Backoff(reconnectMs)
  #isOn: boolean
  /** The number of statement timeouts in this outage. */
  #timeouts = 0
  /** Short enough to reconnect before other processes take this one for dead. */
  readonly queryTimeoutLeastMs: number

  constructor(options: OutageOptions) {
    this.#options = options
    this.#isOn = options.isOn
    this.queryTimeoutLeastMs = Math.max(answerMs.least, Math.ceil(options.instanceDeadMs / 3))
  }

  get queryTimeoutMs(): number {
    return pauseAfter(this.#timeouts + 1, { least: this.queryTimeoutLeastMs, most: answerMs.most })
  }

  /** Postgres has not answered, or has refused. */
  note(error: unknown): void {
    if (!this.#isOn) this.#options.onBegin(String(error))
    this.#isOn = true
    if (String(error).includes('Query read timeout')) this.#timeouts++
  }

  /** The pause before the next attempt. Each is longer than the one before. */
  nextPauseMs(): number {
    return this.#pauses.next()
  }

  /** Postgres has accepted all rows that it was given. */
  end(): void {
    if (this.#isOn) this.#options.onEnd()
    this.#isOn = false
    this.#timeouts = 0
    this.#pauses.reset()
  }
}
