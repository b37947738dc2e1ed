import type { Client } from 'pg'
import {
  type AnswerPosition,
  answerSegmentPath,
  listAnswerSegments,
  readAnswerPosition,
  writeAnswerPosition,
} from '../journal/answer-files.ts'
import { type ReadAnswer, readAnswerFrame } from '../journal/answer-frame.ts'
import { momentOf } from '../journal/tuple.ts'
import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import type { Log } from '../telemetry/log.ts'
import { isDataError } from './shipment.ts'

export interface AnswerShipmentOptions {
  directory: string
  /** Whether the process is still writing. */
  growing: boolean
  batchBytes: number
  disk?: Disk
  clock: Clock
  log: Log
}

/** The pause after Postgres has rejected answers for a reason other than their data. */
const pauseMs = 60_000

/**
 * Ships the captured answers of one process. The primary key of `request_answers` makes it harmless to ship
 * an answer twice, so the position is only stored in a file next to the segments. A shipped segment is
 * deleted. An error in the answers never stops the rows: an unreadable file or frame is skipped and logged.
 */
export class AnswerShipment {
  readonly #options: AnswerShipmentOptions
  readonly #disk: Disk
  #position: AnswerPosition | undefined
  #pausedUntil = Number.NEGATIVE_INFINITY

  constructor(options: AnswerShipmentOptions) {
    this.#options = options
    this.#disk = options.disk ?? systemDisk
  }

  /** Postgres has everything before this position. */
  get position(): AnswerPosition {
    this.#position ??= readAnswerPosition(this.#options.directory, this.#disk)
    return this.#position
  }

  /** True if some bytes have not been shipped to Postgres. */
  get hasMore(): boolean {
    const { segment, at } = this.position
    const { directory } = this.#options
    return listAnswerSegments(directory, this.#disk).some(
      (other) => other > segment || (other === segment && this.#sizeOf(other) > at),
    )
  }

  /**
   * Ships one batch, and more until this time of `Clock.elapsed`. Returns false if there was nothing to ship.
   */
  async ship(client: Client, until: number): Promise<boolean> {
    let hasShipped = await this.shipNext(client)
    const hasAny = hasShipped
    while (hasShipped && this.#options.clock.elapsed() < until) hasShipped = await this.shipNext(client)
    return hasAny
  }

  /** Ships one batch. Returns false if there is nothing to ship now. Rejects if the connection is lost. */
  async shipNext(client: Client): Promise<boolean> {
    if (this.#options.clock.elapsed() < this.#pausedUntil) return false
    try {
      return await this.#shipNext(client)
    } catch (error) {
      if (!isOfAnswers(error)) throw error
      this.#pausedUntil = this.#options.clock.elapsed() + pauseMs
      this.#options.log.error(
        { directory: this.#options.directory, error: String(error), pauseMs },
        'captured answers cannot be shipped now; this will be retried',
      )
      return false
    }
  }

  async #shipNext(client: Client): Promise<boolean> {
    const { directory, growing } = this.#options
    const segments = listAnswerSegments(directory, this.#disk).filter(
      (segment) => segment >= this.position.segment,
    )
    const [segment] = segments
    if (segment === undefined) return false
    const from = segment === this.position.segment ? this.position.at : 0
    const { answers, bytes, left } = this.#read(segment, from)
    if (answers.length > 0) {
      await this.#insert(client, answers)
      this.#moveTo({ segment, at: from + bytes })
      return true
    }
    const isSealed = !growing || segments.length > 1
    if (!isSealed) return false
    if (left > 0)
      this.#options.log.error(
        { directory, segment, bytes: left },
        'some captured answers are damaged or were cut off by a crash; they are skipped',
      )
    this.#moveTo({ segment: segment + 1, at: 0 })
    this.#disk.rmSync(answerSegmentPath(directory, segment), { force: true })
    return segments.length > 1
  }

  /**
   * Reads the whole frames from `from` on, up to `batchBytes` but at least one. `left` is the number of bytes
   * from `from` to the end.
   */
  #read(segment: number, from: number): { answers: ReadAnswer[]; bytes: number; left: number } {
    const fd = this.#disk.openSync(answerSegmentPath(this.#options.directory, segment), 'r')
    try {
      const left = Math.max(0, this.#disk.fstatSync(fd).size - from)
      const buffer = this.#readAt(fd, from, Math.min(left, this.#options.batchBytes))
      const answers: ReadAnswer[] = []
      let at = 0
      let frame = readAnswerFrame(buffer, at)
      while (typeof frame === 'object' && 'id' in frame) {
        answers.push(frame)
        at += frame.bytes
        frame = readAnswerFrame(buffer, at)
      }
      if (answers.length === 0 && typeof frame === 'object' && 'needs' in frame && frame.needs <= left) {
        const long = readAnswerFrame(this.#readAt(fd, from, frame.needs), 0)
        if (typeof long === 'object' && 'id' in long) return { answers: [long], bytes: long.bytes, left }
      }
      return { answers, bytes: at, left }
    } finally {
      this.#disk.closeSync(fd)
    }
  }

  async #insert(client: Client, answers: readonly ReadAnswer[]): Promise<void> {
    try {
      await client.query(insertAnswers, [
        answers.map(({ id }) => id),
        answers.map(({ id }) => new Date(momentOf(id))),
        answers.map(({ capture }) => capture),
        answers.map(({ truncated }) => truncated),
        answers.map(({ answer }) => answer),
      ])
    } catch (error) {
      if (!isDataError(error)) throw error
      const [first] = answers
      if (answers.length > 1) for (const answer of answers) await this.#insert(client, [answer])
      else
        this.#options.log.error(
          { id: first?.id, error: String(error) },
          'Postgres refused a captured answer; it is skipped',
        )
    }
  }

  #moveTo(position: AnswerPosition): void {
    this.#position = position
    try {
      writeAnswerPosition(this.#options.directory, position, this.#disk)
    } catch {
      // The disk is full. The next process that reads these files ships the answers once more, which changes
      // nothing.
    }
  }

  #readAt(fd: number, from: number, length: number): Buffer {
    const buffer = Buffer.allocUnsafe(length)
    return buffer.subarray(0, this.#disk.readSync(fd, buffer, 0, length, from))
  }

  #sizeOf(segment: number): number {
    const path = answerSegmentPath(this.#options.directory, segment)
    return this.#disk.statSync(path, { throwIfNoEntry: false })?.size ?? 0
  }
}

const insertAnswers = `
  INSERT INTO request_answers (request_id, created_at, capture, truncated, answer)
  SELECT * FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::boolean[], $5::text[])
  ON CONFLICT DO NOTHING`

/** True for errors of a file, and for statements that Postgres rejects. All others are connection errors. */
function isOfAnswers(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false
  if ('syscall' in error && 'path' in error) return true
  // Class 08 is for connection errors, 57P for a server that is shutting down.
  return /^[0-9A-Z]{5}$/.test(String(error.code)) && !/^(08|57P)/.test(String(error.code))
}
