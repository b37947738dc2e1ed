import * as fs from 'node:fs'
import { type AnswerPosition, answerSegmentPath } from './answer-files.ts'
import { answerFrame } from './answer-frame.ts'
import type { AnswerRecord } from './answer-record.ts'

export interface AnswerJournalOptions {
  /** The journal directory of this process. */
  directory: string
  segmentBytes: number
  /** The calls that write to the disk. Tests pass calls that fail. */
  disk?: Pick<typeof fs, 'openSync' | 'writeSync' | 'ftruncateSync'>
}

/**
 * Writes captured answers beside the journal. Each write is synchronous, so that an answer survives the death
 * of the process. Nothing is synced to the disk, and nothing waits: an answer that cannot be written is not
 * kept.
 */
export class AnswerJournal {
  readonly #options: Required<AnswerJournalOptions>
  #segment = -1
  /** -1: the next answer begins a segment. */
  #fd = -1
  #end = 0
  #written = 0
  #shipped = 0
  /** How many bytes were written before each segment. */
  readonly #starts = new Map<number, number>()

  constructor(options: AnswerJournalOptions) {
    this.#options = { disk: fs, ...options }
  }

  /** Bytes that Postgres does not have. */
  get bytes(): number {
    return this.#written - this.#shipped
  }

  /** The reason why the answer is not kept; undefined: it is written. */
  write(record: AnswerRecord): unknown {
    const frame = answerFrame(record)
    const { disk } = this.#options
    try {
      // Somebody has deleted the file: Postgres would never have what goes there.
      if (this.#fd !== -1 && fs.fstatSync(this.#fd).nlink === 0) this.close()
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

  /** The next answer begins a new segment. */
  close(): void {
    if (this.#fd !== -1) fs.closeSync(this.#fd)
    this.#fd = -1
  }

  #open(): void {
    const { directory, disk } = this.#options
    this.#segment++
    this.#fd = disk.openSync(answerSegmentPath(directory, this.#segment), 'wx', 0o600)
    this.#end = 0
    this.#starts.set(this.#segment, this.#written)
  }

  /** Half a frame would hide the frames after it. */
  #takeBack(): void {
    if (this.#fd === -1) return
    try {
      this.#options.disk.ftruncateSync(this.#fd, this.#end)
    } catch {
      this.close()
    }
  }
}
