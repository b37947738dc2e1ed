import * as fs from 'node:fs'
import { join } from 'node:path'
import { GatewayError } from '../canonical/error.ts'
import { writeCloseFrame, writeOpenFrame } from './frame.ts'
import { segmentName } from './journal-directory.ts'
import { ownLayout, writeLayout } from './layout.ts'
import type { CloseRecord, OpenRecord } from './record.ts'
import { TupleWriter } from './tuple.ts'

export interface JournalOptions {
  /** This process's own directory, made by claimJournalDirectory. */
  directory: string
  sync: 'process' | 'disk'
  segmentBytes: number
  /** While the journal holds this many bytes no new request is admitted and refusals are kept without their bodies. */
  bytesMax: number
  /** Called when writing starts to fail and when it works again. */
  onTrouble(message: string | undefined): void
  /** The calls that touch the disk; tests pass failing ones. */
  disk?: JournalDisk
}

export type JournalDisk = Pick<typeof fs, 'writeSync' | 'openSync' | 'ftruncateSync' | 'fdatasync'>

const syncIntervalMs = 10
const retryMs = 200
/** Freed when the disk is full, so that requests already running can still be closed. */
const ballastBytes = 1024 * 1024
/** Closed rows kept in memory while not even the ballast is left; beyond it only open frames tell of a request. */
const unwrittenBytesMax = 64 * 1024 * 1024

/**
 * The append-only file in front of the ledger. All frames of one event-loop turn go out in one synchronous
 * write, after which they survive the death of this process; fdatasync every 10 ms bounds what a power loss
 * can take (`sync: 'disk'` waits for it).
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #disk: JournalDisk
  readonly #out = new TupleWriter(1024 * 1024)
  /** All whose frames were written in this turn wait together. Only frames that open a request may be refused. */
  #refusable: PromiseWithResolvers<void> | undefined
  #guaranteed: PromiseWithResolvers<void> | undefined
  /** Where in `#out` the frames begin and end that may not be refused. */
  #guaranteedSpans: number[] = []
  #scheduled = false
  #segment = 0
  #fd: number
  #offset = 0
  #written = 0
  #freed = 0
  #dirty = false
  #syncing = false
  #syncAgain = false
  #awaitingSync: (() => void)[] = []
  #unwritten: Buffer[] = []
  #unwrittenBytes = 0
  #retry: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: JournalOptions) {
    this.#options = options
    this.#disk = options.disk ?? fs
    writeLayout(options.directory, ownLayout)
    this.#fd = this.#openSegment()
    if (!this.#writeBallast()) this.#waitForRoom('no room for what is held ready')
  }

  /** Bytes written and not yet shipped and deleted. */
  get bytes(): number {
    return this.#written - this.#freed
  }

  /** Twice the bound is reached: even refusals must wait, all that is still written ends a request that runs. */
  get overfull(): boolean {
    return this.bytes >= 2 * this.#options.bytesMax
  }

  /** The shipper deleted this much. */
  freed(bytes: number): void {
    this.#freed += bytes
  }

  /** Why no request could be opened now, if so. */
  refusal(): GatewayError | undefined {
    if (this.bytes >= this.#options.bytesMax) return boundReached()
    return this.#retry === undefined ? undefined : diskFull()
  }

  /** Resolves when the request stands in the journal; rejects `unavailable` when it cannot: then nothing may be sent. */
  open(record: OpenRecord): Promise<void> {
    const refusal = this.refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return this.#append(true, () => writeOpenFrame(this.#out, record))
  }

  /** Resolves when the rest of the row stands in the journal. Never rejects: a full disk keeps it in memory. */
  close(open: OpenRecord, record: CloseRecord): Promise<void> {
    return this.#append(false, () => writeCloseFrame(this.#out, open, record))
  }

  /** A whole row at once, for a request that was never admitted. Never rejects. */
  row(open: OpenRecord, record: CloseRecord): Promise<void> {
    const kept = this.bytes < this.#options.bytesMax ? open : { ...open, body: null }
    return this.#append(false, () => {
      writeOpenFrame(this.#out, kept)
      writeCloseFrame(this.#out, kept, record)
    })
  }

  /** Write what waits, wait for the disk and let go of the file. */
  async end(): Promise<void> {
    this.#flush()
    clearTimeout(this.#retry)
    if (this.#unwritten.length > 0) this.#write(Buffer.concat(this.#unwritten))
    this.#closed = true
    await new Promise<void>((resolve) => fs.fdatasync(this.#fd, () => resolve()))
    fs.closeSync(this.#fd)
    fs.rmSync(this.#ballastPath(), { force: true })
  }

  #append(refusable: boolean, write: () => void): Promise<void> {
    const start = this.#out.length
    try {
      write()
    } catch (error) {
      // Half a frame would hide all that follow it.
      this.#out.length = start
      return Promise.reject(error)
    }
    if (!this.#scheduled) {
      this.#scheduled = true
      setImmediate(() => this.#flush())
    }
    if (refusable) {
      this.#refusable ??= Promise.withResolvers()
      return this.#refusable.promise
    }
    this.#guaranteedSpans.push(start, this.#out.length)
    this.#guaranteed ??= Promise.withResolvers()
    return this.#guaranteed.promise
  }

  #flush(): void {
    this.#scheduled = false
    if (this.#out.length === 0) return
    const refusable = this.#refusable
    const guaranteed = this.#guaranteed
    const guaranteedSpans = this.#guaranteedSpans
    this.#refusable = undefined
    this.#guaranteed = undefined
    this.#guaranteedSpans = []
    const bytes = this.#out.written
    this.#out.length = 0
    const failure = this.#unwritten.length > 0 ? diskFull() : this.#writeOrFreeBallast(bytes)
    if (failure !== undefined) this.#keepInMemory(guaranteedSpans, bytes)
    const settle = () => {
      guaranteed?.resolve()
      if (failure === undefined) refusable?.resolve()
      else refusable?.reject(failure)
    }
    if (this.#options.sync === 'disk' && failure === undefined) this.#awaitingSync.push(settle)
    else settle()
    this.#scheduleSync()
    if (this.#isSegmentFull) this.#rotate()
  }

  get #isSegmentFull(): boolean {
    return this.#offset >= this.#options.segmentBytes
  }

  /** The frames that may not be refused wait in memory until the disk takes them. */
  #keepInMemory(spans: readonly number[], bytes: Buffer): void {
    for (let i = 0; i < spans.length && this.#unwrittenBytes <= unwrittenBytesMax; i += 2) {
      const copy = Buffer.from(bytes.subarray(spans[i], spans[i + 1]))
      this.#unwritten.push(copy)
      this.#unwrittenBytes += copy.length
    }
  }

  #writeOrFreeBallast(bytes: Buffer): GatewayError | undefined {
    const failure = this.#write(bytes)
    if (failure === undefined) return undefined
    fs.rmSync(this.#ballastPath(), { force: true })
    this.#waitForRoom(String(failure))
    return this.#write(bytes) === undefined ? undefined : diskFull(failure)
  }

  /** Until the ballast has room again nothing new is admitted: what there is belongs to the ends of what runs. */
  #waitForRoom(why: string): void {
    this.#options.onTrouble(`The journal cannot be written: ${why}`)
    this.#retry ??= setInterval(() => this.#tryAgain(), retryMs).unref()
  }

  #tryAgain(): void {
    if (this.#unwritten.length > 0 && this.#write(Buffer.concat(this.#unwritten)) !== undefined) return
    this.#unwritten = []
    this.#unwrittenBytes = 0
    if (this.#isSegmentFull && !this.#rotate()) return
    if (!this.#writeBallast()) return
    clearInterval(this.#retry)
    this.#retry = undefined
    this.#options.onTrouble(undefined)
  }

  /** All of the bytes or none: a part that was written before a failure is cut off again. */
  #write(bytes: Buffer): unknown {
    let at = 0
    try {
      while (at < bytes.length) {
        at += this.#disk.writeSync(this.#fd, bytes, at, bytes.length - at, this.#offset + at)
      }
      this.#offset += bytes.length
      this.#written += bytes.length
      return undefined
    } catch (error) {
      try {
        this.#disk.ftruncateSync(this.#fd, this.#offset)
      } catch {
        // Readers stop at the torn frame, and the next write starts at the same offset.
      }
      return error
    }
  }

  #scheduleSync(): void {
    if (this.#dirty) return
    this.#dirty = true
    if (this.#options.sync === 'disk') this.#sync()
    else setTimeout(() => this.#sync(), syncIntervalMs).unref()
  }

  #sync(): void {
    if (this.#closed) return
    if (this.#syncing) {
      this.#syncAgain = true
      return
    }
    this.#syncing = true
    this.#dirty = false
    const waiting = this.#awaitingSync
    this.#awaitingSync = []
    this.#disk.fdatasync(this.#fd, (error) => {
      this.#syncing = false
      if (error !== null && !this.#closed)
        this.#options.onTrouble(`fdatasync of the journal failed: ${String(error)}`)
      for (const settle of waiting) settle()
      if (!this.#syncAgain) return
      this.#syncAgain = false
      this.#sync()
    })
  }

  /** False: there is no room for a new file, and the long segment goes on. */
  #rotate(): boolean {
    const old = this.#fd
    this.#segment += 1
    try {
      this.#fd = this.#openSegment()
    } catch (error) {
      this.#segment -= 1
      this.#waitForRoom(`a new segment cannot be opened: ${String(error)}`)
      return false
    }
    this.#offset = 0
    fs.fdatasync(old, () => fs.close(old, () => {}))
    return true
  }

  #openSegment(): number {
    return this.#disk.openSync(join(this.#options.directory, segmentName(this.#segment)), 'wx', 0o600)
  }

  /** False: there is no room for it, nor is any taken. */
  #writeBallast(): boolean {
    try {
      fs.writeFileSync(this.#ballastPath(), Buffer.alloc(ballastBytes), { mode: 0o600 })
      return true
    } catch {
      fs.rmSync(this.#ballastPath(), { force: true })
      return false
    }
  }

  #ballastPath(): string {
    return join(this.#options.directory, 'ballast')
  }
}

function boundReached(): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway cannot record more requests: its journal has reached its bound while the database is away. Try again later.',
    { retryAfterSeconds: 5 },
  )
}

function diskFull(cause?: unknown): GatewayError {
  return new GatewayError(
    'unavailable',
    'The gateway cannot record requests: its disk is full. Try again later.',
    {
      cause,
      retryAfterSeconds: 5,
    },
  )
}
