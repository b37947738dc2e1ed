import { Skeleton, useComputedColorScheme } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import type { Texts } from '../../console-search.ts'
import { moneyOf, usdOf } from '../../format/money.ts'
import { count, duration } from '../../format/numbers.ts'
import { outcomeColor, outcomeNames, restColor, seriesColor } from '../../parts/chart-colors.ts'
import type { ChartSeries } from '../../parts/chart-drawing.ts'
import { usePart } from '../../parts/page-parts.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import classes from './overview.module.css'
import { barInLog, inLog } from './overview-address.ts'
import { alignedTo, measuredIn, type Terms, useTimeline } from './overview-query.ts'

interface ChartsProps {
  terms: Terms
  search: Texts
  onRange(range: { from: string; to: string }): void
}

/**
 * Over time: how requests ended, what was spent on which model, and how long they took. A range that is
 * dragged becomes the time of the page; a bar, and a name of the legend, leads to its requests in the log.
 */
export function OverviewCharts(props: ChartsProps) {
  return (
    <div className={classes.charts}>
      <OutcomesChart {...props} />
      <SpendChart {...props} />
      <LatencyChart {...props} />
    </div>
  )
}

function OutcomesChart(props: ChartsProps) {
  const { terms } = props
  const timeline = useTimeline(terms, 'outcome', '-requests')
  const { data } = timeline
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const chart = useMemo(() => {
    const found = new Map(data?.series.map((series) => [series.outcome, series.points]))
    return outcomeNames
      .filter((name) => found.has(name))
      .map((name) => {
        const points = (found.get(name) ?? []).map(({ at, requests }) => ({ at, value: requests }))
        return {
          name,
          color: outcomeColor(scheme, name),
          filter: { outcome: name },
          ...alignedTo(terms, points),
        }
      })
  }, [data, terms, scheme])
  return <Chart {...props} title="Requests by outcome" timeline={timeline} series={chart} format={count} />
}

function SpendChart(props: ChartsProps) {
  const { terms } = props
  // Sums of minutes are kept by channel and outcome alone.
  const by = terms.step === 'minute' ? 'channel' : 'model'
  const title = `Spend by ${by}`
  const timeline = useTimeline(terms, by, '-cost')
  const { data } = timeline
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const chart = useMemo(
    () =>
      (data?.series ?? []).map(({ model, channel, other, points }, at) => ({
        name: other ? 'all others' : ((by === 'model' ? model : channel) ?? `no ${by}`),
        color: other ? restColor(scheme) : seriesColor(scheme, at),
        filter: other ? undefined : by === 'channel' ? { channel: channel ?? '' } : modelFilter(model),
        ...alignedTo(
          terms,
          points.map(({ at, cost_nano_usd }) => ({ at, value: usdOf(cost_nano_usd) })),
        ),
      })),
    [data, terms, scheme, by],
  )
  return <Chart {...props} title={title} timeline={timeline} series={chart} format={moneyOf} />
}

/** Sums count names that no model has as one: nothing finds just these. */
function modelFilter(model: string | null | undefined): Texts | undefined {
  return model === null || model === undefined ? undefined : { requested_model: model }
}

function LatencyChart(props: ChartsProps) {
  const { terms } = props
  const timeline = useTimeline(terms, undefined, '-requests')
  const { data } = timeline
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const chart = useMemo(() => {
    const points = data?.series[0]?.points ?? []
    return (['p50', 'p95'] as const).map((part, at) => ({
      name: part,
      color: seriesColor(scheme, at),
      ...measuredIn(
        terms,
        points.map(({ at, latency_ms }) => ({ at, value: latency_ms.total?.[part] })),
      ),
    }))
  }, [data, terms, scheme])
  return (
    <Chart
      {...props}
      title="Total time of a request"
      timeline={timeline}
      series={chart}
      format={duration}
      kind="lines"
    />
  )
}

interface Drawn extends ChartSeries {
  at: number[]
  /** What finds its requests in the log. */
  filter?: Texts | undefined
}

function Chart({
  title,
  timeline,
  series,
  terms,
  search,
  onRange,
  format,
  kind = 'stacked',
}: ChartsProps & {
  title: string
  timeline: ReturnType<typeof useTimeline>
  series: readonly Drawn[]
  kind?: 'stacked' | 'lines'
  format(value: number): string
}) {
  const navigate = useNavigate()
  const problem = usePart(`${title.charAt(0).toLowerCase()}${title.slice(1)}`, timeline)
  if (problem === null) return null
  const at = series[0]?.at ?? alignedTo(terms, []).at
  const filterOf = (name: string | undefined) => series.find((one) => one.name === name)?.filter
  const nameOf = (name: string) => {
    const filter = filterOf(name)
    return filter === undefined ? (
      name
    ) : (
      // The arrow keys of the chart lead there too: a stop for each name would be many before the tables.
      <Link to="/console/log" search={inLog(search, filter)} tabIndex={-1}>
        {name}
      </Link>
    )
  }
  return (
    <section className={classes.chart} aria-label={title}>
      <h2>{title}</h2>
      {problem !== undefined ? (
        problem
      ) : timeline.data === undefined ? (
        <Skeleton height={208} radius={6} />
      ) : (
        <TimeChart
          label={title}
          at={at}
          stepMs={terms.stepMs}
          series={series}
          kind={kind}
          format={format}
          nameOf={nameOf}
          whole={{ from: new Date(terms.from).getTime(), to: new Date(terms.to).getTime() }}
          legendLines={3}
          onRange={onRange}
          picks="its requests"
          onPick={(bar, name) =>
            void navigate({ to: '/console/log', search: barInLog(search, terms, bar, filterOf(name)) })
          }
        />
      )}
    </section>
  )
}
