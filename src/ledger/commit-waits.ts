/** Waits until Postgres has a length of the journal. Call `until` with lengths that never decrease. */
export class CommitWaits {
  /** In the order of their lengths. */
  readonly #waits = new Set<Wait>()

  /** Resolves with true when `reached` was called with `length` or more, or with false after `withinMs`. */
  until(length: number, withinMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const end = (isReached: boolean) => {
        clearTimeout(late)
        this.#waits.delete(wait)
        resolve(isReached)
      }
      const late = setTimeout(() => end(false), withinMs)
      const wait = { length, reached: () => end(true) }
      this.#waits.add(wait)
    })
  }

  reached(length: number): void {
    for (const wait of this.#waits) {
      if (wait.length > length) return
      wait.reached()
    }
  }
}

interface Wait {
  length: number
  reached(): void
}
