import type { Clock } from '../runtime/clock.ts'
import { type Disk, systemDisk } from '../runtime/disk.ts'
import type { Log } from '../telemetry/log.ts'
import type { AnswerPosition } from './answer-files.ts'
import { AnswerJournal } from './answer-journal.ts'
import type { AnswerRecord } from './answer-record.ts'

export interface AnswerCaptureOptions {
  /** The current journal directory of this process. It changes if another process takes this one for dead. */
  directory(): string
  journal(): { journalBytes: number; trouble: string | undefined }
  bounds: { journalSegmentBytes: number; journalAlarmBytes: number }
  disk?: Disk
  clock: Clock
  log: Log
}

/** The minimum time between two messages about dropped answers. */
const tellMs = 60_000

/**
 * The captured answers of this process on their way to Postgres. Answers that cannot be kept are counted and
 * reported once a minute.
 */
export class AnswerCapture {
  readonly #options: AnswerCaptureOptions
  #directory = ''
  #journal: AnswerJournal | undefined
  #dropped = 0
  #untold = 0
  #toldAt = Number.NEGATIVE_INFINITY

  constructor(options: AnswerCaptureOptions) {
    this.#options = options
  }

  /** The number of answers that should have been kept but were dropped. */
  get dropped(): number {
    return this.#dropped
  }

  /** The number of bytes on disk that have not been shipped to Postgres. */
  get bytes(): number {
    return this.#journal?.bytes ?? 0
  }

  /**
   * Writes an answer that a client received. If the disk or Postgres is so far behind that the answer could
   * displace rows, it is dropped and counted.
   */
  keep(record: AnswerRecord): void {
    const refusal = this.#refusal() ?? this.#journalNow().write(record)
    if (refusal !== undefined) this.drop(String(refusal))
  }

  /** Counts an answer that should have been kept but cannot be. */
  drop(reason: string): void {
    this.#dropped++
    this.#untold++
    const { clock, log } = this.#options
    if (clock.elapsed() - this.#toldAt < tellMs) return
    this.#toldAt = clock.elapsed()
    log.warn(
      { answers: this.#untold, reason },
      'captured answers are dropped; the rows of their requests are kept',
    )
    this.#untold = 0
  }

  shippedTo(position: AnswerPosition): void {
    this.#journal?.shippedTo(position)
  }

  /** Stops keeping answers. */
  end(): void {
    this.#journal?.close()
  }

  /**
   * The alarm limit applies to journal and answers together, so that answers never use the space needed by
   * rows.
   */
  #refusal(): string | undefined {
    const { journalBytes, trouble } = this.#options.journal()
    if (trouble !== undefined) return 'the journal cannot be written'
    const isPastAlarm = journalBytes + this.bytes >= this.#options.bounds.journalAlarmBytes
    return isPastAlarm ? 'the journal is larger than JOURNAL_ALARM_BYTES' : undefined
  }

  #journalNow(): AnswerJournal {
    const { journalSegmentBytes: segmentBytes } = this.#options.bounds
    const directory = this.#options.directory()
    if (this.#journal === undefined || directory !== this.#directory) {
      this.#journal?.close()
      this.#journal = new AnswerJournal({ directory, segmentBytes, disk: this.#options.disk ?? systemDisk })
      this.#directory = directory
    }
    return this.#journal
  }
}
