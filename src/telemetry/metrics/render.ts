import { setImmediate } from 'node:timers/promises'
import { type Declaration, declared } from './declarations.ts'
import type { SeriesSnapshot } from './store.ts'

/** The media type of the Prometheus text format. */
export const contentType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Renders the values in the Prometheus text format:
 * https://prometheus.io/docs/instrumenting/exposition_formats/, read 2026-11-29. Metrics without a series are
 * left out. Thousands of series take tens of milliseconds, so it yields to requests between the metrics.
 */
export async function renderText(snapshot: SeriesSnapshot): Promise<string> {
  const texts: string[] = []
  for (const declaration of Object.values<Declaration>(declared)) {
    const { name, help, type } = declaration
    const series = snapshot[name] ?? []
    if (series.length === 0) continue
    const lines = series.flatMap(([values, value]) => linesOf(declaration, values, value))
    texts.push([`# HELP ${name} ${escaped(help)}`, `# TYPE ${name} ${type}`, ...lines].join('\n'))
    await setImmediate()
  }
  return `${texts.join('\n\n')}\n`
}

/**
 * Renders one line, or the lines of a histogram, whose value contains the counts of its buckets followed by
 * its sum.
 */
function linesOf(
  { name, labels, divisor, buckets }: Declaration,
  values: readonly string[],
  value: number | readonly number[],
): string[] {
  const pairs = labels.map((label, at) => `${label}="${escaped(values[at] ?? '').replaceAll('"', '\\"')}"`)
  const within = (all: readonly string[]) => (all.length === 0 ? '' : `{${all.join(',')}}`)
  if (typeof value === 'number') return [`${name}${within(pairs)} ${value / divisor}`]
  let count = 0
  const rows = [...buckets, '+Inf'].map((le, at) => {
    count += value[at] ?? 0
    return `${name}_bucket${within([...pairs, `le="${le}"`])} ${count}`
  })
  const sum = value[buckets.length + 1] ?? 0
  return [...rows, `${name}_sum${within(pairs)} ${sum}`, `${name}_count${within(pairs)} ${count}`]
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
