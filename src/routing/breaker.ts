export interface BreakerBounds {
  /** Failures in a row that open it. */
  breakerFailures: number
  /** For how long at first; doubled each time in a row, up to the next. */
  breakerOpenMs: number
  breakerOpenMsMax: number
}

/** It opens, too, when at least half of so many last calls failed, where so many were made within so long. */
const windowCalls = 20
const windowCallsLeast = 10
const windowMs = 60_000
/** Processes that open a breaker together shall not try the channel together. */
const jitter = 0.2

/**
 * What one process believes of one channel. Closed, its calls are counted; open, they are not, until a probe decides.
 * Moments are those of performance.now().
 */
export class Breaker {
  readonly #failed = new Uint8Array(windowCalls)
  readonly #at = new Float64Array(windowCalls)
  #next = 0
  #failuresInRow = 0
  /** Undefined: closed. */
  openUntil: number | undefined
  /** Times it opened in a row. */
  openings = 0
  /** What it failed with last, for people. */
  reason = ''
  /** Grows at every opening and closing: what a call of before came to says nothing any more. */
  epoch = 0
  usedAt = 0

  constructor() {
    this.#forget()
  }

  /** True: it is to open. */
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

/** How long a breaker stays open that opens for the so-and-so-manieth time in a row. */
export function openMsOf(
  { breakerOpenMs, breakerOpenMsMax }: BreakerBounds,
  openings: number,
  chance: () => number,
): number {
  const ms = Math.min(breakerOpenMs * 2 ** Math.min(openings - 1, 30), breakerOpenMsMax)
  return Math.ceil(ms * (1 + jitter * (chance() - 0.5)))
}
