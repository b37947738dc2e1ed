import type { Clock } from '../runtime/clock.ts'
import type { Log } from '../telemetry/log.ts'
import type { AnswerPosition } from './answer-files.ts'
import { AnswerJournal } from './answer-journal.ts'
import type { AnswerRecord } from './answer-record.ts'

export interface AnswerCaptureOptions {
  /**
   * The current journal directory of this process. It changes when another process takes this one for dead.
   */
  directory(): string
  journal(): { journalBytes: number; trouble: string | undefined }
  bounds: { journalSegmentBytes: number; journalAlarmBytes: number }
  clock: Clock
  log: Log
}

/** Time between two messages about dropped answers. */
const tellMs = 60_000

/**
 * The captured answers of this process, on their way to Postgres. What cannot be kept is counted, and
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

  /** Answers that were to be kept, and are not. */
  get dropped(): number {
    return this.#dropped
  }

  /** Bytes on the disk that Postgres does not have. */
  get bytes(): number {
    return this.#journal?.bytes ?? 0
  }

  /**
   * Write an answer that a client got. It is dropped and counted where the disk or Postgres are so far behind
   * that its bytes could be in the way of rows.
   */
  keep(record: AnswerRecord): void {
    const refusal = this.#refusal() ?? this.#journalNow().write(record)
    if (refusal !== undefined) this.drop(String(refusal))
  }

  /** Count an answer that was to be kept, and cannot be. */
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

  /** Nothing more is kept. */
  end(): void {
    this.#journal?.close()
  }

  /** The journal's alarm counts both together, so that answers never take the room of rows. */
  #refusal(): string | undefined {
    const { journalBytes, trouble } = this.#options.journal()
    if (trouble !== undefined) return 'the journal cannot be written'
    const isPastAlarm = journalBytes + this.bytes >= this.#options.bounds.journalAlarmBytes
    return isPastAlarm ? 'the journal is past JOURNAL_ALARM_BYTES' : undefined
  }

  #journalNow(): AnswerJournal {
    const { journalSegmentBytes: segmentBytes } = this.#options.bounds
    const directory = this.#options.directory()
    if (this.#journal === undefined || directory !== this.#directory) {
      this.#journal?.close()
      this.#journal = new AnswerJournal({ directory, segmentBytes })
      this.#directory = directory
    }
    return this.#journal
  }
}
