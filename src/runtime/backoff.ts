/** Bounds of a pause that doubles, in the unit of what it returns. */
export interface Pauses {
  least: number
  most: number
}

/**
 * The pause after this number of failures in a row: `least` after the first, twice as long after each other
 * one, at most `most`. `asked`: the other side wants at least this.
 */
export function pauseAfter(failures: number, { least, most }: Pauses, asked = 0): number {
  return Math.min(Math.max(least * 2 ** Math.min(failures - 1, doublingsMax), asked), most)
}

/** Enough for any bounds. The factor stays finite, so that a `least` of 0 stays 0. */
const doublingsMax = 40

/** The pauses between attempts at one thing. */
export class Backoff {
  readonly #pauses: Pauses
  #failures = 0

  constructor(pauses: Pauses) {
    this.#pauses = pauses
  }

  /** The pause before the next try. */
  next(asked?: number): number {
    this.#failures++
    return pauseAfter(this.#failures, this.#pauses, asked)
  }

  /** A try has succeeded: the next pause is the shortest again. */
  reset(): void {
    this.#failures = 0
  }
}
