import type { Server } from 'node:http'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Catalog } from '../../catalog/catalog.ts'
import type { Config } from '../../config/config.ts'
import type { Database } from '../../db/database.ts'
import { modelEndpoints } from '../../pipeline/endpoints.ts'
import { declared } from '../../telemetry/metrics/declarations.ts'
import { Metrics, type SeriesSnapshot } from '../../telemetry/metrics/store.ts'
import { limitsMeter } from './limits-meter.ts'
import { type MeasuredReservations, measuredReservations } from './money-meter.ts'
import { type Measured, showProcess } from './process-state.ts'
import { RowMeter } from './row-meter.ts'
import { measureRuntime } from './runtime.ts'
import { SharedState } from './shared-state.ts'

/** The measurements of a process. If METRICS_PORT is not set, this does not exist and nothing is measured. */
export class Measures {
  readonly metrics = new Metrics()
  readonly rows: RowMeter
  readonly onLimits = limitsMeter(this.metrics)
  readonly #shared: SharedState
  readonly #runtime: { stop(): void }
  /** Snapshots are taken one after the other. */
  #shown: Promise<unknown> = Promise.resolve()

  constructor({
    config: { role },
    catalog,
    database,
  }: {
    config: Config
    catalog: Pick<Catalog, 'snapshot'>
    database: Pick<Database, 'log'>
  }) {
    const paths = modelEndpoints.map(({ path }) => path)
    this.rows = new RowMeter(this.metrics, catalog, paths)
    this.#shared = new SharedState(database)
    this.#runtime = measureRuntime(this.metrics)
    this.metrics.collect(() => {
      this.metrics.cells(declared.build).at(packageJson.version, process.version, role).value = 1
    })
  }

  /**
   * Returns all current values. `withShared` includes the values that Postgres holds for all processes, which
   * only one of several processes should read.
   */
  async snapshot(withShared: boolean): Promise<SeriesSnapshot> {
    const shown = this.#shown.then(async () => {
      await Promise.all([this.metrics.gather(), withShared ? this.#shared.show(this.metrics) : undefined])
      return this.metrics.values()
    })
    this.#shown = shown.catch(() => {})
    return await shown
  }

  show(process: Measured): void {
    showProcess(this.metrics, process)
  }

  showConnections(server: Server): void {
    this.metrics.collect(async () => {
      const { promise, resolve, reject } = Promise.withResolvers<number>()
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error)))
      this.metrics.cells(declared.connections).at().value = await promise
    })
  }

  reservations(reservations: MeasuredReservations): MeasuredReservations {
    return measuredReservations(this.metrics, reservations)
  }

  stop(): void {
    this.#runtime.stop()
  }
}
