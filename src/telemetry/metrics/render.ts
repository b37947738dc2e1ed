import { setImmediate } from 'node:timers/promises'
import { Gauge, Registry } from 'prom-client'
import { type Declaration, declared } from './declarations.ts'
import type { SeriesSnapshot } from './store.ts'

/** The media type of Prometheus' text format. */
export const contentType = Registry.PROMETHEUS_CONTENT_TYPE

/**
 * The values in Prometheus' text format. Metrics without a series are left out. Thousands of series take tens
 * of milliseconds, so requests have their turns between the metrics.
 */
export async function renderText(snapshot: SeriesSnapshot): Promise<string> {
  const registry = new Registry()
  const texts: string[] = []
  for (const declaration of Object.values<Declaration>(declared)) {
    const { name } = declaration
    const series = snapshot[name] ?? []
    if (series.length === 0) continue
    registry.registerMetric(new Rendered(declaration, series))
    texts.push(await registry.getSingleMetricAsString(name))
    await setImmediate()
  }
  return `${texts.join('\n\n')}\n`
}

interface Sample {
  metricName: string
  labels: Record<string, string>
  value: number
}

/**
 * A metric of any type. The registry writes what `getForPromString` returns, if a metric has it, as
 * prom-client's histograms do: so the values come from us, and the requests that they count cost none of
 * prom-client's time.
 */
class Rendered extends Gauge {
  readonly #declaration: Declaration
  readonly #series: SeriesSnapshot[string]

  constructor(declaration: Declaration, series: SeriesSnapshot[string]) {
    const { name, help, labels } = declaration
    super({ name, help, labelNames: [...labels], registers: [] })
    this.#declaration = declaration
    this.#series = series
  }

  getForPromString(): { name: string; help: string; type: string; values: Sample[] } {
    const { name, help, type, labels, divisor, buckets } = this.#declaration
    const values = this.#series.flatMap(([values, value]) => {
      const labelled = Object.fromEntries(labels.map((label, at) => [label, values[at] ?? '']))
      if (typeof value === 'number') return [{ metricName: name, labels: labelled, value: value / divisor }]
      return bucketsOf(name, labelled, buckets, value)
    })
    return { name, help, type, values }
  }
}

/** `value`: the counts of the buckets, then the sum. */
function bucketsOf(
  name: string,
  labels: Record<string, string>,
  buckets: readonly number[],
  value: readonly number[],
): Sample[] {
  let count = 0
  const rows = [...buckets.map(String), '+Inf'].map((le, at) => {
    count += value[at] ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le }, value: count }
  })
  return [
    ...rows,
    { metricName: `${name}_sum`, labels, value: value[buckets.length + 1] ?? 0 },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
