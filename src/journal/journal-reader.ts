import { dirname, join } from 'node:path'
import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import type { Log } from '../telemetry/log.ts'
import { type Batch, BatchReader, type OpenRequest } from './batch.ts'
import { findFrame, writeBareOpenFrame } from './frame.ts'
import { listSegments, segmentName } from './journal-directory.ts'
import { readLayout } from './layout.ts'
import { orphanFrames } from './orphan-rows.ts'
import { setAside } from './set-aside.ts'
import { TupleWriter } from './tuple.ts'

export interface JournalReaderOptions {
  directory: string
  instanceId: string
  /** True while the process that writes this journal may write more. */
  growing: boolean
  batchBytes: number
  /** Whether running requests are also kept in Postgres. */
  keepsOpen?: boolean
  disk?: Disk
  clock: Clock
  log: Log
}

/** A position in a journal. */
export interface JournalPosition {
  segment: number
  at: number
}

/** If the bytes at the end of a growing segment are still not a frame after this time, they are damaged. */
const stuckMs = 1_000
/**
 * If open frames make up less than this share of a full segment, `deleteOld` rewrites it so that it contains
 * only them.
 */
const compactBelow = 0.25

/** Reads a journal batch by batch, through all its segments, and deletes what is no longer needed. */
export class JournalReader {
  readonly #options: JournalReaderOptions
  readonly #disk: Disk
  #batches: BatchReader
  #buffer: Buffer
  #segment: number
  #at = 0
  #fd: number | undefined
  #stuck: (JournalPosition & { since: number }) | undefined
  /** When this reader moved past each segment that still exists. */
  readonly #leftAt = new Map<number, number>()

  constructor(options: JournalReaderOptions) {
    this.#options = options
    this.#disk = options.disk ?? systemDisk
    this.#batches = this.#open()
    this.#buffer = Buffer.allocUnsafeSlow(options.batchBytes)
    this.#segment = listSegments(options.directory, this.#disk)[0] ?? 0
  }

  /** The COPYs of the last batch, and the requests that are still open after it. */
  get batches(): BatchReader {
    return this.#batches
  }

  /** Everything before this position has been read and committed. */
  get position(): JournalPosition {
    return { segment: this.#segment, at: this.#at }
  }

  /**
   * The current end of the journal. One pass reads up to here, because under load the journal never stops
   * growing.
   */
  end(): JournalPosition {
    const segment = listSegments(this.#options.directory, this.#disk).at(-1) ?? this.#segment
    const path = join(this.#options.directory, segmentName(segment))
    return { segment, at: this.#disk.existsSync(path) ? this.#disk.statSync(path).size : 0 }
  }

  isBefore({ segment, at }: JournalPosition): boolean {
    return this.#segment < segment || (this.#segment === segment && this.#at < at)
  }

  /**
   * Returns the next batch, which remains the same until `commit`; undefined if there is none yet. `shipped`
   * is how far each segment has been shipped to Postgres.
   */
  next(shipped: ReadonlyMap<number, number>, framesMax: number): Batch | undefined {
    for (;;) {
      const batch = this.#read(shipped, framesMax)
      if (batch !== undefined) return batch
      const next = listSegments(this.#options.directory, this.#disk).find(
        (segment) => segment > this.#segment,
      )
      if (next === undefined) return undefined
      // The writer now uses the next segment, but may have appended to this one after the last read, so it is
      // read once more. If the directory was recreated, it appended to another file of this name.
      let rest = this.#read(shipped, framesMax)
      if (rest === undefined) {
        this.close()
        rest = this.#read(shipped, framesMax)
      }
      if (rest !== undefined) return rest
      this.close()
      this.#leftAt.set(this.#segment, this.#options.clock.elapsed())
      this.#segment = next
      this.#at = 0
    }
  }

  commit(batch: Batch): void {
    this.#at = batch.to
    this.#batches.commit(batch)
  }

  /** Starts over with the first segment. */
  restart(): void {
    this.close()
    this.#batches = this.#open()
    this.#segment = listSegments(this.#options.directory, this.#disk)[0] ?? this.#segment
    this.#at = 0
    this.#leftAt.clear()
  }

  /**
   * Must be called after the writer has recreated the deleted directory with the segments that have not been
   * shipped. Running requests that began before those segments get their open frames back, without bodies.
   */
  restore(): void {
    this.close()
    for (const segment of this.#openBytesBySegment().keys()) {
      if (segment >= this.#segment) continue
      const out = new TupleWriter(1024)
      for (const opened of this.#batches.open.values()) {
        if (opened.segment !== segment) continue
        opened.at = out.length
        writeBareOpenFrame(out, opened.source.subarray(opened.halfAt, opened.halfEnd))
        opened.bytes = out.length - opened.at
      }
      this.#replace(join(this.#options.directory, segmentName(segment)), out.written)
    }
  }

  close(): void {
    if (this.#fd !== undefined) this.#disk.closeSync(this.#fd)
    this.#fd = undefined
  }

  /**
   * Stores a batch of one frame as a small journal next to this one. A close frame is preceded by its open
   * frame. Returns the folder.
   */
  setAside({ segment, from, to, closed }: Batch, reason: string): string {
    const out = new TupleWriter(1024)
    for (const id of closed) {
      const opened = this.#batches.open.get(id)
      // Without the body, which was shipped with the original open frame.
      if (opened !== undefined) writeBareOpenFrame(out, opened.source.subarray(opened.halfAt, opened.halfEnd))
    }
    out.copy(this.#buffer, 0, to - from)
    const { directory, instanceId: instance, clock } = this.#options
    const { layout } = this.#batches
    const aside = { instance, segment, at: from, bytes: out.written, reason, layout }
    return setAside(dirname(directory), clock, aside, this.#disk)
  }

  /**
   * Stores a running request whose process died as a small journal with its open frame and an end. Returns
   * the folder.
   */
  setAsideOrphan({ segment, at, source, halfAt, halfEnd }: OpenRequest, reason: string): string {
    const half = source.subarray(halfAt, halfEnd)
    const { directory, instanceId: instance, clock } = this.#options
    const { layout } = this.#batches
    const aside = { instance, segment, at, reason, ...orphanFrames(half, layout) }
    return setAside(dirname(directory), clock, aside, this.#disk)
  }

  /**
   * Deletes segments that were finished `keepMs` ago, and shrinks those with few open frames. While the
   * segments before the current one exceed `keepBytes`, the oldest are deleted sooner. Returns the first
   * remaining segment; undefined if none was deleted.
   */
  deleteOld(keepMs: number, keepBytes: number): number | undefined {
    const { directory } = this.#options
    const openBytes = this.#openBytesBySegment()
    const left = listSegments(directory, this.#disk)
      .filter((segment) => segment < this.#segment)
      .map((segment) => {
        const path = join(directory, segmentName(segment))
        return { segment, path, size: this.#disk.statSync(path).size }
      })
    let bytes = left.reduce((sum, { size }) => sum + size, 0)
    const isDue = (segment: number) =>
      this.#options.clock.elapsed() - (this.#leftAt.get(segment) ?? 0) >= keepMs
    let hasDeleted = false
    for (const { segment, path, size } of left) {
      if (bytes <= keepBytes && !isDue(segment)) break
      const open = openBytes.get(segment) ?? 0
      if (open === 0) {
        this.#disk.rmSync(path)
        this.#leftAt.delete(segment)
        hasDeleted = true
        bytes -= size
      } else if (open < size * compactBelow) bytes -= size - this.#compact(segment, path)
    }
    return hasDeleted ? listSegments(directory, this.#disk)[0] : undefined
  }

  #open(): BatchReader {
    const { directory, instanceId, keepsOpen, log } = this.#options
    return new BatchReader({
      layout: readLayout(directory, this.#disk),
      keepsOpenOf: keepsOpen === true ? instanceId : undefined,
      onUnknown: (id) =>
        log.error(
          { id },
          'the beginning of a request is missing from the journal: its row contains only the end',
        ),
    })
  }

  #read(shipped: ReadonlyMap<number, number>, framesMax: number): Batch | undefined {
    const path = join(this.#options.directory, segmentName(this.#segment))
    if (this.#fd === undefined) {
      if (!this.#disk.existsSync(path)) return undefined
      this.#fd = this.#disk.openSync(path, 'r')
    }
    const bytes = this.#disk.readSync(this.#fd, this.#buffer, 0, this.#buffer.length, this.#at)
    const read = this.#buffer.subarray(0, bytes)
    const shippedTo = shipped.get(this.#segment) ?? 0
    const source = { segment: this.#segment, from: this.#at, shipped: shippedTo, framesMax }
    const batch = this.#batches.read(read, source)
    if (batch !== undefined || bytes === 0) return batch
    const isWhole = bytes < this.#buffer.length
    if (this.#isSealed() || this.#isStuck()) {
      const next = findFrame(read, 1)
      if (next > 0) return this.#skip(read.subarray(0, next), shippedTo, 'damaged')
      if (isWhole && this.#isSealed()) return this.#skip(read, shippedTo, 'damaged, or cut off by a crash')
    }
    if (isWhole) return undefined
    // The next frame is larger than the buffer.
    this.#buffer = Buffer.allocUnsafeSlow(this.#buffer.length * 2)
    return this.#read(shipped, framesMax)
  }

  /** Whether this segment is no longer written to. */
  #isSealed(): boolean {
    const { directory, growing } = this.#options
    return !growing || listSegments(directory, this.#disk).some((segment) => segment > this.#segment)
  }

  /**
   * Whether the bytes at the end of the growing segment have not become a frame for so long that they cannot
   * be one that is being written.
   */
  #isStuck(): boolean {
    const { segment, at } = this.position
    if (this.#stuck?.segment === segment && this.#stuck.at === at)
      return this.#options.clock.elapsed() - this.#stuck.since >= stuckMs
    this.#stuck = { segment, at, since: this.#options.clock.elapsed() }
    return false
  }

  /** Returns a batch without frames, which moves the position past bytes that are not frames. */
  #skip(bytes: Buffer, shippedTo: number, reason: string): Batch {
    const { segment, at: from } = this.position
    // Damage may go over the shipped position. From there on, Postgres must learn of it.
    const to = from < shippedTo ? Math.min(from + bytes.length, shippedTo) : from + bytes.length
    if (to > shippedTo) {
      const { directory, instanceId: instance, clock, log } = this.#options
      const aside = { instance, segment, at: from, bytes, reason, layout: undefined }
      const folder = setAside(dirname(directory), clock, aside, this.#disk)
      log.error(
        { directory: folder, bytes: bytes.length },
        'part of a journal is damaged; it is set aside, and the frames after it are shipped',
      )
    }
    return { segment, from, to, frames: 0, opened: new Map(), closed: [], released: [], charges: new Map() }
  }

  #openBytesBySegment(): Map<number, number> {
    const bytes = new Map<number, number>()
    for (const opened of this.#batches.open.values()) {
      bytes.set(opened.segment, (bytes.get(opened.segment) ?? 0) + opened.bytes)
    }
    return bytes
  }

  /**
   * Keeps only the open frames of a segment. They are before the shipped position, which remains valid.
   * Returns the new size.
   */
  #compact(segment: number, path: string): number {
    const kept = [...this.#batches.open.values()].filter((opened) => opened.segment === segment)
    const frames = kept.map((opened) => this.#readOpen(opened))
    this.#replace(path, Buffer.concat(frames))
    let at = 0
    for (const opened of kept) {
      opened.at = at
      at += opened.bytes
    }
    return at
  }

  #replace(path: string, bytes: Buffer): void {
    this.#disk.writeFileSync(`${path}.compact`, bytes, { mode: 0o600, flush: true })
    this.#disk.renameSync(`${path}.compact`, path)
  }

  #readOpen({ segment, at, bytes }: OpenRequest): Buffer {
    const frame = Buffer.alloc(bytes)
    const fd = this.#disk.openSync(join(this.#options.directory, segmentName(segment)), 'r')
    try {
      this.#disk.readSync(fd, frame, 0, bytes, at)
    } finally {
      this.#disk.closeSync(fd)
    }
    return frame
  }
}
