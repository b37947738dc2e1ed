import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { writeCloseFrame, writeOpenFrame } from '../journal/frame.ts'
import type { Journal } from '../journal/journal.ts'
import { claimJournalDirectory, journalDirectory } from '../journal/journal-directory.ts'
import { cannotRecord } from '../journal/journal-refusals.ts'
import type { CloseRecord, OpenRecord } from '../journal/record.ts'
import { TupleWriter } from '../journal/tuple.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import type { Log } from '../telemetry/log.ts'
import { Fence } from './fence.ts'
import { heartbeatMsMax, type Instance } from './instances.ts'
import type { LateFrames, Tail } from './succession.ts'

/**
 * Aborts the requests for which `isCut` is true, with this error. Their rows have the outcome `orphaned` or
 * their actual outcome.
 */
export type CutRequests = (isCut: (requestId: string) => boolean, error: GatewayError) => void

/**
 * Messages to the shipper thread. `check`: see `Fence`. `restored`: the deleted directory has been recreated.
 * `carried`: the new journal contains all frames of `carry`, which are from the journal of `instanceId`.
 */
export type FromOwner =
  | { type: 'check'; token: number }
  | ({ type: 'tail' } & Tail)
  | ({ type: 'late' } & LateFrames)
  | { type: 'restored' }
  | { type: 'carried'; instanceId: string }

export interface OwnershipOptions {
  /** The folder that contains all journals. */
  root: string
  directory: string
  instanceId: string
  instanceDeadMs: number
  /** The maximum wait for Postgres after a pause. */
  waitMs: number
  /** Opens a journal in this directory. */
  journalIn(directory: string): Journal
  post(message: FromOwner): void
  /** Called when a new journal replaces the current one. */
  onBegin(): void
  onCut: CutRequests
  onTrouble(message: string | undefined): void
  disk?: Disk
  clock: Clock
  log: Log
}

/** The interval of checks whether the directory still exists. */
const lookMs = 1_000

/**
 * The journal of this process throughout its life. A new journal is started if the process was taken for
 * dead, and the journal is rewritten if its directory is deleted. Requests that another process has recorded
 * as orphaned are aborted.
 */
export class Ownership {
  readonly #options: OwnershipOptions
  readonly instance: Instance
  readonly #fence: Fence
  readonly #timer: NodeJS.Timeout
  #journal: Journal
  /**
   * The requests running here that are recorded as orphaned, with the id that this process had at that time.
   */
  readonly #orphaned = new Map<string, string>()
  #succession: Handover | undefined
  #isDirectoryLost = false
  #late: LateFrames | undefined
  readonly #carrying: Promise<void>[] = []
  /** Requests with a lower id may be orphaned, because Postgres did not answer in time. */
  #doubtfulBefore = ''

  constructor(options: OwnershipOptions) {
    this.#options = options
    this.instance = { id: options.instanceId }
    this.#journal = options.journalIn(options.directory)
    const { instanceDeadMs } = options
    this.#fence = new Fence({
      // A frozen process can be adopted `instanceDeadMs` after its last heartbeat.
      pauseMs: Math.max(instanceDeadMs - 2 * heartbeatMsMax, instanceDeadMs / 2),
      waitMs: options.waitMs,
      clock: options.clock,
      ask: (token) => options.post({ type: 'check', token }),
      onUnanswered: (since) => {
        this.#doubtfulBefore = since
        options.onCut((id) => id < since, gatewayError('process_stalled', {}, { retryAfterSeconds: 1 }))
      },
    })
    this.#timer = setInterval(() => this.lookAtDirectory(), lookMs).unref()
  }

  get journal(): Journal {
    return this.#journal
  }

  get directory(): string {
    return journalDirectory(this.#options.root, this.instance.id)
  }

  /** See `Fence.doubtOf`. */
  doubtOf(requestId: string): Promise<void> | undefined {
    return this.#fence.doubtOf(requestId)
  }

  open(record: OpenRecord): Promise<void> {
    if (this.#isDirectoryLost) return Promise.reject(cannotRecord())
    const doubt = this.#fence.doubt()
    if (doubt === undefined) return this.#journal.open(record)
    // Copied because the caller reuses the memory.
    const kept = { ...record, body: record.body === null ? null : Buffer.from(record.body) }
    return doubt.then(() => this.#journal.open(kept))
  }

  /**
   * Rejects if another process has recorded the request as orphaned, because its client must not see a
   * successful end.
   */
  close(open: OpenRecord, record: CloseRecord): Promise<void> {
    const doubt = this.#fence.doubtOf(open.id)
    if (doubt === undefined && this.#orphaned.size === 0 && this.#succession === undefined)
      return this.#journal.close(open, record)
    return this.#closeInDoubt(open, record, doubt)
  }

  /**
   * Whether another process may have recorded the request as orphaned after this process, as `instance`, had
   * written its end. `requireOwn` must then be called.
   */
  isDoubtful(requestId: string, instance: string): boolean {
    return this.#fence.doubtOf(requestId) !== undefined || !this.#isOwn(requestId, instance)
  }

  /** Waits until that is known, and rejects if it may be so. */
  async requireOwn(requestId: string, instance: string): Promise<void> {
    await this.#fence.doubtOf(requestId)
    if (!this.#isOwn(requestId, instance)) throw gatewayError('process_stalled', {}, { retryAfterSeconds: 1 })
  }

  #isOwn(requestId: string, instance: string): boolean {
    return this.instance.id === instance && requestId >= this.#doubtfulBefore
  }

  async #closeInDoubt(open: OpenRecord, record: CloseRecord, doubt: Promise<void> | undefined) {
    await doubt
    const succession = this.#succession
    if (succession === undefined || open.id > succession.since) return this.#closeDecided(open, record)
    // It is not known in time whether the request is orphaned, so the client gets an error and the frame
    // waits.
    void succession.decided.promise.then(() => this.#closeDecided(open, record)).catch(() => {})
    throw gatewayError('process_stalled', {}, { retryAfterSeconds: 1 })
  }

  async #closeDecided(open: OpenRecord, record: CloseRecord): Promise<void> {
    const instance = this.#orphaned.get(open.id)
    if (instance === undefined) return this.#journal.close(open, record)
    this.#orphaned.delete(open.id)
    this.#setAside(instance, open, record)
    throw gatewayError('process_stalled', {}, { retryAfterSeconds: 1 })
  }

  /**
   * Called when another process has adopted the journal. Continues as `instanceId`, which is registered in
   * Postgres.
   */
  begin(instanceId: string): void {
    const { root, disk = systemDisk } = this.#options
    let directory: string | undefined
    let journal: Journal
    try {
      directory = claimJournalDirectory(root, instanceId, disk)
      journal = this.#options.journalIn(directory)
    } catch (error) {
      if (directory !== undefined) removeIfPossible(directory, disk)
      this.#options.log.error(
        { error: String(error) },
        'a new journal cannot be started; this will be retried',
      )
      setTimeout(() => this.begin(instanceId), lookMs).unref()
      return
    }
    const before = this.instance.id
    this.#options.log.error(
      { before, instance: instanceId },
      'this process was taken for dead and its journal adopted by another process; it continues with a new journal',
    )
    const old = this.#journal
    const { segments, carryTo } = old.leave()
    const since = this.#fence.raise()
    this.#succession = { old, before, carryTo, since, decided: Promise.withResolvers() }
    this.#journal = journal
    this.instance.id = instanceId
    this.#options.onBegin()
    this.#options.post({
      type: 'tail',
      segments: segments.map(({ number, fd, end }) => ({ number, fd, end })),
    })
  }

  /** Writes frames of the adopted journal that the adopter has not seen. */
  carry(frames: Uint8Array): void {
    this.#carrying.push(this.#journal.carry(Buffer.from(frames)))
  }

  /**
   * Called when the new journal contains everything that the adopter has not seen. `orphaned` lists requests
   * running here.
   */
  decide(orphaned: readonly string[]): void {
    const succession = this.#succession
    if (succession === undefined) return
    this.#succession = undefined
    for (const id of orphaned) this.#orphaned.set(id, succession.before)
    succession.carryTo(this.#journal)
    succession.decided.resolve()
    const journal = this.#journal
    void Promise.all(this.#carrying.splice(0))
      .then(() => this.#postCarried(succession.before, journal))
      .catch(() => {})
    void succession.old.end().catch(() => {})
    this.#options.onCut(
      (id) => this.#orphaned.has(id),
      gatewayError('process_stalled', {}, { retryAfterSeconds: 1 }),
    )
    this.#fence.end()
    this.#options.log.warn(
      { instance: this.instance.id, orphaned: orphaned.length },
      'this process continues; its running requests that were recorded as orphaned are aborted',
    )
  }

  /**
   * Frames that the disk has refused wait in memory. Until the disk accepts them, only the former journal
   * contains them. If that journal is adopted as well, they are carried over from it.
   */
  async #postCarried(instanceId: string, journal: Journal): Promise<void> {
    if (journal.progress.kept === 0) await journal.store()
    if (journal !== this.#journal) return
    if (journal.progress.kept === 0) this.#options.post({ type: 'carried', instanceId })
    else setTimeout(() => void this.#postCarried(instanceId, journal), lookMs).unref()
  }

  confirm(token: number): void {
    this.#fence.confirm(token)
  }

  /** Recreates the journal's directory if it was deleted. */
  lookAtDirectory(): void {
    if (!this.#journal.isGone()) return
    const { onTrouble, log } = this.#options
    try {
      const lostBytes = this.#journal.restore()
      log.error(
        { directory: this.directory, lostBytes },
        'the journal directory was deleted; it has been recreated, and the process continues',
      )
      if (this.#isDirectoryLost) onTrouble(undefined)
      this.#isDirectoryLost = false
      this.#options.post({ type: 'restored' })
    } catch (error) {
      this.#isDirectoryLost = true
      onTrouble(`The journal directory was deleted and cannot be recreated: ${error}`)
    }
  }

  /**
   * Writes what is left. The files stay open until `end`, because only then is it certain that no other
   * process has adopted the journal, which would have to be carried over.
   */
  async stop(): Promise<void> {
    clearInterval(this.#timer)
    this.#fence.stop()
    await this.#journal.store()
  }

  /** Must be called when the shipper has ended. */
  async end(): Promise<void> {
    clearInterval(this.#timer)
    this.#fence.stop()
    await this.#journal.end()
  }

  /** Collects the frames of one turn of the event loop, so that they are stored in one folder. */
  #setAside(instance: string, open: OpenRecord, record: CloseRecord): void {
    const out = new TupleWriter(1024)
    writeOpenFrame(out, { ...open, body: null })
    writeCloseFrame(out, open, record)
    const late = this.#late
    if (late === undefined) setImmediate(() => this.#postLate())
    this.#late = {
      instance,
      segment: lateSegment,
      at: late?.at ?? this.#options.clock.now(),
      bytes: Buffer.concat([late?.bytes ?? Buffer.alloc(0), out.written]),
      requests: (late?.requests ?? 0) + 1,
    }
  }

  #postLate(): void {
    if (this.#late !== undefined) this.#options.post({ type: 'late', ...this.#late })
    this.#late = undefined
  }
}

/**
 * Lasts from the first frame written to the new journal until Postgres has reported which requests are
 * orphaned.
 */
interface Handover {
  old: Journal
  before: string
  carryTo(next: Journal): void
  since: string
  decided: PromiseWithResolvers<void>
}

/** For frames that were never in a segment. */
const lateSegment = 99_999_999

/** The next attempt to start a journal creates another directory. */
function removeIfPossible(directory: string, disk: Disk): void {
  try {
    disk.rmSync(directory, { recursive: true, force: true })
  } catch {
    // The disk that refused the journal refuses this as well.
  }
}
