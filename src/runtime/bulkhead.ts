import { FairQueue } from './fair-queue.ts'
import { RunningCounts } from './running-counts.ts'

/** What takes a place in a bulkhead. */
export interface BulkheadEntry {
  /** The tenant or key that it belongs to. Undefined: `perOwner` does not bound it. */
  readonly owner?: string | undefined
  /** Its turn has come. It must not throw. */
  begin(): void
}

export interface BulkheadOptions {
  /** Most that run at once. */
  running: number
  /** Most that wait. Default: no bound. */
  waiting?: number
  /** The same of one owner. An owner at its maximum lets others go first. */
  perOwner?: { running?: number; waiting?: number }
  /** Who is next. `turns`, the default: the owners take turns. `arrival`: first come, first served. */
  order?: 'turns' | 'arrival'
  /**
   * The error for one too many. `all`: neither a place nor room to wait is left for anyone. `owner`: as many
   * of the owner wait as may. Both may be true.
   */
  refuse?(full: { all: boolean; owner: boolean }): Error
}

/**
 * Bounds how many run at once and how many wait for a place. It makes no promise: `inTurn` is for callers
 * that want one.
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

  /** Throws the refusal when one more entry of this owner can neither run nor wait. */
  requireRoom(owner?: string): void {
    if (this.#mayRun(owner)) return
    const { running, waiting = unbounded, perOwner, refuse } = this.#options
    const isFull = this.waiting >= waiting
    const isOwnFull = owner !== undefined && this.#waitingOf.of(owner) >= (perOwner?.waiting ?? unbounded)
    if (!isFull && !isOwnFull) return
    const full = { all: isFull && this.#running.size >= running, owner: isOwnFull }
    throw refuse?.(full) ?? new Error('too many wait')
  }

  /** Begin it at once where there is a place; else it waits. Never refuses: ask `requireRoom` first. */
  add(entry: E): void {
    if (this.#mayRun(entry.owner)) {
      this.#begin(entry)
      return
    }
    if (entry.owner !== undefined) this.#waitingOf.add(entry.owner)
    this.#waiting.add(this.#lineOf(entry), entry)
  }

  /** An entry has ended, and the next one begins. False: it did not run. */
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

  /** An entry no longer waits. False: it did not. */
  withdraw(entry: E): boolean {
    const waited = this.#waiting.remove(this.#lineOf(entry), entry)
    if (waited) this.#waitsNoMore(entry)
    return waited
  }

  /** Take out all that wait, in their order. */
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
 * Do work when its turn has come. Rejects with the refusal of the bulkhead, and with the reason of the signal
 * when it aborts before the turn.
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
