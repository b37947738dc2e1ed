import { pauseAfter } from '../runtime/backoff.ts'

export interface BreakerBounds {
  /** Consecutive failures that open the breaker. */
  breakerFailures: number
  /** Time of the first opening, in ms. It doubles with each opening in a row, up to `breakerOpenMsMax`. */
  breakerOpenMs: number
  breakerOpenMsMax: number
  /**
   * It opens when `breakerFailures` calls are waiting and none was answered or ended for this time, in ms.
   */
  breakerSilenceMs: number
}

/**
 * It also opens when half of the last `windowCalls` calls failed, if at least `windowCallsLeast` are within
 * `windowMs`.
 */
const windowCalls = 20
const windowCallsLeast = 10
const windowMs = 60_000
/** Spreads the probes of processes that open a breaker at the same moment. */
const jitter = 0.2

/**
 * The breaker of one channel in one process. While it is closed, it counts calls. While it is open, it counts
 * none: a probe decides. Times are those of `Clock.elapsed`.
 */
export class Breaker {
  readonly #failed = new Uint8Array(windowCalls)
  readonly #at = new Float64Array(windowCalls)
  #next = 0
  #failuresInRow = 0
  /** Undefined: the breaker is closed. */
  openUntil: number | undefined
  /** When it opened first, of these openings. */
  openedAt = 0
  /** Openings in a row. */
  openings = 0
  /** The last failure, for people. */
  reason = ''
  /** Grows with each opening and closing. A call that began in an older epoch decides nothing. */
  epoch = 0

  constructor() {
    this.#forget()
  }

  /** True: the breaker must open now. */
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
 * Time the breaker stays open, in ms. It doubles with each opening in a row, up to `breakerOpenMsMax`, with
 * 10 % jitter.
 */
export function openMsOf(
  { breakerOpenMs, breakerOpenMsMax }: BreakerBounds,
  openings: number,
  chance: () => number,
): number {
  const ms = pauseAfter(openings, { least: breakerOpenMs, most: breakerOpenMsMax })
  return Math.ceil(ms * (1 + jitter * (chance() - 0.5)))
}
