import type { ChildProcess } from 'node:child_process'
import { inTime } from '../../runtime/in-time.ts'
import type { Log } from '../log.ts'
import { MetricsOfProcesses, type ProcessReport } from './of-processes.ts'
import { serveMetrics } from './serve-metrics.ts'
import type { SeriesSnapshot } from './store.ts'

/** The supervisor asks for the metrics of a process. */
export interface MetricsWanted {
  metricsWanted: number
  withShared: boolean
}

/** Its answer, with the number of the request. At its end a process answers once without a request: 0. */
export interface MetricsSent {
  metricsOf: number
  snapshot: SeriesSnapshot
}

/** A process that does not answer within this time is left out. */
const answerMs = 1_000

/** The metrics of the processes of a supervisor, which serves them. */
export interface ProcessesMetrics {
  /** Ask this process from now on. Call it when it serves. */
  follow(child: ChildProcess): void
  /** The supervisor starts a process in place of another. */
  restarted(): void
}

/** Rejects with an Error for the operator when the port is taken. */
export async function superviseMetrics(
  processes: number,
  place: { metricsHost: string; metricsPort: number },
  log: Log,
): Promise<ProcessesMetrics> {
  const metrics = new MetricsOfProcesses(processes)
  await serveMetrics(place, log, () => metrics.collect())
  return {
    follow(child) {
      const asked = new AskedProcess(child)
      metrics.began(asked)
      // It comes after the last message.
      child.once('disconnect', () => metrics.ended(asked))
    },
    restarted: () => metrics.restarted(),
  }
}

class AskedProcess implements ProcessReport {
  last: SeriesSnapshot | undefined
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (snapshot: SeriesSnapshot) => void>()
  #asked = 0

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (message) => {
      const sent = sentIn(message)
      if (sent === undefined) return
      this.last = sent.snapshot
      this.#waiting.get(sent.metricsOf)?.(sent.snapshot)
    })
  }

  async ask(withShared: boolean): Promise<SeriesSnapshot> {
    const metricsWanted = ++this.#asked
    const answer = new Promise<SeriesSnapshot>((resolve) => {
      this.#waiting.set(metricsWanted, resolve)
    })
    try {
      this.#child.send({ metricsWanted, withShared } satisfies MetricsWanted, () => {})
      return await inTime(answer, answerMs, 'a process')
    } finally {
      this.#waiting.delete(metricsWanted)
    }
  }
}

/** Undefined: the message is another one. */
function sentIn(message: unknown): MetricsSent | undefined {
  const isSent = typeof message === 'object' && message !== null && 'metricsOf' in message
  return isSent ? (message as MetricsSent) : undefined
}
