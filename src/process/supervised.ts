import type { SeriesSnapshot } from '../telemetry/metrics/store.ts'
import type { MetricsSent, MetricsWanted } from '../telemetry/metrics/supervise-metrics.ts'

/**
 * The supervisor and its processes communicate over Node's IPC channel. It closes when either process ends,
 * even by SIGKILL. https://nodejs.org/api/child_process.html#child-process-event-disconnect
 */

/** The message that a process receives once when it starts. */
export interface Orders {
  /** The port that all processes share. With 0, the first process chooses a free one. */
  port: number
  /**
   * The address of the embedded Postgres. It contains the password, so it is never an argument or in the
   * environment.
   */
  embeddedUrl: string | undefined
  /**
   * True for the first process, which prints how to call the gateway. The others print only the keys that
   * they generated.
   */
  greets: boolean
  /** True for the first process and for restarted ones, which build the pages if they are out of date. */
  buildsPages: boolean
}

/**
 * The message that a process receives on each SIGHUP of its supervisor. A signal would end a process that has
 * only just started.
 */
export const reloadMessage = 'reload'

/** The message that a process sends when it is ready. */
export interface Serves {
  /** 0 for a process that only runs workers. */
  port: number
}

/** The supervisor as seen by one of its processes. */
export interface Supervisor extends Orders {
  serves(port: number): void
  /** Calls `end` when the supervisor has died or closed the channel. Nothing else would end this process. */
  onGone(end: () => void): void
  /** Calls `reload` whenever the supervisor requests that gateway.yaml be applied again. */
  onReload(reload: () => void): void
  /** `answer` returns the metrics of this process whenever the supervisor requests them. */
  onMetrics(answer: (withShared: boolean) => Promise<SeriesSnapshot>): void
  /** Sends the last metrics of this process. Resolves when they are on their way. */
  lastMetrics(snapshot: SeriesSnapshot): Promise<void>
}

/**
 * The argument of a process with a supervisor. An IPC channel is not sufficient evidence, because other
 * programs open one too.
 */
export const supervisedArgument = '--supervised'

/** Undefined if this process has no supervisor. Rejects if its supervisor has died. */
export async function supervisorOfThisProcess(): Promise<Supervisor | undefined> {
  if (!process.argv.includes(supervisedArgument)) return undefined
  let end: () => void = () => process.exit(1)
  process.once('disconnect', () => end())
  if (!process.connected) throw new Error(`${supervisedArgument} can be used only by the supervisor`)
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
      // The supervisor has its own timeout for the response.
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

/** Returns undefined if it is a different message. */
function wantedIn(message: unknown): MetricsWanted | undefined {
  const isWanted = typeof message === 'object' && message !== null && 'metricsWanted' in message
  return isWanted ? (message as MetricsWanted) : undefined
}
