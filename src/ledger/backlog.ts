/** How far a process has written its journal, and how far Postgres has it. */
export interface JournalProgress {
  /** Bytes since the start of the journal. */
  written: number
  /** Postgres has all bytes before it. */
  shipped: number
  /** Rows that this process has completed. */
  rows: number
}

interface Mark extends Pick<JournalProgress, 'written' | 'rows'> {
  /**
   * The bytes before `written` and after the mark before were written after this moment of `Clock.elapsed`.
   */
  since: number
}

/** More marks are merged: the age then stays right, and the number of rows gets coarser. */
const marksMax = 4_096

/**
 * Measures the part of a journal that Postgres does not have: its age and its rows. It looks at the journal
 * periodically, and asks Postgres nothing.
 */
export class Backlog {
  #marks: Mark[] = []
  #last: JournalProgress = { written: 0, shipped: 0, rows: 0 }
  #lookedAt: number
  /** Rows before the first mark. */
  #rowsShipped = 0
  /** Bytes that come sooner after a mark belong to that mark. */
  #apartMs = 0

  constructor(now: number) {
    this.#lookedAt = now
  }

  /** Look at the journal. The shorter the time between two looks, the more exact is the age. */
  look(progress: JournalProgress, now: number): void {
    // After a fence the process has begun a new journal.
    if (progress.written < this.#last.written) {
      this.#marks = []
      this.#last = { written: 0, shipped: 0, rows: this.#last.rows }
      this.#rowsShipped = this.#last.rows
    }
    const { written, shipped, rows } = progress
    if (written > this.#last.written) this.#mark(written, rows)
    const first = this.#marks.findIndex((mark) => mark.written > shipped)
    const isAll = first < 0
    const shippedMark = this.#marks[(isAll ? this.#marks.length : first) - 1]
    if (shippedMark !== undefined) this.#rowsShipped = shippedMark.rows
    this.#marks.splice(0, isAll ? this.#marks.length : first)
    if (isAll) {
      this.#rowsShipped = rows
      this.#apartMs = 0
    }
    const [oldest] = this.#marks
    if (oldest !== undefined && this.#marks.length > marksMax) {
      this.#marks = merged(this.#marks)
      // As far apart as those that are merged now, or the oldest ones would be merged again and again.
      this.#apartMs = ((now - oldest.since) / marksMax) * 2
    }
    this.#last = { ...progress }
    this.#lookedAt = now
  }

  #mark(written: number, rows: number): void {
    const since = this.#lookedAt
    const latest = this.#marks.at(-1)
    const isNear = latest !== undefined && since - latest.since < this.#apartMs
    if (isNear) this.#marks[this.#marks.length - 1] = { since: latest.since, written, rows }
    else this.#marks.push({ since, written, rows })
  }

  get bytes(): number {
    return Math.max(0, this.#last.written - this.#last.shipped)
  }

  /** Rows of which Postgres may not have the end yet. */
  get rows(): number {
    return this.#last.rows - this.#rowsShipped
  }

  /** Age in ms of the oldest bytes that Postgres does not have; 0: it has all. */
  ageMs(now: number): number {
    const [oldest] = this.#marks
    return oldest === undefined ? 0 : now - oldest.since
  }
}

/** Pairs of marks become one, with the moment of the first and the end of the second. */
function merged(marks: readonly Mark[]): Mark[] {
  const kept: Mark[] = []
  for (let i = 0; i < marks.length; i += 2) {
    const [first, second] = [marks[i], marks[i + 1]]
    if (first !== undefined) kept.push({ ...(second ?? first), since: first.since })
  }
  return kept
}
