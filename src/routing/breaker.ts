import { pauseAfter } from '../runtime/backoff.ts'

export interface BreakerBounds {
  /** The number of consecutive failures that opens the breaker. */
  breakerFailures: number
  /**
   * How long the first opening lasts, in ms. The time doubles with each consecutive opening, up to
   * `breakerOpenMsMax`.
   */
  breakerOpenMs: number
  breakerOpenMsMax: number
  /**
   * The breaker also opens if `breakerFailures` calls are waiting and none has been answered or has ended for
   * this time, in ms.
   */
  breakerSilenceMs: number
}

/**
 * The breaker also opens if half of the last `windowCalls` calls failed and at least `windowCallsLeast` of
 * them were within `windowMs`.
 */
const windowCalls = 20
const windowCallsLeast = 10
const windowMs = 60_000
/** Spreads the probes of processes that opened a breaker at the same moment. */
const jitter = 0.2

/**
 * The breaker of one channel in one process. It counts calls only while it is closed; while it is open, a
 * probe decides. Times are those of `Clock.elapsed`.
 */
export class Breaker {
  readonly #failed = new Uint8Array(windowCalls)
  readonly #at = new Float64Array(windowCalls)
  #next = 0
  #failuresInRow = 0
  /** Undefined while the breaker is closed. */
  openUntil: number | undefined
  /** When the first of the consecutive openings began. */
  openedAt = 0
  /** The number of consecutive openings. */
  openings = 0
  /** The last failure, for display. */
  reason = ''
  /** Incremented on each opening and closing. Calls that began in an earlier epoch are ignored. */
  epoch = 0

  constructor() {
    this.#forget()
  }

  /** Returns whether the breaker must open now. */
  countFailure({ breakerFailures }: BreakerBounds, now: number): boolean {
    this.#count(1, now)
    this.#failuresInRow++
    return this.#failuresInRow >= breakerFailures || this.#failsByHalf(now)
  }

  countLife(now: number): void {
    this.#count(0, now)
    this.#failuresInRow = 0
  }

  open(forMs: number, openings: number, reason: string, now: number): void {
    if (this.openUntil === undefined) this.openedAt = now
    this.openUntil = now + forMs
    this.openings = openings
    this.reason = reason
    this.epoch++
  }

  close(): void {
    this.openUntil = undefined
    this.openings = 0
    this.epoch++
    this.#forget()
  }

  #count(failed: 0 | 1, now: number): void {
    this.#failed[this.#next] = failed
    this.#at[this.#next] = now
    this.#next = (this.#next + 1) % windowCalls
  }

  #failsByHalf(now: number): boolean {
    let calls = 0
    let failures = 0
    for (let i = 0; i < windowCalls; i++) {
      if ((this.#at[i] ?? 0) < now - windowMs) continue
      calls++
      failures += this.#failed[i] ?? 0
    }
    return calls >= windowCallsLeast && failures * 2 >= calls
  }

  #forget(): void {
    this.#failuresInRow = 0
    this.#at.fill(Number.NEGATIVE_INFINITY)
  }
}

/**
 * Returns how long the breaker stays open, in ms. The time doubles with each consecutive opening, up to
 * `breakerOpenMsMax`, with 10 % jitter.
 */
export function openMsOf(
  { breakerOpenMs, breakerOpenMsMax }: BreakerBounds,
  openings: number,
  chance: () => number,
): number {
  const ms = pauseAfter(openings, { least: breakerOpenMs, most: breakerOpenMsMax })
  return Math.ceil(ms * (1 + jitter * (chance() - 0.5)))
}
