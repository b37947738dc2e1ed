/** Items that wait, with a queue for each owner. The owners take turns, so that the many items of one keep no other waiting. */
export class FairQueue<T> {
  /** The first owner is the next. */
  readonly #waiting = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  /** Items of one owner. */
  of(owner: string): number {
    return this.#waiting.get(owner)?.length ?? 0
  }

  add(owner: string, item: T): void {
    this.#size++
    const own = this.#waiting.get(owner)
    if (own === undefined) this.#waiting.set(owner, [item])
    else own.push(item)
  }

  /** Take the next item; undefined when nothing waits. */
  next(): T | undefined {
    for (const [owner, own] of this.#waiting) {
      const item = own.shift()
      this.#size--
      this.#waiting.delete(owner)
      // The owner's next turn comes after those of all others.
      if (own.length > 0) this.#waiting.set(owner, own)
      return item
    }
    return undefined
  }

  /** Take an item out of its turn. False: it does not wait. */
  remove(owner: string, item: T): boolean {
    const own = this.#waiting.get(owner) ?? []
    const at = own.indexOf(item)
    if (at === -1) return false
    own.splice(at, 1)
    this.#size--
    if (own.length === 0) this.#waiting.delete(owner)
    return true
  }
}
