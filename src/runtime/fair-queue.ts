/**
 * A queue with a separate line of items per owner. The owners take turns, so that an owner with many items
 * does not delay the others. No item is queued twice.
 */
export class FairQueue<T> {
  /** The first owner is next. */
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

  /**
   * Removes and returns the next item that is allowed to have its turn, or undefined if there is none. By
   * default all are allowed.
   */
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

  /** Removes an item out of turn. Returns false if it was not in the queue. */
  remove(owner: string, item: T): boolean {
    const line = this.#lines.get(owner)
    if (line?.delete(item) !== true) return false
    this.#size--
    if (line.size === 0) this.#lines.delete(owner)
    return true
  }
}
