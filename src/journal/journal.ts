import { join } from 'node:path'
import { type GatewayError, gatewayError } from '../canonical/error.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import { writeCloseFrame, writeOpenFrame } from './frame.ts'
import type { JournalPosition } from './journal-reader.ts'
import { cannotRecord } from './journal-refusals.ts'
import type { CloseRecord, OpenRecord } from './record.ts'
import { type Segment, SegmentFiles } from './segment-files.ts'
import { TupleWriter } from './tuple.ts'

export interface JournalOptions {
  /** The directory of this process, from claimJournalDirectory. */
  directory: string
  sync: 'process' | 'disk'
  segmentBytes: number
  /** From this size on, the journal admits no new requests, and stores refusals without their bodies. */
  bytesMax: number
  /** Called when writing or syncing begins to fail and when it works again. */
  onTrouble(message: string | undefined): void
  /**
   * Called with the number of rows that were lost because the disk did not accept them and the memory for
   * waiting rows was full.
   */
  onLost?(rows: number): void
  disk?: Disk
}

const syncIntervalMs = 10
const retryMs = 200
/**
 * The size of the ballast file. The journal deletes it when the disk is full, which makes room to close
 * running requests.
 */
const ballastBytes = 1024 * 1024
/** The maximum bytes of guaranteed frames that wait in memory for the disk. Further frames are lost. */
const unwrittenBytesMax = 64 * 1024 * 1024
/** With `sync: 'disk'`: how long the end of a request waits for a failing disk before it rejects. */
const closeWaitMs = 5_000

type Pending = PromiseWithResolvers<void>

/** The frames of one turn of the event loop, and the promises of their callers. */
interface Turn {
  /** Frames that open a request. They may be refused. */
  opens: Pending | undefined
  /** Frames that end a request. Like rows, they are guaranteed. */
  closes: Pending | undefined
  rows: Pending | undefined
  /** The starts and ends of the guaranteed frames within the turn's bytes. */
  spans: number[]
}

/** Guaranteed frames that are not on disk yet. */
interface Kept {
  bytes: Buffer[]
  closes: Pending | undefined
}

/** A turn that waits for the disk, with `sync: 'disk'`. */
interface AwaitingSync extends Kept {
  segment: Segment
  opens: Pending | undefined
  rows: Pending | undefined
}

/**
 * The append-only file in front of the ledger. One synchronous write stores all frames of one turn of the
 * event loop, which then survive the death of this process. An fdatasync every 10 ms limits the loss in a
 * power failure; with `sync: 'disk'`, each call waits for it.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #disk: Disk
  readonly #files: SegmentFiles
  readonly #out = new TupleWriter(1024 * 1024)
  #turn: Turn | undefined
  #syncTimer: NodeJS.Timeout | undefined
  /** Another sync must follow the running one. */
  #isSyncWanted = false
  #syncing: Promise<void> | undefined
  #awaitingSync: AwaitingSync[] = []
  /** Guaranteed frames that wait for the disk. */
  #kept: Kept[] = []
  #keptBytes = 0
  #lost = 0
  /** A sync has failed, and none has succeeded in a new segment since. */
  #syncFailed = false
  #hasRotated = false
  #retry: NodeJS.Timeout | undefined
  #isRetrying = false
  #closed = false

  constructor(options: JournalOptions) {
    this.#options = options
    const { directory, segmentBytes, disk = systemDisk } = options
    this.#disk = disk
    this.#files = new SegmentFiles({ directory, segmentBytes, disk })
    if (!this.#writeBallast()) this.#waitForDisk('no room for the ballast file')
  }

  /** The number of bytes on disk that have been written but not shipped yet. */
  get bytes(): number {
    return this.#files.bytes
  }

  /** `written` includes `kept`, the bytes that wait in memory for the disk and cannot have been shipped. */
  get progress(): SegmentFiles['progress'] & { kept: number } {
    const { written, shipped } = this.#files.progress
    return { written: written + this.#keptBytes, shipped, kept: this.#keptBytes }
  }

  /**
   * True at twice the limit, where even refusals must wait. The journal then only accepts frames that end
   * running requests.
   */
  get overfull(): boolean {
    return this.bytes >= 2 * this.#options.bytesMax
  }

  /** Postgres has everything before this position. The position goes back if Postgres has lost rows. */
  shippedTo(position: JournalPosition): void {
    this.#files.shippedTo(position)
  }

  /** Why no request can be opened now; undefined if one can. */
  refusal(): GatewayError | undefined {
    if (this.bytes >= this.#options.bytesMax)
      return gatewayError('journal_full', {}, { retryAfterSeconds: 5 })
    return this.#retry === undefined ? undefined : cannotRecord()
  }

  /**
   * Writes the beginning of a request. Rejects with `unavailable` if that fails, in which case nothing may be
   * sent upstream.
   */
  open(record: OpenRecord): Promise<void> {
    const refusal = this.refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return this.#append('opens', () => writeOpenFrame(this.#out, record))
  }

  /**
   * Writes the end of a request. While the disk fails, the frame waits in memory. Does not reject because of
   * a failing disk, unless each call waits for the disk: then it rejects with `unavailable` after a while.
   */
  close(open: OpenRecord, record: CloseRecord): Promise<void> {
    return this.#append('closes', () => writeCloseFrame(this.#out, open, record))
  }

  /** Writes a whole row, for a request that was not admitted. Never rejects because of a failing disk. */
  row(open: OpenRecord, record: CloseRecord): Promise<void> {
    const kept = this.bytes < this.#options.bytesMax ? open : { ...open, body: null }
    return this.#append('rows', () => {
      writeOpenFrame(this.#out, kept)
      writeCloseFrame(this.#out, kept, record)
    })
  }

  /** Writes frames of another journal. */
  carry(frames: Buffer): Promise<void> {
    return this.#append('rows', () => this.#out.copy(frames, 0, frames.length))
  }

  /** Whether the directory of this journal has been deleted. */
  isGone(): boolean {
    return !this.#closed && this.#files.isGone()
  }

  /** Like `SegmentFiles.restore`. */
  restore(): number {
    const lost = this.#files.restore()
    this.#writeBallast()
    this.#scheduleSync()
    return lost
  }

  /**
   * Stops writing. The caller reads the segments, passes the journal that follows to `carryTo`, and calls
   * `end`. `carryTo` moves the frames that the disk has not accepted.
   */
  leave(): { segments: readonly Segment[]; carryTo(next: Journal): void } {
    this.#flush()
    clearInterval(this.#retry)
    this.#retry = undefined
    const kept = this.#kept.splice(0)
    return {
      segments: this.#files.all,
      carryTo: (next) => {
        for (const { bytes, closes } of kept)
          void next.carry(Buffer.concat(bytes)).then(closes?.resolve, closes?.reject)
      },
    }
  }

  /** Writes all waiting frames and waits for the disk. The files stay open. */
  async store(): Promise<void> {
    this.#flush()
    if (this.#kept.length > 0) this.#writeKept()
    await this.#syncing
    await this.#sync()
  }

  /** Writes all waiting frames, waits for the disk, and closes the files. */
  async end(): Promise<void> {
    this.#flush()
    clearInterval(this.#retry)
    if (this.#kept.length > 0) this.#writeKept()
    this.#closed = true
    await this.#syncing
    await this.#sync()
    await this.#files.end()
    this.#disk.rmSync(this.#ballastPath(), { force: true })
  }

  #append(kind: 'opens' | 'closes' | 'rows', write: () => void): Promise<void> {
    const start = this.#out.length
    try {
      write()
    } catch (error) {
      // A partly written frame would hide all later frames.
      this.#out.length = start
      return Promise.reject(error)
    }
    if (this.#turn === undefined) {
      this.#turn = { opens: undefined, closes: undefined, rows: undefined, spans: [] }
      setImmediate(() => this.#flush())
    }
    if (kind !== 'opens') this.#turn.spans.push(start, this.#out.length)
    this.#turn[kind] ??= Promise.withResolvers()
    return this.#turn[kind].promise
  }

  #flush(): void {
    const turn = this.#turn
    if (turn === undefined) return
    this.#turn = undefined
    const bytes = this.#out.written
    this.#out.length = 0
    const failure = this.#mustWait ? cannotRecord() : this.#writeOrFreeBallast(bytes)
    if (failure !== undefined) {
      turn.opens?.reject(failure)
      turn.rows?.resolve()
      this.#keep({ bytes: copyOf(bytes, turn.spans), closes: turn.closes })
    } else if (this.#isDiskAwaited) {
      const { opens, closes, rows, spans } = turn
      this.#awaitingSync.push({
        segment: this.#files.current,
        bytes: copyOf(bytes, spans),
        opens,
        closes,
        rows,
      })
    } else {
      for (const pending of [turn.opens, turn.closes, turn.rows]) pending?.resolve()
    }
    this.#scheduleSync()
    if (this.#files.isFull) this.#rotate()
  }

  get #isDiskAwaited(): boolean {
    return this.#options.sync === 'disk'
  }

  /** New frames must come after waiting ones, and must not be written to a file that cannot be synced. */
  get #mustWait(): boolean {
    return this.#kept.length > 0 || (this.#isDiskAwaited && this.#syncFailed)
  }

  /** Keeps guaranteed frames until the disk accepts them. */
  #keep({ bytes, closes }: Kept): void {
    const fitting: Buffer[] = []
    for (const frame of bytes) {
      if (this.#keptBytes > unwrittenBytesMax) this.#lost += 1
      else fitting.push(frame)
      this.#keptBytes += this.#keptBytes > unwrittenBytesMax ? 0 : frame.length
    }
    if (!this.#isDiskAwaited) closes?.resolve()
    else if (closes !== undefined) {
      const late = setTimeout(() => closes.reject(cannotRecord()), closeWaitMs).unref()
      void closes.promise.then(
        () => clearTimeout(late),
        () => {},
      )
    }
    if (fitting.length > 0) this.#kept.push({ bytes: fitting, closes })
  }

  #writeOrFreeBallast(bytes: Buffer): GatewayError | undefined {
    const failure = this.#files.write(bytes)
    if (failure === undefined) return undefined
    this.#disk.rmSync(this.#ballastPath(), { force: true })
    this.#waitForDisk(String(failure))
    return this.#files.write(bytes) === undefined ? undefined : cannotRecord(failure)
  }

  /**
   * Stops admitting requests until the ballast fits on the disk again, because running requests need that
   * space to end.
   */
  #waitForDisk(why: string): void {
    this.#options.onTrouble(`The journal cannot be written: ${why}`)
    this.#retry ??= setInterval(() => void this.#tryAgain(), retryMs).unref()
  }

  async #tryAgain(): Promise<void> {
    if (this.#isRetrying) return
    this.#isRetrying = true
    const isBack = await this.#recover()
    this.#isRetrying = false
    if (this.#lost > 0) this.#options.onLost?.(this.#lost)
    this.#lost = 0
    if (!isBack || this.#closed) return
    clearInterval(this.#retry)
    this.#retry = undefined
    this.#hasRotated = false
    this.#options.onTrouble(undefined)
  }

  async #recover(): Promise<boolean> {
    // The pages of a failed sync may be lost. A new file contains none of them; one new file per failure is
    // enough, until something is taken back from it.
    if (this.#syncFailed && !this.#hasRotated) {
      if (!this.#rotate()) return false
      this.#hasRotated = true
    }
    // While the disk does not work, nothing is written to the new file.
    if (this.#isDiskAwaited && this.#syncFailed && !(await this.#canSync())) return false
    if (this.#kept.length > 0 && !this.#writeKept()) return false
    if (this.#files.isFull && !this.#rotate()) return false
    if (!this.#writeBallast()) return false
    return (await this.#canSync()) && this.#kept.length === 0
  }

  async #canSync(): Promise<boolean> {
    await this.#syncing
    this.#syncFailed = false
    await this.#sync()
    return !this.#syncFailed
  }

  /** Returns false if the disk does not accept them. */
  #writeKept(): boolean {
    const bytes = this.#kept.flatMap((kept) => kept.bytes)
    if (this.#files.write(Buffer.concat(bytes)) !== undefined) return false
    const { current: segment } = this.#files
    for (const kept of this.#kept)
      this.#awaitingSync.push({ ...kept, segment, opens: undefined, rows: undefined })
    this.#kept = []
    this.#keptBytes = 0
    return true
  }

  #scheduleSync(): void {
    if (this.#isDiskAwaited) this.#syncNext()
    else this.#syncTimer ??= setTimeout(() => this.#syncNext(), syncIntervalMs).unref()
  }

  /** Starts a sync unless one is running. Frames that arrive during a sync are covered by the next one. */
  #syncNext(): void {
    this.#syncTimer = undefined
    this.#isSyncWanted = this.#syncing !== undefined
    if (!this.#isSyncWanted) void this.#sync()
  }

  #sync(): Promise<void> {
    this.#syncing ??= this.#syncAll().finally(() => {
      this.#syncing = undefined
      if (this.#isSyncWanted && !this.#closed) this.#syncNext()
    })
    return this.#syncing
  }

  async #syncAll(): Promise<void> {
    const waiting = this.#awaitingSync
    this.#awaitingSync = []
    const failed = await this.#files.sync()
    this.#syncFailed ||= failed.size > 0
    for (const turn of waiting) {
      if (failed.has(turn.segment)) this.#refuse(turn)
      else for (const pending of [turn.opens, turn.closes, turn.rows]) pending?.resolve()
    }
    if (failed.size === 0) return
    const [error] = failed.values()
    if (this.#isDiskAwaited) {
      // Frames written in the meantime follow those whose sync failed.
      const behind = this.#awaitingSync.filter(({ segment }) => failed.has(segment))
      this.#awaitingSync = this.#awaitingSync.filter(({ segment }) => !failed.has(segment))
      for (const turn of behind) this.#refuse(turn)
      for (const segment of failed.keys()) if (this.#files.takeBack(segment) > 0) this.#hasRotated = false
    }
    if (!this.#closed) this.#waitForDisk(`fdatasync failed: ${String(error)}`)
  }

  /** Handles frames that are not on disk: guaranteed ones will be written again. */
  #refuse({ opens, rows, ...kept }: AwaitingSync): void {
    opens?.reject(cannotRecord())
    rows?.resolve()
    this.#keep(kept)
  }

  /** Returns false if there is no room for a new file; the journal then continues with the long segment. */
  #rotate(): boolean {
    const error = this.#files.rotate()
    if (error === undefined) return true
    this.#waitForDisk(`a new segment cannot be opened: ${String(error)}`)
    return false
  }

  /** Returns false, and uses no space, if the disk has no room for it. */
  #writeBallast(): boolean {
    try {
      this.#disk.writeFileSync(this.#ballastPath(), Buffer.alloc(ballastBytes), { mode: 0o600 })
      return true
    } catch {
      this.#disk.rmSync(this.#ballastPath(), { force: true })
      return false
    }
  }

  #ballastPath(): string {
    return join(this.#options.directory, 'ballast')
  }
}

/** Copies the frames between these starts and ends. */
function copyOf(bytes: Buffer, spans: readonly number[]): Buffer[] {
  const frames: Buffer[] = []
  for (let i = 0; i < spans.length; i += 2) frames.push(Buffer.from(bytes.subarray(spans[i], spans[i + 1])))
  return frames
}
