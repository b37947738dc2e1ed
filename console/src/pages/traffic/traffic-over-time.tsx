import { Skeleton, useComputedColorScheme } from '@mantine/core'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { moneyOf, usdOf } from '../../format/money.ts'
import { count, duration } from '../../format/numbers.ts'
import { rangeOf } from '../../format/range.ts'
import { outcomeColor, outcomeNames, type Scheme, seriesColor } from '../../parts/chart-colors.ts'
import type { ChartSeries } from '../../parts/chart-drawing.ts'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { barInLog, errorOutcomes, inLog } from '../overview/overview-address.ts'
import { alignedTo, measuredIn, type Terms, termsOf } from '../overview/overview-query.ts'
import { Availability } from './availability.tsx'
import classes from './traffic.module.css'
import { type Series, type TrafficOf, useOutcomes } from './traffic-query.ts'

/** What draws charts is loaded after the page. */
const TimeChart = lazy(async () => ({ default: (await import('../../parts/time-chart.tsx')).TimeChart }))

/**
 * What came to a channel or a model over time: how it ended, how fast it began, what it cost, and how much of
 * each of the last 30 days was good. All from the sums.
 */
export function TrafficOverTime({ of }: { of: TrafficOf }) {
  const isAllowed = useMay()('log')
  return isAllowed ? <Charts of={of} /> : null
}

function Charts({ of }: { of: TrafficOf }) {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const [asOf, setAsOf] = useState(() => new Date())
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const range = rangeOf(search)
  // Sums of minutes are kept by channel, and not by model: those of a model are at least of hours.
  const terms = useMemo(() => termsOf(search, asOf, !('channel' in of)), [search, asOf, of])
  const timeline = useOutcomes(of, terms)
  const charts = useMemo(
    () => (timeline.data === undefined ? undefined : chartsOf(timeline.data, terms, scheme)),
    [timeline.data, terms, scheme],
  )
  // The chart is drawn anew for another one.
  const at = useMemo(() => alignedTo(terms, []).at, [terms])
  const whole = useMemo(
    () => ({ from: new Date(terms.from).getTime(), to: new Date(terms.to).getTime() }),
    [terms],
  )
  const filter: Texts = 'channel' in of ? { channel: of.channel } : { requested_model: [...of.models] }
  const go = (chosen: { last?: string; from?: string; to?: string }) => {
    const { last: _last, from: _from, to: _to, ...rest } = search
    setAsOf(new Date())
    void navigate({ to: '.', search: { ...rest, ...chosen } as never, resetScroll: false })
  }
  const problem = usePart('what came over time', timeline)
  return (
    <>
      <Section
        title="Over time"
        actions={
          <>
            <Link to="/console/log" search={inLog(search, { ...filter, outcome: errorOutcomes })}>
              Failed requests
            </Link>
            <RangePicker range={range} fallback="Last 24 hours" onChange={go} />
          </>
        }
      >
        {problem === null ? null : problem !== undefined ? (
          problem
        ) : charts === undefined ? (
          <Skeleton height={376} radius={6} />
        ) : charts.every(({ series }) => series.length === 0) ? (
          <p className="tg-quiet">No request came in this time.</p>
        ) : (
          <div className={classes.charts}>
            {charts.map(({ title, kind, series, format, none }) => (
              <section key={title} className={classes.chart} aria-label={title}>
                <h3>{title}</h3>
                {series.length === 0 ? (
                  <span className="tg-quiet">{none}</span>
                ) : (
                  <Suspense fallback={<Skeleton height={164} radius={6} />}>
                    <TimeChart
                      label={title}
                      at={at}
                      stepMs={terms.stepMs}
                      series={series}
                      kind={kind}
                      whole={whole}
                      format={format}
                      picks="its requests"
                      onRange={go}
                      onPick={(bar, name) =>
                        void navigate({
                          to: '/console/log',
                          search: barInLog(search, terms, bar, { ...filter, ...outcomeOf(name) }),
                        })
                      }
                    />
                  </Suspense>
                )}
              </section>
            ))}
          </div>
        )}
      </Section>
      <Availability of={of} />
    </>
  )
}

function outcomeOf(name: string | undefined): Texts {
  return outcomeNames.some((outcome) => outcome === name) ? { outcome: name ?? '' } : {}
}

interface Drawn {
  title: string
  kind: 'stacked' | 'lines'
  series: readonly ChartSeries[]
  format(value: number): string
  /** Instead of a chart without series. */
  none: string
}

function chartsOf(found: readonly Series[], terms: Terms, scheme: Scheme): Drawn[] {
  const pointsOf = (wanted: string) =>
    found.filter(({ outcome }) => outcome === wanted).flatMap(({ points }) => points)
  const byOutcome = (wanted: readonly string[]): ChartSeries[] =>
    outcomeNames
      .filter((name) => wanted.includes(name) && pointsOf(name).length > 0)
      .map((name) => ({
        name,
        color: outcomeColor(scheme, name),
        ...alignedTo(
          terms,
          pointsOf(name).map(({ at, requests }) => ({ at, value: requests })),
        ),
      }))
  // Of several names of a model, the one with the most requests in a step says how fast it was.
  const succeeded = pointsOf('succeeded').toSorted((a, b) => a.requests - b.requests)
  const isMeasured = succeeded.some(({ latency_ms }) => latency_ms.first_token !== null)
  const spend = found.flatMap(({ points }) => points)
  return [
    {
      title: 'Requests by outcome',
      kind: 'stacked',
      series: byOutcome(outcomeNames),
      format: count,
      none: 'None.',
    },
    {
      title: 'Errors',
      kind: 'stacked',
      series: byOutcome(errorOutcomes),
      format: count,
      none: 'No request ended with an error in this time.',
    },
    {
      title: 'First token of those that succeeded',
      kind: 'lines',
      format: duration,
      none: 'Not measured: no request that succeeded was streamed.',
      series: (isMeasured ? (['p50', 'p95'] as const) : []).map((part, index) => ({
        name: part,
        color: seriesColor(scheme, index),
        ...measuredIn(
          terms,
          succeeded.map(({ at, latency_ms }) => ({ at, value: latency_ms.first_token?.[part] })),
        ),
      })),
    },
    {
      title: 'Spend',
      kind: 'stacked',
      none: 'Nothing was spent, or no price is known.',
      format: moneyOf,
      series: spend.some(({ cost_nano_usd }) => cost_nano_usd !== '0')
        ? [
            {
              name: 'spend',
              color: seriesColor(scheme, 0),
              ...alignedTo(
                terms,
                spend.map(({ at, cost_nano_usd }) => ({ at, value: usdOf(cost_nano_usd) })),
              ),
            },
          ]
        : [],
    },
  ]
}
