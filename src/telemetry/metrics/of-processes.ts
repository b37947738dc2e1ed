import { declared } from './declarations.ts'
import { Metrics, type Snapshot } from './store.ts'

/** One process, as its supervisor asks it. */
export interface Asked {
  /** Rejects when it does not answer in time. `withShared`: also what is the same for all processes. */
  ask(withShared: boolean): Promise<Snapshot>
}

/** How often processes are asked when nobody looks: of one that is killed, the counts since then are lost. */
const apartMs = 5_000

/**
 * The metrics of all processes of a supervisor. What a process counts never falls: of one that has ended, and of one that does
 * not answer in time, its last answer counts. Gauges are those of the processes that answer.
 */
export class MetricsOfProcesses {
  readonly #expected: number
  /** The last answers. */
  readonly #processes = new Map<Asked, Snapshot | undefined>()
  /** What processes that have ended had counted. */
  readonly #ended = new Metrics()
  readonly #own = new Metrics()
  readonly #timer: NodeJS.Timeout

  constructor(expected: number) {
    this.#expected = expected
    this.#timer = setInterval(() => void this.#askAll(), apartMs).unref()
  }

  /** A process serves. */
  began(process: Asked): void {
    this.#processes.set(process, undefined)
  }

  /** It has ended. `last`: what it said at its end. */
  ended(process: Asked, last?: Snapshot): void {
    const counts = last ?? this.#processes.get(process)
    if (this.#processes.delete(process) && counts !== undefined) this.#ended.merge(counts, 'counts')
  }

  restarted(): void {
    this.#own.cells(declared.restarts).at().value += 1
  }

  async collect(): Promise<Snapshot> {
    const { answers, silent } = await this.#askAll()
    const all = new Metrics()
    all.merge(this.#ended.values(), 'counts')
    all.merge(this.#own.values(), 'counts')
    for (const answer of answers) all.merge(answer)
    for (const answer of silent) all.merge(answer, 'counts')
    all.cells(declared.processes).at().value = answers.length
    all.cells(declared.processesExpected).at().value = this.#expected
    return all.values()
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  /** `silent`: the last answers of those that do not answer now. */
  async #askAll(): Promise<{ answers: Snapshot[]; silent: Snapshot[] }> {
    const answers: Snapshot[] = []
    const silent: Snapshot[] = []
    await Promise.all(
      [...this.#processes.keys()].map(async (process, at) => {
        const answer = await process.ask(at === 0).catch(() => undefined)
        // Its counts went to those that have ended.
        if (!this.#processes.has(process)) return
        if (answer !== undefined) {
          this.#processes.set(process, answer)
          answers.push(answer)
          return
        }
        this.#own.cells(declared.leftOut).at().value += 1
        const last = this.#processes.get(process)
        if (last !== undefined) silent.push(last)
      }),
    )
    return { answers, silent }
  }
}
