import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../runtime/clock.ts'
import { matches } from './matches.ts'
import { type NamesOf, namesFor } from './names-queries.ts'
import { type NewRows, newRows, type TailPlace, tailSizes, watchRows } from './new-rows-queries.ts'
import type { LogFilter, LogRow } from './row-tests.ts'
import type { AskLog } from './walk.ts'

/** What a tail receives from one search. */
export interface TailBatch {
  rows: readonly LogRow[]
  names: NamesOf
  /** The number of new matching rows that were left out of `rows` because there were too many. */
  dropped: number
  /** The `from` of a later tail that continues after this batch. */
  place: TailPlace
}

interface Tail {
  filter: LogFilter
  matches(row: LogRow): boolean
  /** Where the tail begins; undefined means now. Cleared once it has received the rows that it had missed. */
  from: TailPlace | undefined
  take(batch: TailBatch): void
  /** Called when no rows can be found (any longer), and with true when they can again. */
  state(isBack: boolean): void
  end(): void
  /** Its `state` was told that no rows can be found. */
  isAway: boolean
}

/**
 * Follows the usage log for all tails of a process, with one search every half second while there are tails.
 * A row is found once, when it becomes visible, whichever process wrote it and whenever its request began.
 */
export class LogTail {
  readonly #ask: AskLog
  readonly #isDraining: () => boolean
  readonly #clock: Clock
  readonly #tails = new Set<Tail>()
  #running: Promise<void> | undefined
  #watchedAt = Number.NEGATIVE_INFINITY

  constructor(ask: AskLog, isDraining: () => boolean, clock: Clock) {
    this.#ask = ask
    this.#isDraining = isDraining
    this.#clock = clock
  }

  /**
   * `filter` must contain ids, as returned by `withIds`. Returns a function that ends the tail. Never throws:
   * while Postgres is down, which `state` is told, no rows arrive; they follow afterwards.
   */
  follow(filter: LogFilter, how: Pick<Tail, 'from' | 'take' | 'state' | 'end'>): () => void {
    const tail: Tail = { ...how, filter, matches: matches(filter), isAway: false }
    this.#tails.add(tail)
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return () => this.#tails.delete(tail)
  }

  async #run(): Promise<void> {
    let place: TailPlace | undefined
    const sizes: Sizes[] = []
    while (this.#tails.size > 0 && !this.#isDraining()) {
      // Postgres may be unavailable between two searches. The next one continues where the last one ended.
      const next = await this.#search(place, sizes).catch(() => undefined)
      this.#tell(next !== undefined)
      place = next ?? place
      await sleep(everyMs, undefined, { ref: false })
    }
    if (!this.#isDraining()) return
    for (const { end } of this.#tails) end()
    this.#tails.clear()
  }

  #tell(isBack: boolean): void {
    for (const tail of this.#tails) {
      if (tail.isAway !== isBack) continue
      tail.isAway = !isBack
      tail.state(isBack)
    }
  }

  async #search(place: TailPlace | undefined, sizes: Sizes[]): Promise<TailPlace> {
    // New tails receive what they have missed up to `found.snapshot`, and all later rows together with the
    // other tails.
    const tails = [...this.#tails]
    if (this.#clock.elapsed() - this.#watchedAt > watchMs) {
      await this.#ask((sql) => watchRows(sql), terms)
      this.#watchedAt = this.#clock.elapsed()
    }
    const now = await this.#ask((sql) => tailSizes(sql), terms)
    const begin = place ?? { snapshot: now.snapshot, blocks: now.sizes }
    const from = { ...begin, blocks: blocksFrom(begin, now.sizes) }
    const found = await this.#ask((sql) => newRows(sql, from, { most: rowsMax }), terms)
    const next = { snapshot: found.snapshot, blocks: blocksAfter(sizes, now.sizes, this.#clock.elapsed()) }
    for (const tail of tails) {
      try {
        await this.#give(tail, await this.#rowsOf(tail, found, from, next, now.sizes), next)
        tail.from = undefined
      } catch {
        // The next search repeats this range for this tail only.
        tail.from ??= from
      }
    }
    return next
  }

  /**
   * Returns what the common search found, unless this tail started elsewhere or its rows may be among those
   * left out because there were too many.
   */
  async #rowsOf(
    { from, filter }: Tail,
    found: NewRows,
    begin: TailPlace,
    { snapshot: until }: TailPlace,
    sizes: Readonly<Record<string, number>>,
  ): Promise<NewRows> {
    const isWhole = found.count === found.rows.length || filter.conditions.length === 0
    if (from === undefined && isWhole) return found
    const place = from === undefined ? begin : { ...from, blocks: blocksFrom(from, sizes) }
    return await this.#ask((sql) => newRows(sql, place, { until, filter, most: rowsMax }), terms)
  }

  async #give(tail: Tail, { rows, count }: NewRows, place: TailPlace): Promise<void> {
    const matching = rows.filter((row) => tail.matches(row))
    const kept = matching.slice(-shownMax)
    const dropped = count - rows.length + matching.length - kept.length
    if (kept.length === 0 && dropped === 0) return
    const names = await this.#ask((sql) => namesFor(sql, kept), terms)
    tail.take({ rows: kept, names, dropped, place })
  }
}

type Sizes = { at: number; blocks: Readonly<Record<string, number>> }

/**
 * Where the next search begins. Blocks that existed a while ago are full, except for the last of them: a
 * transaction writes its rows before it commits, and Postgres extends a table by several blocks at once,
 * which are filled in any order.
 */
function blocksAfter(
  sizes: Sizes[],
  blocks: Readonly<Record<string, number>>,
  now: number,
): Record<string, number> {
  sizes.push({ at: now, blocks })
  while ((sizes[1]?.at ?? now) < now - settledMs) sizes.shift()
  const settled = sizes[0]?.blocks ?? {}
  return Object.fromEntries(
    Object.keys(blocks).map((name) => [name, Math.max(0, (settled[name] ?? 0) - blocksBehind)]),
  )
}

/** Where a search begins in each partition. A new partition has no earlier rows. */
function blocksFrom({ blocks }: TailPlace, sizes: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(sizes).map(([name, size]) => [name, startOf(blocks[name] ?? 0, size)]),
  )
}

/** Limits how much of a partition a search reads, even for a tail that returns after hours. */
function startOf(block: number, size: number): number {
  return Math.max(0, Math.min(block, size - blocksBehind), size - blocksMax)
}

const everyMs = 500
/** The interval between two statements, each of which makes rows be recorded for ten minutes. */
const watchMs = 15_000
const settledMs = 10_000
const blocksBehind = 256
/** 64 MiB, in blocks. */
const blocksMax = 8_192
/** The maximum number of rows of a search. */
const rowsMax = 1_000
/** The maximum number of rows of a search that a tail receives. */
const shownMax = 100
const terms = { withinMs: 5_000, signal: undefined }
