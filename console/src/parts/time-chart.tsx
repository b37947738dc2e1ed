import 'uplot/dist/uPlot.min.css'
import { useComputedColorScheme } from '@mantine/core'
import {
  type HTMLAttributes,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react'
import uPlot from 'uplot'
import { clock, day } from '../format/moments.ts'
import type { Scheme } from './chart-colors.ts'
import {
  axisOf,
  type ChartSeries,
  dataOf,
  drawLimit,
  hatch,
  seriesOf,
  spanOf,
  timeLabels,
  valuesAxis,
  valuesAxisOf,
} from './chart-drawing.ts'
import { partStep, seriesAt, stepTo } from './chart-pick.ts'
import classes from './time-chart.module.css'

interface ChartRange {
  from: string
  to: string
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
  /** A range was dragged; without `onPick`, or one bucket was clicked. */
  onRange?(range: ChartRange): void
  /** One bucket was clicked, or chosen by Enter. `series`: the part of the bar under the pointer. */
  onPick?(range: ChartRange, series: string | undefined): void
  /** What a click does: "its requests". */
  picks?: string
  /** A name in the legend, such as a link. Default: the name itself. */
  nameOf?(name: string): ReactNode
  /**
   * What the values are of, in ms: bars that begin before it or end after it are hatched and said to be not
   * whole. Default: up to now.
   */
  whole?: { from: number; to: number }
  /** A dashed line at this value, such as a budget. Far above the values it is in the legend alone. */
  limit?: { name: string; value: number } | undefined
  /** Lines that the legend takes, whatever it has: charts side by side are then equally high. */
  legendLines?: number
}

const usualHeight = 136
/** As the style sheet has it. */
const legendLine = 24
/** An end that is nearer than this to the clock is now. */
const nowMs = 60_000

/**
 * Values over time, drawn on a canvas. The bucket under the pointer, or the one that the arrow keys chose,
 * shows its values in the legend; a screen reader says them.
 */
export function TimeChart(props: TimeChartProps) {
  const {
    label,
    at,
    series,
    kind,
    format,
    height = usualHeight,
    picks = 'this time alone',
    nameOf = (name) => name,
    limit,
    legendLines,
  } = props
  const { box, hovered, show, pick, isChoosable, most, top, cutOf } = useDrawnChart(props)
  const [part, setPart] = useState<string>()
  const hintId = useId()
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    const { key } = event
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const next = stepTo(key, hovered, at.length)
    if (next !== undefined) {
      setPart(undefined)
      show(next)
    } else if ((key === 'ArrowUp' || key === 'ArrowDown') && hovered !== undefined && kind === 'stacked')
      setPart(partStep(key, series, hovered, part))
    else if (key === 'Enter' && hovered !== undefined) pick(hovered, part)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const timeOf = (bucket: number) => {
    const start = new Date(at[bucket] ?? 0)
    const cut = cutOf(bucket)
    return `${day(start)}, ${clock(start, false)}${cut === undefined ? '' : ` (${cut})`}`
  }
  const valuesOf = (bucket: number) =>
    series.map(({ name, values }) => `${name} ${legendOf(values, bucket, kind, format)}`).join(', ')
  const keys: HTMLAttributes<HTMLDivElement> = isChoosable
    ? {
        role: 'slider',
        tabIndex: 0,
        title: `Click: ${picks}. Drag: choose a time.`,
        'aria-label': label,
        'aria-valuemin': 0,
        'aria-valuemax': Math.max(0, at.length - 1),
        'aria-valuenow': hovered ?? Math.max(0, at.length - 1),
        'aria-valuetext':
          hovered === undefined
            ? 'no time is chosen'
            : `${timeOf(hovered)}: ${valuesOf(hovered)}${part === undefined ? '' : `; chosen: ${part}`}`,
        'aria-describedby': hintId,
        onKeyDown: onKey,
        onBlur: () => show(undefined),
      }
    : { 'aria-hidden': true }
  return (
    <figure className={classes.chart} data-choosable={isChoosable || undefined}>
      <div ref={box} className={classes.canvas} style={{ height }} {...keys} />
      <figcaption
        className={classes.legend}
        style={legendLines === undefined ? undefined : { height: legendLines * legendLine }}
      >
        <span className="tg-heard">{label}. </span>
        {series.map(({ name, color, values }) => (
          <span key={name} className={classes.name} data-chosen={name === part || undefined}>
            <span className={classes.swatch} style={{ background: color }} aria-hidden />
            {nameOf(name)} <span className="tg-number">{legendOf(values, hovered, kind, format)}</span>
          </span>
        ))}
        {limit === undefined ? null : (
          <span className={classes.name}>
            <span className={classes.swatch} data-limit aria-hidden />
            {limit.name} <span className="tg-number">{format(limit.value)}</span>
            {limit.value > top ? ', above the chart' : ''}
          </span>
        )}
        <span className={classes.at}>
          {hovered !== undefined ? timeOf(hovered) : most > 0 ? `max. ${format(most)}` : ''}
        </span>
      </figcaption>
      {isChoosable ? (
        <span id={hintId} hidden>
          Left and right choose a bar, up and down a part of it, Enter opens {picks}.
        </span>
      ) : null}
    </figure>
  )
}

/** The chart in its `box`, and the bucket under the pointer or the keys. */
function useDrawnChart(props: TimeChartProps) {
  const { at, stepMs, series, kind, format, height = usualHeight, limit, onRange, onPick } = props
  const scheme: Scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const box = useRef<HTMLDivElement>(null)
  const [hovered, setHovered] = useState<number | undefined>(undefined)
  const drawn = useRef<uPlot | undefined>(undefined)
  const isChoosable = onRange !== undefined
  const pick = (bucket: number, name?: string) => {
    const range = bucketRange(at[bucket] ?? 0, stepMs)
    if (onPick !== undefined) onPick(range, name)
    else onRange?.(range)
  }
  const { cutOf, drawMarks } = cutsOf(props)
  const latest = useRef({ onRange, pick, drawMarks })
  latest.current = { onRange, pick, drawMarks }
  const data = useMemo(() => dataOf(at, series, kind), [at, series, kind])
  const { most, ticks, top } = useMemo(() => valuesAxis(data, limit?.value), [data, limit?.value])

  useEffect(() => {
    const element = box.current
    if (element === null) return
    /** A bar reaches from its start to the next one; of points the nearest one counts. */
    const bucketUnder = ({ cursor, posToVal }: uPlot): number | undefined => {
      const { left = -1, idx } = cursor
      if (left < 0) return undefined
      if (kind === 'lines') return idx ?? undefined
      const bucket = Math.floor((posToVal(left, 'x') * 1_000 - (at[0] ?? 0)) / stepMs)
      return bucket >= 0 && bucket < at.length ? bucket : undefined
    }
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
          y: { range: () => [0, top] },
        },
        axes: [
          { ...axisOf(scheme), values: (_chart, seconds) => timeLabels(seconds) },
          valuesAxisOf(scheme, ticks, format),
        ],
        series: [{}, ...seriesOf(series, kind)],
        hooks: {
          draw: [(chart) => latest.current.drawMarks(chart, scheme)],
          setCursor: [(chart) => setHovered(bucketUnder(chart))],
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
    drawn.current = chart
    const choose = (from: number, to: number) => {
      const step = stepMs / 1_000
      const start = Math.floor(from / step) * step
      const end = Math.max(Math.ceil(to / step) * step, start + step)
      latest.current.onRange?.({
        from: new Date(start * 1_000).toISOString(),
        to: new Date(end * 1_000).toISOString(),
      })
    }
    const onClick = () => {
      const bucket = bucketUnder(chart)
      if (bucket === undefined) return
      const height = chart.posToVal(chart.cursor.top ?? 0, 'y')
      latest.current.pick(bucket, kind === 'stacked' ? seriesAt(series, bucket, height) : undefined)
    }
    if (isChoosable) chart.over.addEventListener('click', onClick)
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      drawn.current = undefined
      chart.destroy()
    }
    // The chart is drawn anew for each change: that takes about a millisecond.
  }, [data, scheme, kind, height, stepMs, at, series, ticks, top, format, isChoosable])
  const show = (bucket: number | undefined) => {
    setHovered(bucket)
    const chart = drawn.current
    if (chart === undefined) return
    const left = bucket === undefined ? -10 : chart.valToPos((at[bucket] ?? 0) / 1_000, 'x') + 1
    chart.setCursor({ left, top: bucket === undefined ? -10 : 0 }, false)
  }
  return { box, hovered, show, pick, isChoosable, most, top, cutOf }
}

/** Which bars are not whole, in words, and what hatches them and draws the limit. */
function cutsOf({ at, stepMs, whole, limit }: Pick<TimeChartProps, 'at' | 'stepMs' | 'whole' | 'limit'>) {
  const { from, to } = whole ?? { from: Number.NEGATIVE_INFINITY, to: Date.now() }
  const cutOf = (bucket: number): string | undefined => {
    const start = at[bucket] ?? 0
    if (start + stepMs > to) return to > Date.now() - nowMs ? 'not over yet' : 'cut'
    return start < from ? 'cut' : undefined
  }
  const drawMarks = (chart: uPlot, scheme: Scheme) => {
    for (const bucket of new Set([0, at.length - 1])) {
      const start = (at[bucket] ?? 0) / 1_000
      if (at[bucket] !== undefined && cutOf(bucket) !== undefined)
        hatch(chart, scheme, [start, start + stepMs / 1_000])
    }
    drawLimit(chart, scheme, limit?.value)
  }
  return { cutOf, drawMarks }
}

function bucketRange(startMs: number, stepMs: number): ChartRange {
  return { from: new Date(startMs).toISOString(), to: new Date(startMs + stepMs).toISOString() }
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
