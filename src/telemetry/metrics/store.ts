import { type Declaration, declared } from './declarations.ts'
import { type Cell, Distribution, MetricFamily } from './family.ts'

/**
 * The series of a metric: label values with a value or, for a histogram, the counts of its buckets followed
 * by their sum.
 */
export type SeriesSnapshot = Record<string, [values: string[], value: number | number[]][]>

/** The metrics of one or several processes. It contains only numbers; `renderText` formats them. */
export class Metrics {
  readonly #cells = new Map<string, MetricFamily<Cell>>()
  readonly #distributions = new Map<string, MetricFamily<Distribution>>()
  readonly #collectors: (() => void | Promise<void>)[] = []

  constructor() {
    const folded = () => {
      this.cells(declared.unnamed).at().value += 1
    }
    for (const declaration of Object.values<Declaration>(declared)) {
      const { type, name, buckets } = declaration
      if (type === 'histogram')
        this.#distributions.set(name, new MetricFamily(declaration, () => new Distribution(buckets), folded))
      else
        this.#cells.set(
          name,
          new MetricFamily(declaration, () => ({ value: type === 'gauge' ? Number.NaN : 0 }), folded),
        )
    }
  }

  cells({ name }: Declaration & { type: 'counter' | 'gauge' }): MetricFamily<Cell> {
    return known(this.#cells.get(name), name)
  }

  distributions({ name }: Declaration & { type: 'histogram' }): MetricFamily<Distribution> {
    return known(this.#distributions.get(name), name)
  }

  /** Registers a collector, which sets gauges whenever the metrics are read. */
  collect(collector: () => void | Promise<void>): void {
    this.#collectors.push(collector)
  }

  /** Runs all collectors. If one fails, its gauges are left out. It must not run twice at the same time. */
  async gather(): Promise<void> {
    for (const family of this.#cells.values()) if (family.declaration.type === 'gauge') family.clear()
    await Promise.all(
      this.#collectors.map(async (collector) => collector()).map((one) => one.catch(() => {})),
    )
  }

  /** Returns all values, with the gauges as last gathered. */
  values(): SeriesSnapshot {
    const snapshot: SeriesSnapshot = {}
    for (const [name, family] of this.#cells) {
      snapshot[name] = [...family.entries()].flatMap(([values, { value }]) =>
        Number.isNaN(value) ? [] : [[values, value]],
      )
    }
    for (const [name, family] of this.#distributions)
      snapshot[name] = [...family.entries()].map(([values, { counts, sum }]) => [values, [...counts, sum]])
    return snapshot
  }

  /**
   * Adds the values of a process. `counts` adds only the values that a process accumulates over its life;
   * `gauges` adds only the values that describe its current state.
   */
  merge(snapshot: SeriesSnapshot, which: 'all' | 'counts' | 'gauges' = 'all'): void {
    for (const [name, family] of this.#cells) {
      const kind = family.declaration.type === 'gauge' ? 'gauges' : 'counts'
      if (which !== 'all' && which !== kind) continue
      for (const [values, value] of snapshot[name] ?? []) {
        if (typeof value === 'number') mergeValue(family.at(...values), value, family.declaration.merge)
      }
    }
    if (which === 'gauges') return
    for (const [name, family] of this.#distributions) {
      for (const [values, value] of snapshot[name] ?? []) {
        if (typeof value !== 'number') mergeCounts(family.at(...values), value)
      }
    }
  }
}

function mergeValue(cell: Cell, value: number, merge: Declaration['merge']): void {
  if (merge === 'sum') cell.value = exactSum(Number.isNaN(cell.value) ? 0 : cell.value, value)
  else if (Number.isNaN(cell.value)) cell.value = value
  else cell.value = merge === 'max' ? Math.max(cell.value, value) : Math.min(cell.value, value)
}

function mergeCounts(distribution: Distribution, value: readonly number[]): void {
  const { counts } = distribution
  for (let at = 0; at < counts.length; at++) counts[at] = (counts[at] ?? 0) + (value[at] ?? 0)
  distribution.sum = exactSum(distribution.sum, value[counts.length] ?? 0)
}

function known<T>(family: T | undefined, name: string): T {
  if (family === undefined) throw new Error(`${name} is not declared`)
  return family
}

/** Fractions are rounded to multiples of this power of 2, which a number represents exactly up to 5e11. */
const grain = 2 ** -14

/**
 * Adds a value, rounded to the grain, to `sum`. Whole numbers are unchanged. Without rounding, sums of
 * fractions would depend on their order, so a total could decrease in its last digit when a process ends and
 * its values are added elsewhere. Prometheus would take that for a restart and count everything again.
 */
function exactSum(sum: number, value: number): number {
  return sum + Math.round(value / grain) * grain
}
