import uPlot from 'uplot'
import { clock, day } from '../format/moments.ts'
import { palette } from '../theme-colors.ts'
import type { Scheme } from './chart-colors.ts'
import { ticksOf } from './chart-ticks.ts'

export interface ChartSeries {
  name: string
  color: string
  /** One for each bucket; null where nothing was measured: a line has a gap there. */
  values: readonly (number | null)[]
}

export function spanOf(at: readonly number[], stepMs: number): [number, number] {
  const [first, last] = [at[0] ?? 0, at.at(-1) ?? 0]
  return [first / 1_000, (last + stepMs) / 1_000]
}

/** uPlot draws in order, so of a stack the whole height comes first, and lower parts over it. */
export function dataOf(
  at: readonly number[],
  series: readonly ChartSeries[],
  kind: 'stacked' | 'lines',
): uPlot.AlignedData {
  const seconds = at.map((ms) => ms / 1_000)
  if (kind === 'lines') return [seconds, ...series.map(({ values }) => [...values])]
  const sums = at.map(() => 0)
  const stacked = series.map(({ values }) =>
    sums.map((sum, index) => {
      const height = sum + (values[index] ?? 0)
      sums[index] = height
      return height
    }),
  )
  return [seconds, ...stacked.reverse()]
}

export function seriesOf(series: readonly ChartSeries[], kind: 'stacked' | 'lines'): uPlot.Series[] {
  if (kind === 'lines') {
    return series.map(({ name, color }) => ({
      label: name,
      stroke: color,
      width: 1.5,
      // A bucket between two gaps would be a line of no length.
      points: { size: 4, fill: color, filter: lonelyPoints },
    }))
  }
  const paths = uPlot.paths.bars?.({ align: 1, size: [0.9, 64], gap: 1 })
  return series
    .map(({ name, color }) => ({
      label: name,
      fill: color,
      width: 0,
      points: { show: false },
      ...(paths === undefined ? {} : { paths }),
    }))
    .reverse()
}

function lonelyPoints(chart: uPlot, at: number): number[] {
  const values = chart.data[at] ?? []
  const isHere = (index: number) => values[index] !== null && values[index] !== undefined
  return Array.from(values.keys()).filter(
    (index) => isHere(index) && !isHere(index - 1) && !isHere(index + 1),
  )
}

/** How much of the height is free above the highest tick, so that a click above a bar finds a place. */
const headroom = 1.08

/** The scale and the ticks of the axis of values, for the highest bar or point. */
export function valuesAxis(
  data: uPlot.AlignedData,
  limit = 0,
): { most: number; ticks: number[]; top: number } {
  const values = data.slice(1).flatMap((each) => Array.from(each ?? []).map((value) => value ?? 0))
  const most = values.reduce((highest, value) => Math.max(highest, value), 0)
  // A limit far above would make the bars flat.
  const highest = limit <= most * 3 ? Math.max(most, limit) : most
  const ticks = ticksOf(highest, values.every(Number.isInteger))
  return { most, ticks, top: (ticks.at(-1) || 1) * headroom }
}

/** A dashed line across the plot, unless it would be above it. */
export function drawLimit(chart: uPlot, scheme: Scheme, value: number | undefined): void {
  const { ctx, bbox, scales } = chart
  if (value === undefined || value > (scales.y?.max ?? 0)) return
  const y = chart.valToPos(value, 'y', true)
  ctx.save()
  ctx.strokeStyle = palette[scheme].bad
  ctx.lineWidth = 1.5 * devicePixelRatio
  ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio])
  ctx.beginPath()
  ctx.moveTo(bbox.left, y)
  ctx.lineTo(bbox.left + bbox.width, y)
  ctx.stroke()
  ctx.restore()
}

/** Hatches a part of the plot, in seconds: its bars are not whole. */
export function hatch(chart: uPlot, scheme: Scheme, [from, to]: readonly [number, number]): void {
  const { ctx, bbox } = chart
  const left = Math.max(bbox.left, chart.valToPos(from, 'x', true))
  const width = Math.min(bbox.left + bbox.width, chart.valToPos(to, 'x', true)) - left
  if (width <= 0) return
  const gap = 5 * devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(left, bbox.top, width, bbox.height)
  ctx.clip()
  ctx.globalAlpha = 0.12
  ctx.fillStyle = palette[scheme].quiet
  ctx.fillRect(left, bbox.top, width, bbox.height)
  ctx.globalAlpha = 1
  ctx.strokeStyle = palette[scheme].ground
  ctx.lineWidth = 2 * devicePixelRatio
  ctx.beginPath()
  for (let at = left - bbox.height; at < left + width; at += gap) {
    ctx.moveTo(at, bbox.top + bbox.height)
    ctx.lineTo(at + bbox.height, bbox.top)
  }
  ctx.stroke()
  ctx.restore()
}

/** `14:00`; the day where it begins, or where the steps are days. */
export function timeLabels(seconds: readonly number[]): string[] {
  const step = (seconds[1] ?? 0) - (seconds[0] ?? 0)
  return seconds.map((second) => {
    const at = new Date(second * 1_000)
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0
    if (step >= 86_400 || isMidnight) return day(at)
    return clock(at, false).slice(0, step < 60 ? 8 : 5)
  })
}

export function axisOf(scheme: Scheme): uPlot.Axis {
  const { quiet, line } = palette[scheme]
  return {
    stroke: quiet,
    font: '12px system-ui',
    grid: { stroke: line, width: 1 },
    ticks: { show: false },
    gap: 4,
    size: 24,
  }
}

export function valuesAxisOf(
  scheme: Scheme,
  ticks: readonly number[],
  format: (value: number) => string,
): uPlot.Axis {
  return {
    ...axisOf(scheme),
    // Wider for `1 min 20 s`.
    size: (_chart, labels) => Math.max(56, ...(labels ?? []).map(({ length }) => 8 + 7 * length)),
    splits: () => [...ticks],
    values: (_chart, values) => values.map(format),
  }
}
