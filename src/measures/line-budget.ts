const windowMs = 1_000

/** Lets so many lines of each second pass, and tells at its end how many it has left out. */
export class LineBudget {
  readonly #perSecond: number
  readonly #onLeftOut: (lines: number) => void
  #taken = 0
  #leftOut = 0
  #window: NodeJS.Timeout | undefined

  constructor(perSecond: number, onLeftOut: (lines: number) => void) {
    this.#perSecond = perSecond
    this.#onLeftOut = onLeftOut
  }

  /** False: write no line. */
  take(): boolean {
    this.#window ??= setTimeout(() => this.#end(), windowMs).unref()
    if (this.#taken < this.#perSecond) {
      this.#taken++
      return true
    }
    this.#leftOut++
    return false
  }

  #end(): void {
    this.#window = undefined
    this.#taken = 0
    const leftOut = this.#leftOut
    this.#leftOut = 0
    if (leftOut > 0) this.#onLeftOut(leftOut)
  }
}
