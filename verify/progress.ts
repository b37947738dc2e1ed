import type { Line } from './report.ts'

/**
 * Reports the progress of a run: as a single changing line on a terminal, and elsewhere as a line for each
 * check.
 */
export class ProgressLine {
  readonly #write: (text: string) => void
  readonly #isTerminal: boolean
  #total = 0
  #done = 0

  constructor(write: (text: string) => void, isTerminal: boolean) {
    this.#write = write
    this.#isTerminal = isTerminal
  }

  starts(total: number): void {
    this.#total = total
  }

  asks(title: string, name: string): void {
    if (this.#isTerminal) this.#write(`\r\u001b[2K${this.#done + 1}/${this.#total} ${title}: ${name}`)
  }

  found(title: string, { name, verdict }: Line): void {
    this.#done++
    if (!this.#isTerminal) this.#write(`${this.#done}/${this.#total} ${title}: ${name}: ${verdict}\n`)
  }

  /** Removes the changing line from the terminal. */
  clear(): void {
    if (this.#isTerminal) this.#write('\r\u001b[2K')
  }
}
