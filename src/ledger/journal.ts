import * as fs from 'node:fs'
import { join } from 'node:path'
import { GatewayError } from '../canonical/error.ts'
import { writeCloseFrame, writeOpenFrame } from './frame.ts'
import { segmentName } from './journal-directory.ts'
import type { JournalPosition } from './journal-reader.ts'
import { ownLayout, writeLayout } from './layout.ts'
import type { CloseRecord, OpenRecord } from './record.ts'
import { TupleWriter } from './tuple.ts'

export interface JournalOptions {
  /** The directory of this process, from claimJournalDirectory. */
  directory: string
  sync: 'process' | 'disk'
  segmentBytes: number
  /** From this size on, the journal admits no new request, and keeps refusals without their bodies. */
  bytesMax: number
  /** Called when writing starts to fail and when it works again. */
  onTrouble(message: string | undefined): void
  /** The calls that write to the disk. Tests pass calls that fail. */
  disk?: JournalDisk
}

export type JournalDisk = Pick<typeof fs, 'writeSync' | 'openSync' | 'ftruncateSync' | 'fdatasync'>

const syncIntervalMs = 10
const retryMs = 200
/** The shipped position of an older segment is not counted. */
const segmentsKnown = 10_000
/** Size of the ballast file. The journal deletes it when the disk is full, which leaves room to close running requests. */
const ballastBytes = 1024 * 1024
/** The most bytes of guaranteed frames that wait in memory for a full disk. Further ones are lost. */
const unwrittenBytesMax = 64 * 1024 * 1024

/**
 * The append-only file in front of the ledger. One synchronous write takes all frames of a turn of the event loop. They
 * then survive the death of this process. An fdatasync every 10 ms bounds the loss at a power failure; with `sync: 'disk'`
 * each call waits for it.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #disk: JournalDisk
  readonly #out = new TupleWriter(1024 * 1024)
  /** The promises of this turn's frames. A frame that opens a request may be refused, all others are guaranteed. */
  #refusable: PromiseWithResolvers<void> | undefined
  #guaranteed: PromiseWithResolvers<void> | undefined
  /** The starts and ends of guaranteed frames in `#out`. */
  #guaranteedSpans: number[] = []
  #scheduled = false
  #segment = 0
  #fd: number
  #offset = 0
  #written = 0
  #shipped = 0
  /** How many bytes were written before each segment. */
  readonly #starts = new Map<number, number>([[0, 0]])
  #dirty = false
  #syncing = false
  #syncAgain = false
  #awaitingSync: (() => void)[] = []
  /** Guaranteed frames that wait for room on the disk. */
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

  /** Bytes on the disk: written, and not yet deleted by the shipper. */
  get bytes(): number {
    return this.#written - this.#shipped
  }

  /** All bytes that were ever written. */
  get written(): number {
    return this.#written
  }

  /** The part of them that Postgres has, from the first one on. */
  get shipped(): number {
    return this.#shipped
  }

  /** True at twice the bound: even refusals must wait. The journal then only takes frames that end running requests. */
  get overfull(): boolean {
    return this.bytes >= 2 * this.#options.bytesMax
  }

  /** Postgres has everything before this position. It goes back when Postgres has lost rows. */
  shippedTo({ segment, at }: JournalPosition): void {
    const start = this.#starts.get(segment)
    if (start === undefined) return
    this.#shipped = start + at
    this.#starts.delete(segment - segmentsKnown)
  }

  /** The reason why no request can be opened now; undefined: it can. */
  refusal(): GatewayError | undefined {
    if (this.bytes >= this.#options.bytesMax) return boundReached()
    return this.#retry === undefined ? undefined : diskFull()
  }

  /** Write the beginning of a request. Rejects `unavailable` when it cannot: then send nothing upstream. */
  open(record: OpenRecord): Promise<void> {
    const refusal = this.refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return this.#append(true, () => writeOpenFrame(this.#out, record))
  }

  /** Write the end of a request. Never rejects for a full disk: the frame then waits in memory. */
  close(open: OpenRecord, record: CloseRecord): Promise<void> {
    return this.#append(false, () => writeCloseFrame(this.#out, open, record))
  }

  /** Write a whole row, for a request that was not admitted. Never rejects for a full disk. */
  row(open: OpenRecord, record: CloseRecord): Promise<void> {
    const kept = this.bytes < this.#options.bytesMax ? open : { ...open, body: null }
    return this.#append(false, () => {
      writeOpenFrame(this.#out, kept)
      writeCloseFrame(this.#out, kept, record)
    })
  }

  /** Write all waiting frames, wait for the disk, and close the file. */
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
      // A half written frame would hide all later frames.
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

  /** Keep the guaranteed frames until the disk takes them. */
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

  /** Admit no request until the ballast fits on the disk again: running requests need the room to end. */
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

  /** Writes all of the bytes or none: after a failure, it truncates the file to the old length. Returns the error. */
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
        // Readers stop at the torn frame. The next write starts at the same offset.
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

  /** Returns false when there is no room for a new file: the journal then goes on with the long segment. */
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
    this.#starts.set(this.#segment, this.#written)
    fs.fdatasync(old, () => fs.close(old, () => {}))
    return true
  }

  #openSegment(): number {
    return this.#disk.openSync(join(this.#options.directory, segmentName(this.#segment)), 'wx', 0o600)
  }

  /** Returns false, and takes no room, when the disk has no room for it. */
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
