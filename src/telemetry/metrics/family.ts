import type { Declaration } from './declarations.ts'

/** A series of a counter or a gauge. NaN means that the gauge is not set and is not shown. */
export interface Cell {
  value: number
}

/** A series of a histogram. */
export class Distribution {
  readonly #bounds: readonly number[]
  /** The number of values in each bucket on its own, and above the last bound. */
  readonly counts: number[]
  sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.counts = new Array<number>(bounds.length + 1).fill(0)
  }

  observe(value: number): void {
    const bounds = this.#bounds
    let at = 0
    while (at < bounds.length && value > (bounds[at] ?? 0)) at++
    this.counts[at] = (this.counts[at] ?? 0) + 1
    // When a clock is set back, times can be negative. A sum must never decrease.
    if (value > 0) this.sum += value
  }
}

/**
 * Separates the values in a key. No label value contains it: names have no control characters, and all other
 * values are our own.
 */
const separator = '\u0000'

/** All series of one metric, by their label values. Creates no more than the declaration allows. */
export class MetricFamily<Series> {
  readonly declaration: Declaration
  readonly #make: () => Series
  readonly #onFolded: () => void
  readonly #series = new Map<string, Series>()

  constructor(declaration: Declaration, make: () => Series, onFolded: () => void) {
    this.declaration = declaration
    this.#make = make
    this.#onFolded = onFolded
    if (declaration.labels.length === 0) this.#series.set('', make())
  }

  /**
   * Returns the series with these label values, in the order of the declaration. Callers that need a series
   * often should keep it.
   */
  at(...values: string[]): Series {
    const key = values.length === 1 ? (values[0] ?? '') : values.join(separator)
    return this.#series.get(key) ?? this.#add(key)
  }

  /** Removes all series. Allowed only for a gauge. */
  clear(): void {
    this.#series.clear()
  }

  *entries(): Iterable<[values: string[], series: Series]> {
    const { labels } = this.declaration
    for (const [key, series] of this.#series) yield [labels.length === 0 ? [] : key.split(separator), series]
  }

  #add(key: string): Series {
    const { labels, setsMax } = this.declaration
    const folded = new Array(labels.length).fill(other).join(separator)
    const isFull = this.#series.size >= setsMax && key !== folded
    if (isFull) this.#onFolded()
    const known = isFull ? this.#series.get(folded) : undefined
    if (known !== undefined) return known
    const made = this.#make()
    this.#series.set(isFull ? folded : key, made)
    return made
  }
}

/** The label value for everything that has no label value of its own. */
export const other = 'other'
/** The label value for something that a request does not have. */
export const none = 'none'
