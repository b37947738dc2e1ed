/** `place`: its index among the others; -1: it does not run. */
interface Running {
  place: number
}

/**
 * The requests that run now, in no order.
 *
 * An array and not a Set: V8 replaces the table of a full Set, and allocates the new table in the old generation where
 * the old one lived there. Entries of the full table then live until a full collection, which held nearly all requests.
 * https://chromium.googlesource.com/v8/v8/+/refs/heads/main/src/objects/ordered-hash-table.cc (Rehash)
 */
export class RunningRequests<T extends Running> {
  readonly #calls: T[] = []

  get size(): number {
    return this.#calls.length
  }

  add(call: T): void {
    call.place = this.#calls.push(call) - 1
  }

  /** Does nothing for one that does not run. */
  delete(call: T): void {
    const { place } = call
    if (place === -1) return
    call.place = -1
    const last = this.#calls.pop()
    if (last === undefined || last === call) return
    this.#calls[place] = last
    last.place = place
  }

  /** A copy: requests may end while the caller walks through it. */
  all(): readonly T[] {
    return this.#calls.slice()
  }
}
