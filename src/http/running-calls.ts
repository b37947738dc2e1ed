/** Something that runs, and where it stands among the others; -1: it does not run. */
interface Running {
  place: number
}

/**
 * What runs now, in no order. Not a Set: V8 puts a new table in the place of a full one, and where that had grown old, the
 * new one is made in the old generation too. What stood in a full table then lives until a whole collection, and of
 * requests that were nearly all of them.
 * https://chromium.googlesource.com/v8/v8/+/refs/heads/main/src/objects/ordered-hash-table.cc (Rehash)
 */
export class RunningCalls<T extends Running> {
  readonly #calls: T[] = []

  get size(): number {
    return this.#calls.length
  }

  add(call: T): void {
    call.place = this.#calls.push(call) - 1
  }

  /** Of one that does not run, nothing happens. */
  delete(call: T): void {
    const { place } = call
    if (place === -1) return
    call.place = -1
    const last = this.#calls.pop()
    if (last === undefined || last === call) return
    this.#calls[place] = last
    last.place = place
  }

  /** Those that run now, whatever becomes of them meanwhile. */
  all(): readonly T[] {
    return this.#calls.slice()
  }
}
