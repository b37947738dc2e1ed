import { dirname, join } from 'node:path'
import type { Disk } from '../runtime/disk.ts'
import { remakeJournalDirectory, segmentName, syncDirectory } from './journal-directory.ts'
import type { JournalPosition } from './journal-reader.ts'
import { ownLayout, writeLayout } from './layout.ts'

/** A segment whose frames have not all been shipped to Postgres. */
export interface Segment {
  readonly number: number
  /** -1 if closed. */
  fd: number
  end: number
  /** Bytes before this offset have been synced, so they survive a power failure. */
  synced: number
  /** Whether the directory was synced after this file was created. */
  hasName: boolean
}

export interface SegmentFilesOptions {
  directory: string
  segmentBytes: number
  disk: Disk
}

/** The shipped positions of older segments are not tracked. */
const segmentsKnown = 10_000
/**
 * The maximum number of segments that stay open. An older one cannot be rewritten if the directory is
 * deleted.
 */
const openMax = 512
const copyBytes = 1024 * 1024

/**
 * The files to which a journal is written, one after the other. Each stays open until Postgres has its
 * frames, so that the journal can be rewritten if its directory is deleted.
 */
export class SegmentFiles {
  readonly #options: SegmentFilesOptions
  readonly #open = new Map<number, Segment>()
  readonly #dirty = new Set<Segment>()
  /** Descriptors to close when no sync is running. */
  #unused: number[] = []
  #isSyncing = false
  #current: Segment
  #written = 0
  #shipped = 0
  /** Postgres has all segments with lower numbers. */
  #shippedBefore = 0
  /** How many bytes were written before each segment. */
  readonly #starts = new Map<number, number>([[0, 0]])
  /** Bytes of segments that were closed before they were shipped. */
  #unreadable = 0

  constructor(options: SegmentFilesOptions) {
    this.#options = options
    writeLayout(options.directory, ownLayout, options.disk)
    this.#current = this.#make(0)
  }

  /** The number of bytes on disk that have been written but not shipped yet. */
  get bytes(): number {
    return this.#written - this.#shipped
  }

  /** The number of bytes ever written, and how many of them have been shipped. */
  get progress(): { written: number; shipped: number } {
    return { written: this.#written, shipped: this.#shipped }
  }

  get current(): Segment {
    return this.#current
  }

  get isFull(): boolean {
    return this.#current.end >= this.#options.segmentBytes
  }

  /** The open segments, oldest first. */
  get all(): readonly Segment[] {
    return [...this.#open.values()]
  }

  /**
   * Writes either all of the bytes or none: after a failure, the file is truncated to its old length. Returns
   * the error.
   */
  write(bytes: Buffer): unknown {
    const { disk } = this.#options
    const segment = this.#current
    let at = 0
    try {
      while (at < bytes.length) {
        at += disk.writeSync(segment.fd, bytes, at, bytes.length - at, segment.end + at)
      }
    } catch (error) {
      // If this fails as well, readers stop at the incomplete frame. The next write starts at the same
      // offset.
      this.#truncate(segment)
      return error
    }
    segment.end += bytes.length
    this.#written += bytes.length
    this.#dirty.add(segment)
    return undefined
  }

  /**
   * Starts the next segment. If that fails, returns the error, and the journal continues with the current
   * segment.
   */
  rotate(): unknown {
    const next = this.#current.number + 1
    try {
      this.#current = this.#make(next)
    } catch (error) {
      return error
    }
    this.#starts.set(next, this.#written)
    const [oldest] = this.#open.values()
    if (this.#open.size > openMax && oldest !== undefined) {
      this.#unreadable += oldest.end
      this.#release(oldest)
    }
    return undefined
  }

  /** Postgres has everything before this position. The position goes back if Postgres has lost rows. */
  shippedTo({ segment: number, at }: JournalPosition): void {
    const start = this.#starts.get(number)
    if (start === undefined) return
    // What was taken back does not count, also if it was shipped.
    this.#shipped = Math.min(start + at, this.#starts.get(number + 1) ?? this.#written)
    this.#starts.delete(number - segmentsKnown)
    this.#shippedBefore = number
    this.#releaseShipped()
    if (number === this.#current.number) this.#unreadable = 0
  }

  /** Syncs everything written before the call. Resolves with the segments for which that failed, and why. */
  async sync(): Promise<ReadonlyMap<Segment, unknown>> {
    const failed = new Map<Segment, unknown>()
    const dirty = [...this.#dirty]
    this.#dirty.clear()
    this.#isSyncing = true
    for (const segment of dirty) {
      const error = await this.#syncOne(segment)
      if (error !== null) failed.set(segment, error)
    }
    this.#isSyncing = false
    for (const segment of failed.keys()) this.#dirty.add(segment)
    this.#releaseShipped()
    this.#closeUnused()
    return failed
  }

  /**
   * Discards the bytes that were not synced, and returns their number. They may be on the disk nevertheless,
   * and may have been shipped, so the segment must not be written again.
   */
  takeBack(segment: Segment): number {
    const bytes = segment.end - segment.synced
    segment.end = segment.synced
    this.#truncate(segment)
    this.#written -= bytes
    for (const [number, start] of this.#starts)
      if (number > segment.number) this.#starts.set(number, start - bytes)
    this.#shipped = Math.min(this.#shipped, this.#written)
    return bytes
  }

  /** Whether the directory, or the file being written, has been deleted. */
  isGone(): boolean {
    try {
      const { disk } = this.#options
      const there = disk.statSync(this.#pathOf(this.#current), { throwIfNoEntry: false })
      return there === undefined || there.ino !== disk.fstatSync(this.#current.fd).ino
    } catch {
      return true
    }
  }

  /**
   * Recreates the directory with everything that has not been shipped. Throws if the disk does not accept it,
   * in which case the call must be repeated. Returns how many bytes are lost because their files could not be
   * read.
   */
  restore(): number {
    const { directory, disk } = this.#options
    remakeJournalDirectory(directory, disk)
    writeLayout(directory, ownLayout, disk)
    let lost = this.#unreadable
    for (const segment of this.#open.values()) {
      const path = this.#pathOf(segment)
      if (isFileOf(disk, path, segment.fd)) continue
      if (!this.#copy(segment, path)) lost += segment.end
    }
    this.#unreadable = 0
    return lost
  }

  /** Syncs and closes all files. */
  async end(): Promise<void> {
    await this.sync()
    for (const segment of this.#open.values()) this.#release(segment)
  }

  #make(number: number): Segment {
    const path = join(this.#options.directory, segmentName(number))
    const fd = this.#options.disk.openSync(path, 'wx+', 0o600)
    const segment: Segment = { number, fd, end: 0, synced: 0, hasName: false }
    this.#open.set(number, segment)
    this.#dirty.add(segment)
    return segment
  }

  async #syncOne(segment: Segment): Promise<unknown> {
    const { disk, directory } = this.#options
    // -1: there were too many segments, and this one was closed.
    while (segment.fd !== -1) {
      const { fd, end } = segment
      const error = await new Promise<unknown>((resolve) => disk.fdatasync(fd, resolve))
      // The directory was recreated in the meantime.
      if (segment.fd !== fd) continue
      if (error !== null) return error
      if (!segment.hasName) {
        // A synced file in an unsynced directory may have no name after a power failure.
        const unnamed =
          (await syncDirectory(directory, disk)) ?? (await syncDirectory(dirname(directory), disk))
        if (unnamed !== null) return unnamed
        segment.hasName = true
      }
      segment.synced = end
      return null
    }
    return null
  }

  /** Returns false if the old file cannot be read to its end; the rest of the new one is then zeros. */
  #copy(segment: Segment, path: string): boolean {
    const { disk } = this.#options
    const draft = `${path}.draft`
    const fd = disk.openSync(draft, 'w+', 0o600)
    let isRead = true
    const chunk = Buffer.allocUnsafe(copyBytes)
    try {
      for (let at = 0; at < segment.end; ) {
        const length = Math.min(chunk.length, segment.end - at)
        const bytes = tryToRead(disk, segment.fd, chunk, length, at)
        isRead = bytes > 0
        if (!isRead) break
        disk.writeSync(fd, chunk, 0, bytes, at)
        at += bytes
      }
      disk.renameSync(draft, path)
    } catch (error) {
      disk.closeSync(fd)
      throw error
    }
    this.#unused.push(segment.fd)
    segment.fd = fd
    segment.hasName = false
    this.#dirty.add(segment)
    this.#closeUnused()
    return isRead
  }

  /**
   * Also waits for the sync of what Postgres has: the beginnings of running requests are only here.
   */
  #releaseShipped(): void {
    for (const segment of this.#open.values()) {
      if (segment.number >= this.#shippedBefore) return
      if (segment.hasName && segment.synced === segment.end) this.#release(segment)
    }
  }

  #release(segment: Segment): void {
    this.#open.delete(segment.number)
    this.#dirty.delete(segment)
    this.#unused.push(segment.fd)
    segment.fd = -1
    this.#closeUnused()
  }

  #closeUnused(): void {
    if (this.#isSyncing) return
    for (const fd of this.#unused.splice(0)) this.#options.disk.closeSync(fd)
  }

  #truncate(segment: Segment): void {
    try {
      this.#options.disk.ftruncateSync(segment.fd, segment.end)
    } catch {
      // Readers may encounter frames that already have rows, or no frames.
    }
  }

  #pathOf({ number }: Segment): string {
    return join(this.#options.directory, segmentName(number))
  }
}

function isFileOf(disk: Disk, path: string, fd: number): boolean {
  const there = disk.statSync(path, { throwIfNoEntry: false })
  return there !== undefined && there.ino === disk.fstatSync(fd).ino
}

/** The number of bytes read; 0 if they cannot be read. */
function tryToRead(disk: Disk, fd: number, into: Buffer, length: number, at: number): number {
  try {
    return disk.readSync(fd, into, 0, length, at)
  } catch {
    return 0
  }
}
