import type { CloseRecord, OpenRecord } from './record.ts'

const windowMs = 60_000
const foldMs = 1_000
/** Callers watched at once; a flood from more than these shares one count per kind of error. */
const callersMax = 10_000

export interface FoldingOptions {
  /** Of one caller and one kind of error; what comes beyond it is folded. */
  rowsPerMinute: number
  /** While it says no, all rows are folded and kept in memory. */
  mayWrite(): boolean
  write(open: OpenRecord, close: CloseRecord): Promise<void>
}

interface Watched {
  /** Of no caller in particular. */
  shared: boolean
  windowEndsAt: number
  rows: number
  /** The rows folded since the last write: the newest one stands for all. */
  folded: { open: OpenRecord; close: CloseRecord; count: number } | undefined
}

/**
 * Keeps a flood of refused calls from filling the usage log: each caller, by key or else by address, gets its first
 * rows of a minute one by one, the rest as one counted row a second.
 */
export class Folding {
  readonly #options: FoldingOptions
  readonly #watched = new Map<string, Watched>()
  #timer: NodeJS.Timeout | undefined

  constructor(options: FoldingOptions) {
    this.#options = options
  }

  add(open: OpenRecord, close: CloseRecord): Promise<void> {
    const watched = this.#watch(`${open.keyId ?? open.clientAddress} ${close.error?.kind}`, close.error?.kind)
    watched.rows += 1
    const { rowsPerMinute, mayWrite, write } = this.#options
    if (watched.rows <= rowsPerMinute && mayWrite()) return write(open, close)
    const whose = watched.shared ? { tenantId: null, keyId: null, groupId: null } : {}
    watched.folded = {
      open: { ...open, ...whose, body: null },
      close,
      count: (watched.folded?.count ?? 0) + 1,
    }
    this.#writeLater()
    return Promise.resolve()
  }

  /** Write what is folded so far, whether or not it may be written. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writeFolded()
  }

  #watch(name: string, kind: string | undefined): Watched {
    const now = performance.now()
    const known = this.#watched.get(name)
    if (known !== undefined && now < known.windowEndsAt) return known
    if (known?.folded !== undefined) return known
    this.#forget(now)
    const key = known === undefined && this.#watched.size >= callersMax ? `* ${kind}` : name
    const shared = this.#watched.get(key)
    if (shared !== undefined && (now < shared.windowEndsAt || shared.folded !== undefined)) return shared
    const watched: Watched = {
      shared: key !== name,
      windowEndsAt: now + windowMs,
      rows: 0,
      folded: undefined,
    }
    this.#watched.set(key, watched)
    return watched
  }

  #forget(now: number): void {
    if (this.#watched.size < callersMax) return
    for (const [name, watched] of this.#watched) {
      if (now >= watched.windowEndsAt && watched.folded === undefined) this.#watched.delete(name)
    }
  }

  #writeLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      if (this.#options.mayWrite()) void this.#writeFolded()
      else this.#writeLater()
    }, foldMs).unref()
  }

  async #writeFolded(): Promise<void> {
    const writing: Promise<void>[] = []
    for (const watched of this.#watched.values()) {
      if (watched.folded === undefined) continue
      const { open, close, count } = watched.folded
      watched.folded = undefined
      writing.push(this.#options.write(open, { ...close, folded: count }))
    }
    await Promise.all(writing)
  }
}
