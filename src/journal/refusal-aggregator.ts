import type { Clock } from '../runtime/clock.ts'
import type { CloseRecord, OpenRecord } from './record.ts'

const windowMs = 60_000
const writeIntervalMs = 1_000
/**
 * The maximum number of callers that are counted separately. Further callers share one count per kind of
 * error.
 */
const callersMax = 10_000

export interface RefusalAggregatorOptions {
  /**
   * The number of rows that are written individually for each caller and kind of error. Further ones are
   * aggregated.
   */
  rowsPerMinute: number
  /** If false, all rows are aggregated and wait in memory. */
  mayWrite(): boolean
  write(open: OpenRecord, close: CloseRecord): Promise<void>
  clock: Clock
}

/** A caller's refusals with one kind of error. */
interface Caller {
  /** Whether several callers share this count. */
  shared: boolean
  windowEndsAt: number
  rows: number
  /** The refusals since the last write. A single row, made from the newest of them, represents all. */
  aggregated: { open: OpenRecord; close: CloseRecord; count: number } | undefined
}

/**
 * Limits the rows that a flood of refused calls writes to the usage log. A caller is a key, or an address
 * without a key. Its first rows in each minute are written individually. The others are combined into one row
 * per second, with their count.
 */
export class RefusalAggregator {
  readonly #options: RefusalAggregatorOptions
  readonly #callers = new Map<string, Caller>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: RefusalAggregatorOptions) {
    this.#options = options
  }

  add(open: OpenRecord, close: CloseRecord): Promise<void> {
    const caller = this.#callerOf(
      `${open.keyId ?? open.clientAddress} ${close.error?.kind}`,
      close.error?.kind,
    )
    caller.rows += 1
    const { rowsPerMinute, mayWrite, write } = this.#options
    if (caller.rows <= rowsPerMinute && mayWrite()) return write(open, close)
    const owner = caller.shared ? { tenantId: null, keyId: null, groupId: null } : {}
    caller.aggregated = {
      open: { ...open, ...owner, body: null },
      close,
      count: (caller.aggregated?.count ?? 0) + 1,
    }
    this.#writeLater()
    return Promise.resolve()
  }

  /** Writes all aggregated rows, even if `mayWrite` returns false. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writeAggregated()
  }

  #callerOf(name: string, kind: string | undefined): Caller {
    const now = this.#options.clock.elapsed()
    const known = this.#callers.get(name)
    if (known !== undefined && now < known.windowEndsAt) return known
    if (known?.aggregated !== undefined) return known
    this.#forgetEnded(now)
    const key = known === undefined && this.#callers.size >= callersMax ? `* ${kind}` : name
    const shared = this.#callers.get(key)
    if (shared !== undefined && (now < shared.windowEndsAt || shared.aggregated !== undefined)) return shared
    const caller: Caller = {
      shared: key !== name,
      windowEndsAt: now + windowMs,
      rows: 0,
      aggregated: undefined,
    }
    this.#callers.set(key, caller)
    return caller
  }

  #forgetEnded(now: number): void {
    if (this.#callers.size < callersMax) return
    for (const [name, caller] of this.#callers) {
      if (now >= caller.windowEndsAt && caller.aggregated === undefined) this.#callers.delete(name)
    }
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#options.mayWrite()) void this.#writeAggregated()
      else this.#writeLater()
    }, writeIntervalMs).unref()
  }

  async #writeAggregated(): Promise<void> {
    const writing: Promise<void>[] = []
    for (const caller of this.#callers.values()) {
      if (caller.aggregated === undefined) continue
      const { open, close, count } = caller.aggregated
      caller.aggregated = undefined
      writing.push(this.#options.write(open, { ...close, folded: count }))
    }
    await Promise.all(writing)
  }
}
