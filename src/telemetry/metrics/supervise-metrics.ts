import type { ChildProcess } from 'node:child_process'
import { inTime } from '../../runtime/in-time.ts'
import type { Log } from '../log.ts'
import { MetricsOfProcesses, type ProcessReport } from './of-processes.ts'
import { serveMetrics } from './serve-metrics.ts'
import type { SeriesSnapshot } from './store.ts'

/** The supervisor's request for the metrics of a process. */
export interface MetricsWanted {
  metricsWanted: number
  withShared: boolean
}

/**
 * The response, with the number of the request. When a process ends, it sends one response without a request,
 * with the number 0.
 */
export interface MetricsSent {
  metricsOf: number
  snapshot: SeriesSnapshot
}

/** A process that does not respond within this time is left out. */
const answerMs = 1_000

/** The metrics of a supervisor's processes, served by the supervisor. */
export interface ProcessesMetrics {
  /** Polls this process from now on. Call it when the process starts serving. */
  follow(child: ChildProcess): void
  /** Called when the supervisor starts a process to replace another. */
  restarted(): void
}

/** Rejects with an Error for the operator if the port is in use. */
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
      // This event is emitted after the last message.
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

/** Returns undefined if it is a different message. */
function sentIn(message: unknown): MetricsSent | undefined {
  const isSent = typeof message === 'object' && message !== null && 'metricsOf' in message
  return isSent ? (message as MetricsSent) : undefined
}
