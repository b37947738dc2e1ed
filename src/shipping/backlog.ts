/** How far a process has written its journal, and how far the journal has been shipped to Postgres. */
export interface JournalProgress {
  /** Bytes since the start of the journal. */
  written: number
  /** Postgres has all bytes before this offset. */
  shipped: number
  /** The number of rows that this process has completed. */
  rows: number
}

interface Mark extends Pick<JournalProgress, 'written' | 'rows'> {
  /** The bytes between the previous mark and `written` were written after this time of `Clock.elapsed`. */
  since: number
}

/** More marks than this are merged: the age remains accurate, but the number of rows becomes coarser. */
const marksMax = 4_096

/**
 * Measures the age and the number of rows of the part of a journal that has not been shipped to Postgres. It
 * checks the journal periodically and does not query Postgres.
 */
export class Backlog {
  #marks: Mark[] = []
  #last: JournalProgress = { written: 0, shipped: 0, rows: 0 }
  #lookedAt: number
  /** Rows before the first mark. */
  #rowsShipped = 0
  /** Bytes written within this time after a mark belong to that mark. */
  #apartMs = 0

  constructor(now: number) {
    this.#lookedAt = now
  }

  /** Checks the journal. The age is the more accurate, the more often this is called. */
  look(progress: JournalProgress, now: number): void {
    // After a fence, the process has started a new journal.
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
      // New marks must be as far apart as the merged ones, or the oldest would be merged again and again.
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

  /** The number of rows whose end may not have reached Postgres yet. */
  get rows(): number {
    return this.#last.rows - this.#rowsShipped
  }

  /** The age in ms of the oldest bytes that have not been shipped to Postgres; 0 if there are none. */
  ageMs(now: number): number {
    const [oldest] = this.#marks
    return oldest === undefined ? 0 : now - oldest.since
  }
}

/** Merges each pair of marks into one, with the time of the first and the end of the second. */
function merged(marks: readonly Mark[]): Mark[] {
  const kept: Mark[] = []
  for (let i = 0; i < marks.length; i += 2) {
    const [first, second] = [marks[i], marks[i + 1]]
    if (first !== undefined) kept.push({ ...(second ?? first), since: first.since })
  }
  return kept
}
