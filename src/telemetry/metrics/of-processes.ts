import { declared } from './declarations.ts'
import { Metrics, type SeriesSnapshot } from './store.ts'

/** A process as seen by its supervisor. */
export interface ProcessReport {
  /**
   * The newest snapshot received, including one that was late or was sent unasked at the end. Undefined if
   * there is none yet.
   */
  readonly last: SeriesSnapshot | undefined
  /**
   * Rejects if the process does not respond in time. `withShared` also requests the values that are the same
   * for all processes.
   */
  ask(withShared: boolean): Promise<SeriesSnapshot>
}

/**
 * How often processes are polled when nothing scrapes them. If a process is killed, its counts since the last
 * poll are lost.
 */
const apartMs = 5_000

/**
 * The metrics of all processes of a supervisor. The counters never decrease: for a process that has ended or
 * does not respond in time, its last values are used. Gauges include only the processes that respond.
 */
export class MetricsOfProcesses {
  readonly #expected: number
  readonly #processes = new Set<ProcessReport>()
  /** The processes that did not respond when last polled. */
  readonly #silent = new Set<ProcessReport>()
  /** The counts of processes that have ended. */
  readonly #ended = new Metrics()
  readonly #own = new Metrics()
  readonly #timer: NodeJS.Timeout

  constructor(expected: number) {
    this.#expected = expected
    this.#timer = setInterval(() => void this.#askAll(false), apartMs).unref()
  }

  /** Called when a process starts serving. */
  began(process: ProcessReport): void {
    this.#processes.add(process)
  }

  /** Called when a process has ended and will send nothing more. */
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
    // A process that has ended since it responded is already included in the ended ones.
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

  /** Returns the snapshots of the processes that respond in time. */
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
