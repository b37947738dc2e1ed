import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useMemo, useRef, useState } from 'react'
import uPlot from 'uplot'
import { clock, day } from '../format/moments.ts'
import { palette } from '../theme-colors.ts'
import type { Scheme } from './chart-colors.ts'
import classes from './time-chart.module.css'

export interface ChartSeries {
  name: string
  color: string
  /** One for each bucket; null where nothing was measured: a line has a gap there. */
  values: readonly (number | null)[]
}

interface TimeChartProps {
  /** What the chart shows, for screen readers: "Requests by outcome". */
  label: string
  /** Starts of the buckets, in ms, rising by the same step. */
  at: readonly number[]
  /** Of a bucket, in ms. */
  stepMs: number
  series: readonly ChartSeries[]
  /** `stacked`: bars on each other; `lines`: each by itself. */
  kind: 'stacked' | 'lines'
  format(value: number): string
  height?: number
  /** A range was dragged, or one bucket clicked. */
  onRange?(range: { from: string; to: string }): void
}

/** Values over time, drawn on a canvas. Under the pointer each series shows its value. */
export function TimeChart({
  label,
  at,
  stepMs,
  series,
  kind,
  format,
  height = 136,
  onRange,
}: TimeChartProps) {
  const scheme: Scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const box = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number | undefined>(undefined)
  const range = useRef(onRange)
  range.current = onRange
  const isChoosable = onRange !== undefined
  const data = useMemo(() => dataOf(at, series, kind), [at, series, kind])

  useEffect(() => {
    const element = box.current
    if (element === null) return
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        // The last moment is written below the right end, half of it beside the chart.
        padding: [8, 24, 0, 0],
        legend: { show: false },
        cursor: {
          drag: { x: true, y: false, setScale: false, dist: 4 },
          points: { show: kind === 'lines' },
          y: false,
        },
        scales: {
          x: { time: true, range: () => spanOf(at, stepMs) },
          y: { range: (_chart, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
        },
        axes: [
          { ...axisOf(scheme), values: (_chart, seconds) => timeLabels(seconds) },
          { ...axisOf(scheme), size: 56, values: (_chart, values) => values.map(format) },
        ],
        series: [{}, ...drawn(series, kind)],
        hooks: {
          setCursor: [({ cursor }) => setHovered(cursor.idx ?? undefined)],
          setSelect: [
            (chart) => {
              const { left, width } = chart.select
              if (width > 0) choose(chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x'))
              chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
            },
          ],
        },
      },
      data,
      element,
    )
    const choose = (from: number, to: number) => {
      const step = stepMs / 1_000
      const start = Math.floor(from / step) * step
      const end = Math.max(Math.ceil(to / step) * step, start + step)
      range.current?.({
        from: new Date(start * 1_000).toISOString(),
        to: new Date(end * 1_000).toISOString(),
      })
    }
    const onClick = () => {
      const index = chart.cursor.idx
      const start = index === null || index === undefined ? undefined : at[index]
      if (start !== undefined) choose(start / 1_000, start / 1_000 + 1)
    }
    if (isChoosable) chart.over.addEventListener('click', onClick)
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      chart.destroy()
    }
    // The chart is drawn anew for each change: that takes about a millisecond.
  }, [data, scheme, kind, height, stepMs, at, series, format, isChoosable])

  const shownAt = hovered === undefined ? undefined : at[hovered]
  return (
    <figure className={classes.chart} data-choosable={isChoosable || undefined}>
      <figcaption className={classes.legend}>
        <span className="tg-heard">{label}. </span>
        {series.map(({ name, color, values }) => (
          <span key={name} className={classes.name}>
            <span className={classes.swatch} style={{ background: color }} aria-hidden />
            {name} <span className="tg-number">{legendOf(values, hovered, kind, format)}</span>
          </span>
        ))}
        <span className={classes.at}>
          {shownAt === undefined ? '' : `${day(new Date(shownAt))}, ${clock(new Date(shownAt), false)}`}
        </span>
      </figcaption>
      <div ref={box} className={classes.canvas} style={{ height }} aria-hidden />
    </figure>
  )
}

/** The value under the pointer; without one the sum of a stack. The sum of a line would say nothing. */
function legendOf(
  values: ChartSeries['values'],
  hovered: number | undefined,
  kind: 'stacked' | 'lines',
  format: (value: number) => string,
): string {
  if (hovered === undefined) {
    return kind === 'lines' ? '' : format(values.reduce<number>((sum, value) => sum + (value ?? 0), 0))
  }
  const value = values[hovered] ?? null
  return value === null && kind === 'lines' ? '–' : format(value ?? 0)
}

function spanOf(at: readonly number[], stepMs: number): [number, number] {
  const [first, last] = [at[0] ?? 0, at.at(-1) ?? 0]
  return [first / 1_000, (last + stepMs) / 1_000]
}

/** uPlot draws in order, so of a stack the whole height comes first, and lower parts over it. */
function dataOf(
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

function drawn(series: readonly ChartSeries[], kind: 'stacked' | 'lines'): uPlot.Series[] {
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

/** `14:00`; the day where it begins, or where the steps are days. */
function timeLabels(seconds: readonly number[]): string[] {
  const step = (seconds[1] ?? 0) - (seconds[0] ?? 0)
  return seconds.map((second) => {
    const at = new Date(second * 1_000)
    const isMidnight = at.getHours() === 0 && at.getMinutes() === 0
    if (step >= 86_400 || isMidnight) return day(at)
    return clock(at, false).slice(0, step < 60 ? 8 : 5)
  })
}

function axisOf(scheme: Scheme): uPlot.Axis {
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
