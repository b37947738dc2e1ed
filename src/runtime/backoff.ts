/** The limits of a pause that doubles, in the unit of the returned value. */
export interface Pauses {
  least: number
  most: number
}

/**
 * Returns the pause after this number of consecutive failures: `least` after the first, then doubling up to
 * `most`. `asked` is the minimum pause requested by the other side.
 */
export function pauseAfter(failures: number, { least, most }: Pauses, asked = 0): number {
  return Math.min(Math.max(least * 2 ** Math.min(failures - 1, doublingsMax), asked), most)
}

/** Enough for any limits. The factor stays finite, so that a `least` of 0 remains 0. */
const doublingsMax = 40

/** The pauses between repeated attempts. */
export class Backoff {
  readonly #pauses: Pauses
  #failures = 0

  constructor(pauses: Pauses) {
    this.#pauses = pauses
  }

  /** Returns the pause before the next try. */
  next(asked?: number): number {
    this.#failures++
    return pauseAfter(this.#failures, this.#pauses, asked)
  }

  /** Resets the pause to the shortest after a success. */
  reset(): void {
    this.#failures = 0
  }
}
