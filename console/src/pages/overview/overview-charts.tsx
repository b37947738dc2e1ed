import { Skeleton, useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { money } from '../../format/money.ts'
import { count, duration } from '../../format/numbers.ts'
import { outcomeColor, outcomeNames, seriesColor } from '../../parts/chart-colors.ts'
import { Problem } from '../../parts/problem.tsx'
import { type ChartSeries, TimeChart } from '../../parts/time-chart.tsx'
import classes from './overview.module.css'
import { alignedTo, measuredIn, type Terms, useTimeline } from './overview-query.ts'

interface ChartsProps {
  terms: Terms
  onRange(range: { from: string; to: string }): void
}

/** Over time: how requests ended, and what was spent on which model. A range that is dragged becomes the time of the page. */
export function OverviewCharts(props: ChartsProps) {
  return (
    <div className={classes.charts}>
      <OutcomesChart {...props} />
      <SpendChart {...props} />
      <LatencyChart {...props} />
    </div>
  )
}

function OutcomesChart({ terms, onRange }: ChartsProps) {
  const { data, error, isPending, refetch } = useTimeline(terms, 'outcome', '-requests')
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const chart = useMemo(() => {
    const found = new Map(data?.series.map((series) => [series.outcome, series.points]))
    return outcomeNames
      .filter((name) => found.has(name))
      .map((name) => {
        const points = (found.get(name) ?? []).map(({ at, requests }) => ({ at, value: requests }))
        return { name, color: outcomeColor(scheme, name), ...alignedTo(terms, points) }
      })
  }, [data, terms, scheme])
  return (
    <section className={classes.chart} aria-label="Requests by outcome">
      <h2>Requests by outcome</h2>
      {isPending ? (
        <Skeleton height={136} radius={6} />
      ) : error === null ? (
        <Chart label="Requests by outcome" series={chart} {...{ terms, onRange }} format={count} />
      ) : (
        <Problem error={error} onAgain={() => void refetch()} />
      )}
    </section>
  )
}

const nanoPerUsd = 1e9

function SpendChart({ terms, onRange }: ChartsProps) {
  // Sums of minutes are kept by channel and outcome alone.
  const by = terms.step === 'minute' ? 'channel' : 'model'
  const title = `Spend by ${by}`
  const { data, error, isPending, refetch } = useTimeline(terms, by, '-cost')
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const chart = useMemo(
    () =>
      (data?.series ?? []).map(({ model, channel, other, points }, at) => ({
        name: other ? 'all others' : ((by === 'model' ? model : channel) ?? `no ${by}`),
        color: seriesColor(scheme, other ? 7 : at),
        ...alignedTo(
          terms,
          points.map(({ at, cost_nano_usd }) => ({ at, value: Number(cost_nano_usd) / nanoPerUsd })),
        ),
      })),
    [data, terms, scheme, by],
  )
  return (
    <section className={classes.chart} aria-label={title}>
      <h2>{title}</h2>
      {isPending ? (
        <Skeleton height={136} radius={6} />
      ) : error === null ? (
        <Chart label={title} series={chart} terms={terms} onRange={onRange} format={inUsd} />
      ) : (
        <Problem error={error} onAgain={() => void refetch()} />
      )}
    </section>
  )
}

function LatencyChart({ terms, onRange }: ChartsProps) {
  const { data, error, isPending, refetch } = useTimeline(terms, undefined, '-requests')
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
    <section className={classes.chart} aria-label="Total time of a request">
      <h2>Total time of a request</h2>
      {isPending ? (
        <Skeleton height={136} radius={6} />
      ) : error === null ? (
        <Chart
          label="Total time of a request, p50 and p95"
          series={chart}
          terms={terms}
          onRange={onRange}
          format={duration}
          kind="lines"
        />
      ) : (
        <Problem error={error} onAgain={() => void refetch()} />
      )}
    </section>
  )
}

function inUsd(usd: number): string {
  return money(String(Math.round(usd * nanoPerUsd)))
}

function Chart({
  label,
  series,
  terms,
  onRange,
  format,
  kind = 'stacked',
}: ChartsProps & {
  label: string
  kind?: 'stacked' | 'lines'
  series: readonly (ChartSeries & { at: number[] })[]
  format(value: number): string
}) {
  const at = series[0]?.at ?? alignedTo(terms, []).at
  return (
    <TimeChart
      label={label}
      at={at}
      stepMs={terms.stepMs}
      series={series}
      kind={kind}
      format={format}
      onRange={onRange}
    />
  )
}
