import { FairQueue } from './fair-queue.ts'
import { RunningCounts } from './running-counts.ts'

/** An entry that runs or waits in a bulkhead. */
export interface BulkheadEntry {
  /** The tenant or key that owns it. If it is undefined, `perOwner` does not apply. */
  readonly owner?: string | undefined
  /** Called when its turn comes. It must not throw. */
  begin(): void
}

export interface BulkheadOptions {
  /** The maximum number of entries that run at once. */
  running: number
  /** The maximum number of entries that wait; unlimited by default. */
  waiting?: number
  /** The same limits per owner. An owner at its maximum lets others go first. */
  perOwner?: { running?: number; waiting?: number }
  /**
   * Which entry is next. With `turns`, the default, the owners take turns; with `arrival`, it is first come,
   * first served.
   */
  order?: 'turns' | 'arrival'
  /**
   * Creates the error for an entry that exceeds a limit. `all` means that no one can run or wait, `owner`
   * that the owner has reached its maximum of waiting entries. Both may be true.
   */
  refuse?(full: { all: boolean; owner: boolean }): Error
}

/**
 * Limits how many entries run at once and how many wait. It creates no promises; callers that need one use
 * `inTurn`.
 */
export class Bulkhead<E extends BulkheadEntry = BulkheadEntry> {
  readonly #options: BulkheadOptions
  readonly #running = new Set<E>()
  readonly #waiting = new FairQueue<E>()
  readonly #runningOf = new RunningCounts()
  readonly #waitingOf = new RunningCounts()

  constructor(options: BulkheadOptions) {
    this.#options = options
  }

  get running(): ReadonlySet<E> {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Throws the refusal if another entry of this owner can neither run nor wait. */
  requireRoom(owner?: string): void {
    if (this.#mayRun(owner)) return
    const { running, waiting = unbounded, perOwner, refuse } = this.#options
    const isFull = this.waiting >= waiting
    const isOwnFull = owner !== undefined && this.#waitingOf.of(owner) >= (perOwner?.waiting ?? unbounded)
    if (!isFull && !isOwnFull) return
    const full = { all: isFull && this.#running.size >= running, owner: isOwnFull }
    throw refuse?.(full) ?? new Error('too many entries are waiting')
  }

  /**
   * Starts the entry if there is a free place; otherwise the entry waits. Never refuses, so call
   * `requireRoom` first.
   */
  add(entry: E): void {
    if (this.#mayRun(entry.owner)) {
      this.#begin(entry)
      return
    }
    if (entry.owner !== undefined) this.#waitingOf.add(entry.owner)
    this.#waiting.add(this.#lineOf(entry), entry)
  }

  /** Ends an entry and starts the next one. Returns false if the entry was not running. */
  end(entry: E): boolean {
    if (!this.#running.delete(entry)) return false
    if (entry.owner !== undefined) this.#runningOf.remove(entry.owner)
    while (this.#running.size < this.#options.running) {
      const next = this.#waiting.next(({ owner }) => this.#mayRun(owner))
      if (next === undefined) break
      this.#waitsNoMore(next)
      this.#begin(next)
    }
    return true
  }

  /** Removes a waiting entry. Returns false if it was not waiting. */
  withdraw(entry: E): boolean {
    const waited = this.#waiting.remove(this.#lineOf(entry), entry)
    if (waited) this.#waitsNoMore(entry)
    return waited
  }

  /** Removes and returns all waiting entries in order. */
  withdrawAll(): E[] {
    const all: E[] = []
    for (let next = this.#waiting.next(); next !== undefined; next = this.#waiting.next()) all.push(next)
    for (const entry of all) this.#waitsNoMore(entry)
    return all
  }

  #mayRun(owner: string | undefined): boolean {
    const { running, perOwner } = this.#options
    if (this.#running.size >= running) return false
    return owner === undefined || this.#runningOf.of(owner) < (perOwner?.running ?? unbounded)
  }

  #begin(entry: E): void {
    this.#running.add(entry)
    if (entry.owner !== undefined) this.#runningOf.add(entry.owner)
    entry.begin()
  }

  #waitsNoMore({ owner }: E): void {
    if (owner !== undefined) this.#waitingOf.remove(owner)
  }

  #lineOf({ owner = '' }: E): string {
    return this.#options.order === 'arrival' ? '' : owner
  }
}

/**
 * Runs work when its turn comes. Rejects with the refusal of the bulkhead, or with the signal's reason if it
 * aborts first.
 */
export async function inTurn<T>(
  bulkhead: Bulkhead,
  work: () => Promise<T>,
  { owner, signal }: { owner?: string; signal?: AbortSignal } = {},
): Promise<T> {
  signal?.throwIfAborted()
  bulkhead.requireRoom(owner)
  const { promise: turn, resolve, reject } = Promise.withResolvers<void>()
  const entry = { owner, begin: resolve }
  const leave = () => {
    if (bulkhead.withdraw(entry)) reject(signal?.reason)
  }
  signal?.addEventListener('abort', leave)
  bulkhead.add(entry)
  try {
    await turn
    return await work()
  } finally {
    signal?.removeEventListener('abort', leave)
    bulkhead.end(entry)
  }
}

const unbounded = Number.POSITIVE_INFINITY
