import { type Disk, systemDisk } from '../runtime/disk.ts'
import { type AnswerPosition, answerSegmentPath } from './answer-files.ts'
import { answerFrame } from './answer-frame.ts'
import type { AnswerRecord } from './answer-record.ts'

export interface AnswerJournalOptions {
  /** The journal directory of this process. */
  directory: string
  segmentBytes: number
  disk?: Disk
}

/**
 * Writes captured answers next to the journal. Each write is synchronous, so an answer survives the death of
 * the process. Nothing is synced to disk and nothing waits: an answer that cannot be written is dropped.
 */
export class AnswerJournal {
  readonly #options: Required<AnswerJournalOptions>
  #segment = -1
  /** -1: the next answer starts a new segment. */
  #fd = -1
  #end = 0
  #written = 0
  #shipped = 0
  /** How many bytes were written before each segment. */
  readonly #starts = new Map<number, number>()

  constructor(options: AnswerJournalOptions) {
    this.#options = { disk: systemDisk, ...options }
  }

  /** The number of bytes that have not been shipped to Postgres. */
  get bytes(): number {
    return this.#written - this.#shipped
  }

  /** Returns why the answer was not kept; undefined if it was written. */
  write(record: AnswerRecord): unknown {
    const frame = answerFrame(record)
    const { disk } = this.#options
    try {
      // If the file has been deleted, Postgres would never receive what is written to it.
      if (this.#fd !== -1 && disk.fstatSync(this.#fd).nlink === 0) this.close()
      if (this.#fd === -1) this.#open()
      let at = 0
      while (at < frame.length) at += disk.writeSync(this.#fd, frame, at, frame.length - at, this.#end + at)
    } catch (error) {
      this.#takeBack()
      return error
    }
    this.#end += frame.length
    this.#written += frame.length
    if (this.#end >= this.#options.segmentBytes) this.close()
    return undefined
  }

  shippedTo({ segment, at }: AnswerPosition): void {
    const start = this.#starts.get(segment)
    if (start === undefined) return
    this.#shipped = start + at
    for (const number of this.#starts.keys()) if (number < segment) this.#starts.delete(number)
  }

  /** Closes the segment; the next answer starts a new one. */
  close(): void {
    if (this.#fd !== -1) this.#options.disk.closeSync(this.#fd)
    this.#fd = -1
  }

  #open(): void {
    const { directory, disk } = this.#options
    this.#segment++
    this.#fd = disk.openSync(answerSegmentPath(directory, this.#segment), 'wx', 0o600)
    this.#end = 0
    this.#starts.set(this.#segment, this.#written)
  }

  /** Removes a partly written frame, which would hide the frames after it. */
  #takeBack(): void {
    if (this.#fd === -1) return
    try {
      this.#options.disk.ftruncateSync(this.#fd, this.#end)
    } catch {
      this.close()
    }
  }
}
