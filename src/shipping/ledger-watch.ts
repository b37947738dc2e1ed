import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { journalNamed } from '../journal/journal-directory.ts'
import { setAsidePrefix } from '../journal/set-aside.ts'
import { isSetAside } from '../journal/set-aside-folders.ts'
import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { Adoption } from './adoption.ts'
import { Backlog, type JournalProgress } from './backlog.ts'

export interface LedgerWatchOptions {
  dataDir: string
  ledger: {
    readonly progress: JournalProgress
    readonly adoption: Adoption
    health(): { journalBytes: number }
  }
  /**
   * How far the journals of other processes have been shipped to Postgres, by process. Rejects if Postgres
   * does not answer.
   */
  othersPositions(): Promise<ReadonlyMap<string, string>>
  bounds: { ledgerLagMsMax: number; journalBytesMax: number }
  clock: Clock
  log: Log
}

/**
 * `degraded`: rows of this process have been waiting for longer than `ledgerLagMsMax` and, as far as this
 * process can tell, those of other processes too. `lagging`: only those of this process. `near_bound`: the
 * journal is nearly full.
 */
export type LedgerStatus = 'ready' | 'degraded' | 'lagging' | 'near_bound'

/** What a process knows about its ledger without querying Postgres. */
export interface LedgerState {
  status: LedgerStatus
  unshipped: { rows: number; bytes: number; oldestMs: number }
  /**
   * Whether Postgres accepts the rows of other processes. Undefined if Postgres was not queried, because no
   * row has waited long.
   */
  others: 'moving' | 'standing' | undefined
  /** The instances whose journals are in the folder of this process. */
  journals: readonly string[]
  adoption: Adoption
  /** The ids of the frames that were set aside in that folder. */
  setAside: readonly string[]
}

/** The share of its limit from which a journal counts as nearly full. */
const nearBound = 0.9
const lookMsMax = 1_000
const pollMsMax = 5_000
const listMs = 5_000

/**
 * Watches how far Postgres is behind this process, and raises the alarm once. It reads counters and file
 * names of this process. Only while rows wait for long does it query Postgres, in the background, about the
 * progress of other processes.
 */
export class LedgerWatch {
  readonly #options: LedgerWatchOptions
  readonly #backlog: Backlog
  readonly #timer: NodeJS.Timeout
  #positions: ReadonlyMap<string, string> | undefined
  #movedAt = Number.NEGATIVE_INFINITY
  #polledAt = Number.NEGATIVE_INFINITY
  #listedAt = Number.NEGATIVE_INFINITY
  #names: readonly string[] = []
  #isAlarmed = false

  constructor(options: LedgerWatchOptions) {
    this.#options = options
    this.#backlog = new Backlog(this.#options.clock.elapsed())
    this.#timer = setInterval(() => this.look(), Math.min(lookMsMax, this.#lagMsMax / 10)).unref()
    this.look()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** Checks the journal. Called by the timer. */
  look(): void {
    const now = this.#options.clock.elapsed()
    this.#backlog.look(this.#options.ledger.progress, now)
    const ageMs = this.#backlog.ageMs(now)
    if (ageMs <= this.#lagMsMax / 2) this.#positions = undefined
    else if (now - this.#polledAt >= this.#pollMs) {
      this.#polledAt = now
      void this.#poll()
    }
    if (now - this.#listedAt >= listMs) {
      this.#listedAt = now
      void this.#list()
    }
    this.#raise(ageMs)
  }

  state(): LedgerState {
    const now = this.#options.clock.elapsed()
    this.#backlog.look(this.#options.ledger.progress, now)
    const { bytes, rows } = this.#backlog
    const oldestMs = Math.round(this.#backlog.ageMs(now))
    const others = this.#others(now)
    return {
      status: this.#status(oldestMs, others),
      unshipped: { rows, bytes, oldestMs },
      others,
      journals: this.#names.flatMap((name) => journalNamed(name) ?? []),
      adoption: this.#options.ledger.adoption,
      setAside: this.#names.filter(isSetAside).map((name) => name.slice(setAsidePrefix.length)),
    }
  }

  get #lagMsMax(): number {
    return this.#options.bounds.ledgerLagMsMax
  }

  get #pollMs(): number {
    return Math.min(pollMsMax, this.#lagMsMax / 10)
  }

  #status(oldestMs: number, others: LedgerState['others']): LedgerStatus {
    const { ledger, bounds } = this.#options
    if (ledger.health().journalBytes >= nearBound * bounds.journalBytesMax) return 'near_bound'
    if (oldestMs <= bounds.ledgerLagMsMax) return 'ready'
    return others === 'moving' ? 'lagging' : 'degraded'
  }

  #others(now: number): LedgerState['others'] {
    if (now - this.#movedAt < 3 * this.#pollMs) return 'moving'
    return this.#backlog.ageMs(now) <= this.#lagMsMax / 2 ? undefined : 'standing'
  }

  async #poll(): Promise<void> {
    const before = this.#positions
    try {
      const positions = await this.#options.othersPositions()
      this.#positions = positions
      const hasMoved = [...positions].some(([instance, at]) => before?.get(instance) !== at)
      if (before !== undefined && hasMoved) this.#movedAt = this.#options.clock.elapsed()
    } catch {
      // Postgres is down, so no process can make progress.
    }
  }

  async #list(): Promise<void> {
    this.#names = await readdir(join(this.#options.dataDir, 'journal')).catch(() => [])
  }

  #raise(ageMs: number): void {
    const { log } = this.#options
    const isLate = ageMs > this.#lagMsMax
    if (isLate === this.#isAlarmed) return
    this.#isAlarmed = isLate
    if (!isLate) {
      log.info({}, 'Postgres has caught up with the rows of this process')
      return
    }
    const { rows, bytes } = this.#backlog
    log.error(
      { oldestMs: Math.round(ageMs), rows, bytes, others: this.#others(this.#options.clock.elapsed()) },
      'rows of this process wait for Postgres for longer than LEDGER_LAG_MS_MAX',
    )
  }
}
