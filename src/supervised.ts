import type { SeriesSnapshot } from './telemetry/metrics/store.ts'
import type { MetricsSent, MetricsWanted } from './telemetry/metrics/supervise-metrics.ts'

/**
 * The supervisor and its processes talk over Node's IPC channel. It closes when either process ends, even by
 * SIGKILL. https://nodejs.org/api/child_process.html#child-process-event-disconnect
 */

/** The message that a process gets once, at its start. */
export interface Orders {
  /** The port that all processes share. 0: the first process takes a free one. */
  port: number
  /**
   * The address of the embedded Postgres. It has the password, so it is never an argument, nor in the
   * environment.
   */
  embeddedUrl: string | undefined
  /**
   * True for the first process: it prints how to call us. The others print only the keys that they generated.
   */
  greets: boolean
  /**
   * True for the first process, and for one that is started again: it builds the pages where they are old.
   */
  buildsPages: boolean
}

/**
 * The message that a process gets at each SIGHUP of its supervisor. A signal would end a process that has
 * just begun.
 */
export const reloadMessage = 'reload'

/** The message that a process sends when it serves. */
export interface Serves {
  /** 0 for a process that only runs workers. */
  port: number
}

/** The supervisor, as one of its processes sees it. */
export interface Supervisor extends Orders {
  serves(port: number): void
  /** Calls `end` when the supervisor has died or closed the channel: nothing else would end this process. */
  onGone(end: () => void): void
  /** Calls `reload` whenever the supervisor asks to apply gateway.yaml again. */
  onReload(reload: () => void): void
  /** `answer` gives the metrics of this process whenever the supervisor asks for them. */
  onMetrics(answer: (withShared: boolean) => Promise<SeriesSnapshot>): void
  /** Send the last metrics of this process. Resolves when they are on their way. */
  lastMetrics(snapshot: SeriesSnapshot): Promise<void>
}

/**
 * The argument of a process with a supervisor. An IPC channel alone does not show that: other programs open
 * one too.
 */
export const supervisedArgument = '--supervised'

/** Undefined: this process has no supervisor. Rejects when it had one that has died. */
export async function supervisorOfThisProcess(): Promise<Supervisor | undefined> {
  if (!process.argv.includes(supervisedArgument)) return undefined
  let end: () => void = () => process.exit(1)
  process.once('disconnect', () => end())
  if (!process.connected) throw new Error(`${supervisedArgument} is for the processes that PROCESSES starts`)
  const orders = await new Promise<Orders>((resolve) => {
    process.once('message', (message) => resolve(message as Orders))
  })
  let reload = () => {}
  let metrics: (withShared: boolean) => Promise<SeriesSnapshot> = async () => ({})
  process.on('message', (message) => {
    if (message === reloadMessage) reload()
    const wanted = wantedIn(message)
    if (wanted === undefined) return
    metrics(wanted.withShared)
      .then((snapshot) =>
        process.send?.({ metricsOf: wanted.metricsWanted, snapshot } satisfies MetricsSent, () => {}),
      )
      // The supervisor waits no longer than it does.
      .catch(() => {})
  })
  return {
    ...orders,
    serves: (port) => process.send?.({ port } satisfies Serves, () => {}),
    onGone(then) {
      end = then
    },
    onReload(then) {
      reload = then
    },
    onMetrics(then) {
      metrics = then
    },
    lastMetrics: (snapshot) =>
      new Promise((resolve) => {
        if (!process.connected) resolve()
        else process.send?.({ metricsOf: 0, snapshot } satisfies MetricsSent, () => resolve())
      }),
  }
}

/** Undefined: the message is another one. */
function wantedIn(message: unknown): MetricsWanted | undefined {
  const isWanted = typeof message === 'object' && message !== null && 'metricsWanted' in message
  return isWanted ? (message as MetricsWanted) : undefined
}
