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
import { axisOf, type ChartSeries, dataOf, seriesOf, spanOf, timeLabels } from './chart-drawing.ts'
import { seriesAt, stepTo } from './chart-pick.ts'
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
}

const usualHeight = 136

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
  } = props
  const { box, hovered, show, pick, isChoosable } = useDrawnChart(props)
  const hintId = useId()
  const onKey = (event: KeyboardEvent<HTMLDivElement>) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const next = stepTo(event.key, hovered, at.length)
    if (next !== undefined) show(next)
    else if (event.key === 'Enter' && hovered !== undefined) pick(hovered)
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  const timeOf = (bucket: number) => {
    const start = new Date(at[bucket] ?? 0)
    return `${day(start)}, ${clock(start, false)}`
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
          hovered === undefined ? 'no time is chosen' : `${timeOf(hovered)}: ${valuesOf(hovered)}`,
        'aria-describedby': hintId,
        onKeyDown: onKey,
        onBlur: () => show(undefined),
      }
    : { 'aria-hidden': true }
  return (
    <figure className={classes.chart} data-choosable={isChoosable || undefined}>
      <figcaption className={classes.legend}>
        <span className="tg-heard">{label}. </span>
        {series.map(({ name, color, values }) => (
          <span key={name} className={classes.name}>
            <span className={classes.swatch} style={{ background: color }} aria-hidden />
            {nameOf(name)} <span className="tg-number">{legendOf(values, hovered, kind, format)}</span>
          </span>
        ))}
        <span className={classes.at}>{hovered === undefined ? '' : timeOf(hovered)}</span>
      </figcaption>
      <div ref={box} className={classes.canvas} style={{ height }} {...keys} />
      {isChoosable ? (
        <span id={hintId} hidden>
          The arrow keys choose a bar, Enter opens {picks}.
        </span>
      ) : null}
    </figure>
  )
}

/** The chart in its `box`, and the bucket under the pointer or the keys. */
function useDrawnChart(props: TimeChartProps) {
  const { at, stepMs, series, kind, format, height = usualHeight, onRange, onPick } = props
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
  const chosen = useRef({ onRange, pick })
  chosen.current = { onRange, pick }
  const data = useMemo(() => dataOf(at, series, kind), [at, series, kind])

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
          y: { range: (_chart, _least, most) => [0, most > 0 ? most * 1.1 : 1] },
        },
        axes: [
          { ...axisOf(scheme), values: (_chart, seconds) => timeLabels(seconds) },
          { ...axisOf(scheme), size: 56, values: (_chart, values) => values.map(format) },
        ],
        series: [{}, ...seriesOf(series, kind)],
        hooks: {
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
      chosen.current.onRange?.({
        from: new Date(start * 1_000).toISOString(),
        to: new Date(end * 1_000).toISOString(),
      })
    }
    const onClick = () => {
      const bucket = bucketUnder(chart)
      if (bucket === undefined) return
      const height = chart.posToVal(chart.cursor.top ?? 0, 'y')
      chosen.current.pick(bucket, kind === 'stacked' ? seriesAt(series, bucket, height) : undefined)
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
  }, [data, scheme, kind, height, stepMs, at, series, format, isChoosable])

  const show = (bucket: number | undefined) => {
    setHovered(bucket)
    const chart = drawn.current
    if (chart === undefined) return
    const left = bucket === undefined ? -10 : chart.valToPos((at[bucket] ?? 0) / 1_000, 'x') + 1
    chart.setCursor({ left, top: bucket === undefined ? -10 : 0 }, false)
  }
  return { box, hovered, show, pick, isChoosable }
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
