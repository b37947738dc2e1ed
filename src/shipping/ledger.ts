import { hostname } from 'node:os'
import { join } from 'node:path'
import { AnswerCapture } from '../journal/answer-capture.ts'
import { Commits } from '../journal/commits.ts'
import { Journal } from '../journal/journal.ts'
import { claimJournalDirectory } from '../journal/journal-directory.ts'
import type { CloseRecord, OnRow, OpenRecord } from '../journal/record.ts'
import { RefusalAggregator } from '../journal/refusal-aggregator.ts'
import { SharedRuns } from '../journal/shared-runs.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import { startThread } from '../runtime/start-thread.ts'
import type { Log } from '../telemetry/log.ts'
import { type Adoption, noAdoption } from './adoption.ts'
import type { JournalProgress } from './backlog.ts'
import type { Durability, Instance } from './instances.ts'
import { type CutRequests, Ownership } from './ownership.ts'
import type { FromShipper, ShipperData, ToShipper } from './shipper-messages.ts'

export interface LedgerOptions {
  dataDir: string
  databaseUrl: string
  instanceId: string
  durability: Durability
  sync: 'process' | 'disk'
  bounds: {
    durableMs: number
    journalSegmentBytes: number
    journalBytesMax: number
    journalAlarmBytes: number
    journalKeepMs: number
    journalKeepBytesMax: number
    shipIntervalMs: number
    shipBatchBytes: number
    shipOnQueryMs: number
    admitMs: number
    instanceDeadMs: number
    upstreamTotalMs: number
    unauthenticatedRowsPerMinute: number
  }
  disk?: Disk
  /** Starts the thread of the shipper. */
  startThread?(script: URL, options: { workerData: ShipperData }): Thread
  clock: Clock
  log: Log
  /**
   * Aborts requests that are running here but were recorded as orphaned by another process that took this one
   * for dead.
   */
  onCut: CutRequests
  /**
   * Called for all rows, before they are aggregated, including those that this process writes for other
   * processes.
   */
  onRow?: OnRow | undefined
  /** `orphans` are the ids of the latter. */
  onAdopted?: ((rows: { journals: 0 | 1; orphans: readonly string[] }) => void) | undefined
}

/**
 * The minimum time between two calls to all processes, because each costs every process a notification, a
 * shipment and an answer.
 */
const callsApartMs = 50

/**
 * The usage log for the rest of the process: `open` must be called before anything is sent upstream, and
 * `close` exactly once. Each record is written to a journal file at once, and a thread ships the journal to
 * Postgres.
 */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #ownership: Ownership
  readonly #refusals: RefusalAggregator
  readonly #data: Omit<ShipperData, 'instanceId' | 'isAway'>
  #worker: Thread
  #workerExit: Promise<void> = Promise.resolve()
  #nextToken = 1
  #waiting = new Map<number, () => void>()
  /** Undefined with DURABILITY=journal. */
  readonly #commits: Commits | undefined
  /** The captured answers on their way to Postgres. Nothing waits for them. */
  readonly answers: AnswerCapture
  readonly #ownShips: SharedRuns
  readonly #callsToAll: SharedRuns
  #postgresAway: string | undefined
  #trouble: string | undefined
  #adoption = noAdoption
  #rows = 0
  #alarmed = false
  #ending: Promise<void> | undefined

  static start(options: LedgerOptions): Ledger {
    const root = join(options.dataDir, 'journal')
    return new Ledger(options, claimJournalDirectory(root, options.instanceId, options.disk))
  }

  private constructor(options: LedgerOptions, directory: string) {
    this.#options = options
    const { bounds, disk = systemDisk, clock, log } = options
    const root = join(options.dataDir, 'journal')
    const onTrouble = (message: string | undefined) => this.#noteTrouble(message)
    this.#ownership = new Ownership({
      root,
      directory,
      instanceId: options.instanceId,
      instanceDeadMs: bounds.instanceDeadMs,
      waitMs: bounds.admitMs,
      journalIn: (directory) =>
        new Journal({
          directory,
          sync: options.sync,
          segmentBytes: bounds.journalSegmentBytes,
          bytesMax: bounds.journalBytesMax,
          disk,
          onTrouble,
          onLost: (rows) =>
            log.error(
              { rows },
              'rows are lost: the disk did not accept them, and the memory for waiting rows is full',
            ),
        }),
      post: (message) => this.#post(message),
      onBegin: () => this.#commits?.beginAnew(),
      onCut: options.onCut,
      onTrouble,
      disk,
      clock,
      log,
    })
    this.#refusals = new RefusalAggregator({
      rowsPerMinute: options.bounds.unauthenticatedRowsPerMinute,
      mayWrite: () => !this.#journal.overfull,
      write: (open, close) => this.#writeRow(open, close),
      clock,
    })
    this.#commits =
      options.durability === 'journal'
        ? undefined
        : new Commits({
            progress: () => this.#journal.progress,
            ask: () => this.#post({ type: 'commit' }),
            ...bounds,
          })
    this.answers = new AnswerCapture({
      directory: () => this.#ownership.directory,
      journal: () => this.health(),
      bounds,
      disk,
      clock,
      log,
    })
    this.#data = {
      root,
      durability: options.durability,
      databaseUrl: options.databaseUrl,
      pid: process.pid,
      intervalMs: options.bounds.shipIntervalMs,
      batchBytes: options.bounds.shipBatchBytes,
      instanceDeadMs: options.bounds.instanceDeadMs,
      instanceLostMs: options.bounds.instanceDeadMs + options.bounds.upstreamTotalMs,
      onQueryMs: options.bounds.shipOnQueryMs,
      keepMs: options.bounds.journalKeepMs,
      keepBytesMax: options.bounds.journalKeepBytesMax,
    }
    const { shipOnQueryMs } = bounds
    this.#ownShips = new SharedRuns({ apartMs: 0, run: (since) => this.#ship('own', since), clock })
    this.#callsToAll = new SharedRuns({
      // A caller spends at most half of its waiting time on the pause between two calls.
      apartMs: Math.min(callsApartMs, shipOnQueryMs / 2),
      run: (since) => this.#ship('everyone', since),
      clock,
    })
    this.#worker = this.#startWorker()
  }

  /** This process as registered in Postgres. Its id changes if another process takes this one for dead. */
  get instance(): Readonly<Instance> {
    return this.#ownership.instance
  }

  get #journal(): Journal {
    return this.#ownership.journal
  }

  /**
   * If defined, this process may have been taken for dead and this request recorded as orphaned, so nothing
   * may be sent for it until the promise resolves. `onCut` is called before that. Undefined if there is no
   * doubt.
   */
  doubtOf(requestId: string): Promise<void> | undefined {
    return this.#ownership.doubtOf(requestId)
  }

  /**
   * Throws `unavailable` if a request could not be opened now. Should be called before costly work that
   * precedes `open`.
   */
  requireRoom(): void {
    const refusal = this.#journal.refusal()
    if (refusal !== undefined) throw refusal
  }

  /**
   * Writes the beginning of a request. Rejects with `unavailable` if that fails; the request then has no row
   * yet.
   */
  open(record: OpenRecord): Promise<void> {
    this.#watchSize()
    return this.#ownership.open(record)
  }

  /**
   * Waits until the beginning of a request is as durable as DURABILITY requires. Nothing may be sent upstream
   * before that. Rejects with `unavailable` after `admitMs`, in which case `close` must be called for the
   * request. Returns a promise only where it has to wait.
   */
  opened(record: OpenRecord): Promise<void> | undefined {
    return this.#commits?.opened(record)
  }

  /**
   * Writes the end of a request, which completes its row. Must be awaited before the last byte is sent to the
   * client. Rejects with `unavailable` if the row cannot match what the client would see; the answer must
   * then end with this error.
   */
  async close(open: OpenRecord, record: CloseRecord): Promise<void> {
    this.#rows += 1
    this.#options.onRow?.(open, record)
    const doubt = this.doubtOf(open.id)
    if (doubt !== undefined) await doubt
    const { id } = this.instance
    await this.#ownership.close(open, record)
    if (this.#commits !== undefined) await this.#commits.closed(open)
    // The process may have been frozen since the frame was written.
    if (this.#ownership.isDoubtful(open.id, id)) await this.#ownership.requireOwn(open.id, id)
  }

  /**
   * Writes a row for a request that was not admitted. While the journal is overfull, such rows are
   * aggregated.
   */
  async refuse(open: OpenRecord, record: CloseRecord): Promise<void> {
    this.#options.onRow?.(open, record)
    // A row that releases a reservation must be written on its own.
    const isAggregated = this.#journal.overfull && open.reservedAccountId === null
    await (isAggregated ? this.#refusals.add(open, record) : this.#writeRow(open, record))
    // Nothing was sent upstream and nothing was spent, so this does not wait while Postgres is down.
    if (this.#postgresAway === undefined) await this.#commits?.row()
  }

  /**
   * Writes a row for a caller without a valid key. Beyond `unauthenticatedRowsPerMinute`, such rows are
   * aggregated.
   */
  async refuseUnknown(open: OpenRecord, record: CloseRecord): Promise<void> {
    this.#options.onRow?.(open, record)
    await this.#refusals.add(open, record)
    if (this.#postgresAway === undefined) await this.#commits?.row()
  }

  /**
   * Ships all frames that this process has written so far. Resolves with false if Postgres is down or
   * shipping takes longer than `shipOnQueryMs`; the usage log is then behind.
   */
  shipNow(): Promise<boolean> {
    return this.#ownShips.join()
  }

  /**
   * Like `shipNow`, for the frames of all processes. Calls begin `callsApartMs` apart, and callers in between
   * share the next one. A process that has died makes only the first call resolve with false.
   */
  shipAll(): Promise<boolean> {
    return this.#callsToAll.join()
  }

  health(): LedgerHealth {
    return {
      journalBytes: this.#journal.bytes,
      postgresAway: this.#postgresAway,
      trouble: this.#trouble,
      lateCommits: this.#commits?.late ?? 0,
    }
  }

  /** How far Postgres is behind. */
  get progress(): JournalProgress {
    return { ...this.#journal.progress, rows: this.#rows }
  }

  /** The journals of dead processes that this process is adopting. */
  get adoption(): Adoption {
    return this.#adoption
  }

  /**
   * Writes and ships the remaining frames, for at most `deadlineMs`. Frames left after that stay on disk for
   * another process.
   */
  end(deadlineMs: number): Promise<void> {
    this.#ending ??= this.#end(deadlineMs)
    return this.#ending
  }

  async #end(deadlineMs: number): Promise<void> {
    await this.#refusals.end()
    await this.#ownership.stop()
    this.answers.end()
    this.#post({ type: 'end', deadlineMs })
    const late = setTimeout(() => void this.#worker.terminate(), deadlineMs + 2_000)
    await this.#workerExit
    clearTimeout(late)
    await this.#ownership.end()
  }

  #writeRow(open: OpenRecord, record: CloseRecord): Promise<void> {
    this.#rows += 1
    return this.#journal.row(open, record)
  }

  #ship(scope: 'own' | 'everyone', since: number): Promise<boolean> {
    const token = this.#nextToken++
    return new Promise<boolean>((resolve) => {
      const { bounds, clock } = this.#options
      const leftMs = since + bounds.shipOnQueryMs - clock.elapsed()
      const late = setTimeout(() => settle(false), leftMs)
      const settle = (shipped: boolean) => {
        clearTimeout(late)
        this.#waiting.delete(token)
        resolve(shipped)
      }
      this.#waiting.set(token, () => settle(true))
      this.#post({ type: 'ship', token, everyone: scope === 'everyone' })
    })
  }

  #startWorker(): Thread {
    const start = this.#options.startThread ?? startThread
    const worker = start(new URL('./shipper.ts', import.meta.url), {
      workerData: {
        ...this.#data,
        instanceId: this.instance.id,
        isAway: this.#postgresAway !== undefined,
      } satisfies ShipperData,
    })
    worker.unref()
    worker.on('message', (message: FromShipper) => this.#onMessage(message))
    worker.on('error', (error) =>
      this.#options.log.error({ error: String(error) }, 'shipper thread failed; starting another'),
    )
    this.#workerExit = new Promise((resolve) => worker.on('exit', () => resolve()))
    worker.on('exit', () => {
      if (this.#ending !== undefined) return
      setTimeout(() => {
        if (this.#ending === undefined) this.#worker = this.#startWorker()
      }, 500).unref()
    })
    return worker
  }

  #onMessage(message: FromShipper): void {
    const { log } = this.#options
    switch (message.type) {
      case 'shipped':
        this.#waiting.get(message.token)?.()
        return
      case 'position':
        this.#journal.shippedTo(message.position)
        this.#commits?.reached()
        if (this.#journal.bytes < this.#options.bounds.journalAlarmBytes / 2) this.#alarmed = false
        return
      case 'answers':
        this.answers.shippedTo(message.position)
        return
      case 'adopted':
        this.#options.onAdopted?.({
          journals: message.instance === undefined ? 0 : 1,
          orphans: message.orphans,
        })
        if (message.instance === undefined) return
        log.info(
          { instance: message.instance, orphans: message.orphans.length },
          'adopted the journal of a dead process',
        )
        return
      case 'adoption':
        this.#adoption = message.adoption
        return
      case 'away':
        this.#postgresAway = message.message
        log.warn(
          { reason: message.message },
          'the journal cannot be shipped: it grows until Postgres accepts it',
        )
        return
      case 'back':
        this.#postgresAway = undefined
        log.info({}, 'Postgres accepts the journal again')
        return
      case 'live':
        this.#ownership.confirm(message.token)
        return
      case 'gone':
        this.#ownership.lookAtDirectory()
        return
      case 'fenced':
        this.#ownership.begin(message.instanceId)
        return
      case 'carry':
        this.#ownership.carry(message.frames)
        return
      case 'decided':
        this.#ownership.decide(message.orphaned)
        return
      case 'log':
        log[message.level](message.fields, message.message)
        return
    }
  }

  #watchSize(): void {
    if (this.#alarmed || this.#journal.bytes < this.#options.bounds.journalAlarmBytes) return
    this.#alarmed = true
    this.#options.log.error(
      { journalBytes: this.#journal.bytes, bytesMax: this.#options.bounds.journalBytesMax, host: hostname() },
      'the journal is growing: Postgres does not accept its rows fast enough',
    )
  }

  #noteTrouble(message: string | undefined): void {
    if (message === this.#trouble) return
    if (message === undefined) this.#options.log.info({}, 'the journal can be written again')
    else if (this.#trouble === undefined)
      this.#options.log.error({ reason: message }, 'the journal cannot be written')
    this.#trouble = message
  }

  #post(message: ToShipper): void {
    this.#worker.postMessage(message)
  }
}

/** What the ledger needs of a thread. */
export interface Thread {
  postMessage(message: ToShipper): void
  on(event: 'message', listener: (message: FromShipper) => void): unknown
  on(event: 'error', listener: (error: unknown) => void): unknown
  on(event: 'exit', listener: () => void): unknown
  unref(): void
  terminate(): Promise<unknown>
}

/** The state of the journal, for operators. */
interface LedgerHealth {
  journalBytes: number
  /** Why Postgres cannot be reached; undefined if it answers. */
  postgresAway: string | undefined
  /** Why the journal cannot be written; undefined if it can. */
  trouble: string | undefined
  /**
   * With DURABILITY=postgres: the number of answers that were sent after `durableMs`, before Postgres had
   * their rows.
   */
  lateCommits: number
}
