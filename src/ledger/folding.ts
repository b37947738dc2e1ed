import type { CloseRecord, OpenRecord } from './record.ts'

const windowMs = 60_000
const foldMs = 1_000
/** Addresses watched at once; a flood from more than these shares one count per kind of error. */
const addressesMax = 10_000

interface Watched {
  windowEndsAt: number
  rows: number
  /** The rows folded since the last write: the newest one stands for all. */
  folded: { open: OpenRecord; close: CloseRecord; count: number } | undefined
}

/**
 * Keeps a flood of unauthenticated calls from filling the usage log: each address gets its first rows of a
 * minute one by one, the rest as one counted row a second.
 */
export class Folding {
  readonly #rowsPerMinute: number
  readonly #write: (open: OpenRecord, close: CloseRecord) => Promise<void>
  readonly #watched = new Map<string, Watched>()
  #timer: NodeJS.Timeout | undefined

  constructor(rowsPerMinute: number, write: (open: OpenRecord, close: CloseRecord) => Promise<void>) {
    this.#rowsPerMinute = rowsPerMinute
    this.#write = write
  }

  add(open: OpenRecord, close: CloseRecord): Promise<void> {
    const watched = this.#watch(`${open.clientAddress} ${close.error?.kind}`, close.error?.kind)
    watched.rows += 1
    if (watched.rows <= this.#rowsPerMinute) return this.#write(open, close)
    watched.folded = { open: { ...open, body: null }, close, count: (watched.folded?.count ?? 0) + 1 }
    this.#timer ??= setTimeout(() => void this.#writeFolded(), foldMs).unref()
    return Promise.resolve()
  }

  /** Write what is folded so far. */
  async end(): Promise<void> {
    clearTimeout(this.#timer)
    await this.#writeFolded()
  }

  #watch(name: string, kind: string | undefined): Watched {
    const now = Date.now()
    const known = this.#watched.get(name)
    if (known !== undefined && now < known.windowEndsAt) return known
    if (known?.folded !== undefined) return known
    this.#forget(now)
    const key = known === undefined && this.#watched.size >= addressesMax ? `* ${kind}` : name
    const shared = this.#watched.get(key)
    if (shared !== undefined && now < shared.windowEndsAt) return shared
    const watched: Watched = { windowEndsAt: now + windowMs, rows: 0, folded: undefined }
    this.#watched.set(key, watched)
    return watched
  }

  #forget(now: number): void {
    if (this.#watched.size < addressesMax) return
    for (const [name, watched] of this.#watched) {
      if (now >= watched.windowEndsAt && watched.folded === undefined) this.#watched.delete(name)
    }
  }

  async #writeFolded(): Promise<void> {
    this.#timer = undefined
    const writing: Promise<void>[] = []
    for (const watched of this.#watched.values()) {
      if (watched.folded === undefined) continue
      const { open, close, count } = watched.folded
      watched.folded = undefined
      writing.push(this.#write(open, { ...close, folded: count }))
    }
    await Promise.all(writing)
  }
}
