import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { drain } from '../http/drain.ts'
import { listen, makeServer } from '../http/http-server.ts'
import { leave } from '../http/leave.ts'
import { intakeOf } from '../pipeline/intake.ts'
import { Opened, openAll } from '../runtime/opened.ts'
import { asksForSocket } from '../sockets/accept-sockets.ts'
import { serveMetrics } from '../telemetry/metrics/serve-metrics.ts'
import { makeApp } from './app.ts'
import type { Context } from './context.ts'
import type { Pages } from './pages/pages.ts'
import type { Supervisor } from './supervised.ts'

/** Runs the jobs of the queues in this process. */
export type StartWorkers = (context: Context) => Promise<RunningWorkers>

interface RunningWorkers {
  /** Running jobs can continue for `drainMs`. */
  close(drainMs: number): Promise<void>
}

/** The parts of a process besides its context. */
export interface ServingParts {
  startWorkers: StartWorkers
  pages?: Pages | undefined
  /** Set if the process is one of several that share the port. */
  supervisor?: Supervisor | undefined
  /** Called with the server before it listens. */
  onServer?: (server: Server) => void
}

/**
 * Everything that a process does with its open context, depending on its role: it serves metrics and clients,
 * and runs jobs.
 */
export class Serving {
  readonly #context: Context
  readonly #parts: ServingParts
  /** Undefined until clients can reach this process; some processes never serve clients. */
  #server: Server | undefined
  #metrics: { close(): void } | undefined
  readonly #ends: ((drainMs: number) => Promise<void>)[] = []

  constructor(context: Context, parts: ServingParts) {
    this.#context = context
    this.#parts = parts
  }

  /**
   * Resolves with the port once clients are served, or with 0 for a process that only runs workers. Rejects
   * with an Error for the operator after closing the context.
   */
  async start(): Promise<number> {
    return await openAll({ close: () => this.stop(0) }, () => this.#start())
  }

  async #start(): Promise<number> {
    const { config, log } = this.#context
    const { supervisor } = this.#parts
    await this.#showMetrics()
    if (config.role === 'worker') {
      await this.#work()
      return 0
    }
    const server = this.#makeServer()
    const { host } = config
    await listen(server, {
      host,
      port: supervisor?.port ?? config.port,
      reusePort: supervisor !== undefined,
    })
    this.#server = server
    // The workers start last, because a process without its port must not claim jobs.
    if (config.role === 'all') await this.#work()
    const { port } = server.address() as AddressInfo
    log.info({ host, port }, 'listening')
    return port
  }

  /** Continues to serve for SHUTDOWN_DELAY_MS, so that proxies stop choosing this process. */
  async leave(reason: string): Promise<void> {
    const { bounds, log } = this.#context
    if (this.#server === undefined || bounds.shutdownDelayMs === 0) return
    log.info({ reason, forMs: bounds.shutdownDelayMs }, 'leaving')
    await leave(this.#context, this.#server)
  }

  /**
   * Lets running requests and jobs continue for at most `drainMs`, sends the last metrics, and closes the
   * context. If some parts could not be closed, rejects once the rest are closed.
   */
  async stop(drainMs = this.#context.bounds.drainOnShutdownMs): Promise<void> {
    const context = this.#context
    context.draining = true
    const opened = new Opened(context.log)
    opened.add('the metrics port', () => this.#metrics?.close())
    opened.add('the context', () => context.close())
    // All requests have ended, so these counts are final.
    opened.add('the last metrics', async () => {
      if (context.measures !== undefined)
        await this.#parts.supervisor?.lastMetrics(await context.measures.snapshot(false))
    })
    opened.add('requests and jobs', ...this.#ends.map((end) => () => end(drainMs)))
    await opened.close()
  }

  #makeServer(): Server {
    const { config, measures } = this.#context
    const context = this.#context
    const server = makeServer(context, intakeOf(context, makeApp(context, this.#parts.pages)), (request) =>
      config.responsesWebsocket === 'on' ? asksForSocket(request) : false,
    )
    measures?.showConnections(server)
    this.#ends.push(async (drainMs) => {
      // Closing the port would reset connections that are waiting to be accepted. Accept them first, and
      // refuse their requests in the client's format.
      await setImmediate()
      await drain(context, server, drainMs)
    })
    this.#parts.onServer?.(server)
    return server
  }

  async #work(): Promise<void> {
    const workers = await this.#parts.startWorkers(this.#context)
    this.#ends.push((drainMs) => workers.close(drainMs))
  }

  /**
   * Serves metrics on METRICS_PORT until this process ends. If there are several processes, the supervisor
   * serves the metrics and polls each of them.
   */
  async #showMetrics(): Promise<void> {
    const { config, log, measures } = this.#context
    const { metricsHost, metricsPort } = config
    const { supervisor } = this.#parts
    if (measures === undefined || metricsPort === undefined) return
    if (supervisor !== undefined) supervisor.onMetrics((withShared) => measures.snapshot(withShared))
    else this.#metrics = await serveMetrics({ metricsHost, metricsPort }, log, () => measures.snapshot(true))
  }
}
