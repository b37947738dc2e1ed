import { declared } from './declarations.ts'
import { Metrics, type SeriesSnapshot } from './store.ts'

/** One process, as its supervisor asks it. */
export interface ProcessReport {
  /** The newest of all that it has said, also too late, or unasked at its end. Undefined: nothing yet. */
  readonly last: SeriesSnapshot | undefined
  /** Rejects when it does not answer in time. `withShared`: also what is the same for all processes. */
  ask(withShared: boolean): Promise<SeriesSnapshot>
}

/** How often processes are polled without a scrape: if one is killed, its counts since then are lost. */
const apartMs = 5_000

/**
 * The metrics of all processes of a supervisor. The counters of a process never fall: for one that has ended,
 * and for one that does not answer in time, its last values count. Gauges are those of the processes that
 * answer.
 */
export class MetricsOfProcesses {
  readonly #expected: number
  readonly #processes = new Set<ProcessReport>()
  /** Those that did not answer when they were asked last. */
  readonly #silent = new Set<ProcessReport>()
  /** What processes that have ended had counted. */
  readonly #ended = new Metrics()
  readonly #own = new Metrics()
  readonly #timer: NodeJS.Timeout

  constructor(expected: number) {
    this.#expected = expected
    this.#timer = setInterval(() => void this.#askAll(false), apartMs).unref()
  }

  /** A process serves. */
  began(process: ProcessReport): void {
    this.#processes.add(process)
  }

  /** It has ended, and says nothing more. */
  ended(process: ProcessReport): void {
    this.#silent.delete(process)
    if (this.#processes.delete(process) && process.last !== undefined)
      this.#ended.merge(process.last, 'counts')
  }

  restarted(): void {
    this.#own.cells(declared.restarts).at().value += 1
  }

  async collect(): Promise<SeriesSnapshot> {
    const answers = await this.#askAll(true)
    const all = new Metrics()
    all.merge(this.#ended.values(), 'counts')
    all.merge(this.#own.values(), 'counts')
    let answered = 0
    // One that has ended since it answered is among those that have ended.
    for (const process of this.#processes) {
      if (process.last !== undefined) all.merge(process.last, 'counts')
      const answer = answers.get(process)
      if (answer === undefined) continue
      all.merge(answer, 'gauges')
      answered++
    }
    all.cells(declared.processes).at().value = answered
    all.cells(declared.processesExpected).at().value = this.#expected
    return all.values()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** The answers of those that answer in time. */
  async #askAll(withShared: boolean): Promise<ReadonlyMap<ProcessReport, SeriesSnapshot>> {
    const answers = new Map<ProcessReport, SeriesSnapshot>()
    const processes = [...this.#processes]
    const reader = processes.find((process) => !this.#silent.has(process)) ?? processes[0]
    await Promise.all(
      processes.map(async (process) => {
        const answer = await process.ask(withShared && process === reader).catch(() => undefined)
        if (!this.#processes.has(process)) return
        if (answer === undefined) {
          this.#silent.add(process)
          this.#own.cells(declared.leftOut).at().value += 1
        } else {
          this.#silent.delete(process)
          answers.set(process, answer)
        }
      }),
    )
    return answers
  }
}
