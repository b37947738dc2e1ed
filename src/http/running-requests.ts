/** `place` is its index in the array; -1 when it is not running. */
interface Running {
  place: number
}

/**
 * The requests that are running, in no particular order.
 *
 * This is an array rather than a Set because V8 replaces the table of a full Set, and allocates the new table
 * in the old generation if the old one was there. The entries of the old table then survive until a full
 * collection, which kept nearly all requests in memory.
 * https://chromium.googlesource.com/v8/v8/+/refs/heads/main/src/objects/ordered-hash-table.cc (Rehash)
 */
export class RunningRequests<T extends Running> {
  readonly #requests: T[] = []

  get size(): number {
    return this.#requests.length
  }

  add(request: T): void {
    request.place = this.#requests.push(request) - 1
  }

  /** Does nothing for a request that is not running. */
  delete(request: T): void {
    const { place } = request
    if (place === -1) return
    request.place = -1
    const last = this.#requests.pop()
    if (last === undefined || last === request) return
    this.#requests[place] = last
    last.place = place
  }

  /** A copy, because requests may end during the iteration. */
  all(): readonly T[] {
    return this.#requests.slice()
  }
}
