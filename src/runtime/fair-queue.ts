/**
 * Items that wait, with a line for each owner. The owners take turns, so that the many items of one keep no
 * other waiting. No item waits twice.
 */
export class FairQueue<T> {
  /** The first owner is the next. */
  readonly #lines = new Map<string, Set<T>>()
  #size = 0

  get size(): number {
    return this.#size
  }

  add(owner: string, item: T): void {
    this.#size++
    const line = this.#lines.get(owner)
    if (line === undefined) this.#lines.set(owner, new Set([item]))
    else line.add(item)
  }

  /** Take the next item that may have its turn; undefined when none may. Default: any may. */
  next(may: (item: T) => boolean = () => true): T | undefined {
    for (const [owner, line] of this.#lines) {
      for (const item of line) {
        if (!may(item)) continue
        this.remove(owner, item)
        // The owner's next turn comes after those of all others.
        if (this.#lines.delete(owner)) this.#lines.set(owner, line)
        return item
      }
    }
    return undefined
  }

  /** Take an item out of its turn. False: it does not wait. */
  remove(owner: string, item: T): boolean {
    const line = this.#lines.get(owner)
    if (line?.delete(item) !== true) return false
    this.#size--
    if (line.size === 0) this.#lines.delete(owner)
    return true
  }
}
