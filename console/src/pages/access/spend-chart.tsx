import { Skeleton, useComputedColorScheme } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { dayMs, daysQuery, spendDays, usageQuery } from '../../api/access-queries.ts'
import type { Schema } from '../../api/client.ts'
import { moneyOf, usdOf } from '../../format/money.ts'
import { restColor, seriesColor } from '../../parts/chart-colors.ts'
import { Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import classes from './access.module.css'

type Budget = Schema<'KeyUsage'>['budgets'][number]

/**
 * What a key or a tenant has spent on each of the last 30 days, by model, with its own budget of a day. With
 * a budget of the month, also how far this month has come. The budget of a key that may make sub-keys counts
 * what they spend too, and the sums of the key do not: it has no line here.
 */
export function SpendChart({
  of,
  id,
  filter,
  hasSubKeys = false,
}: {
  of: 'key' | 'tenant'
  id: string
  filter: Record<string, string>
  hasSubKeys?: boolean
}) {
  const days = useQuery(daysQuery({ days: spendDays, [of]: id }))
  const usage = useQuery(usageQuery(of, id))
  const navigate = useNavigate()
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const chart = useMemo(() => chartOf(days.data, scheme), [days.data, scheme])
  const problem = usePart('the spend by day', days)
  if (problem === null) return null
  const budgetOf = (period: Budget['period']) =>
    hasSubKeys
      ? undefined
      : usage.data?.budgets.find((budget) => budget.of === of && budget.period === period)
  const toLog = (range: { from: string; to: string }) =>
    void navigate({ to: '/console/log', search: { ...filter, ...range } as never })
  const day = budgetOf('day')
  const month = budgetOf('month')
  const isEmpty = chart?.series.every(({ values }) => values.every((value) => value === 0)) === true
  return (
    <Section title="Spend by day, 30 days (UTC)">
      {problem !== undefined ? (
        problem
      ) : chart === undefined ? (
        <Skeleton height={160} radius={6} />
      ) : isEmpty ? (
        <p className="tg-quiet">Nothing with a known cost in the last 30 days.</p>
      ) : (
        <div className={classes.charts}>
          <TimeChart
            label="Spend by day and model"
            at={chart.at}
            stepMs={dayMs}
            series={chart.series}
            kind="stacked"
            format={moneyOf}
            limit={day && { name: 'budget of a day', value: usdOf(day.limit_nano_usd) }}
            onRange={toLog}
            onPick={toLog}
            picks="its requests"
          />
          {month === undefined ? null : <MonthSoFar {...chart} budget={month} />}
        </div>
      )}
    </Section>
  )
}

/** The days of this month added up, against its budget. */
function MonthSoFar({ at, series, budget }: NonNullable<ReturnType<typeof chartOf>> & { budget: Budget }) {
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const drawn = useMemo(() => {
    const now = new Date()
    const first = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
    // The 30 days do not reach the first of a month on its last day of 31.
    const before = first < (at[0] ?? 0)
    const shown = at.flatMap((start, day) => (start >= first ? [day] : []))
    const ofDays = shown.map((day) => series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0))
    const total = ofDays.reduce((sum, value) => sum + value, 0)
    let sum = before ? Math.max(0, usdOf(budget.spent_nano_usd) - total) : 0
    const values = ofDays.map((value) => {
      sum += value
      return sum
    })
    return {
      at: shown.map((day) => at[day] ?? 0),
      series: [{ name: 'this month so far', color: seriesColor(scheme, 0), values }],
    }
  }, [at, series, budget.spent_nano_usd, scheme])
  return (
    <TimeChart
      label="Spend of this month, added up"
      {...drawn}
      stepMs={dayMs}
      kind="lines"
      format={moneyOf}
      limit={{ name: 'budget of the month', value: usdOf(budget.limit_nano_usd) }}
    />
  )
}

function chartOf(
  data: { at: number[]; series: Schema<'SummaryTimeline'>['series'] } | undefined,
  scheme: 'light' | 'dark',
) {
  if (data === undefined) return undefined
  const { at } = data
  return {
    at,
    series: data.series.map(({ model, other, points }, place) => {
      const costs = new Map(points.map((point) => [Date.parse(point.at), usdOf(point.cost_nano_usd)]))
      return {
        name: other ? 'all others' : (model ?? 'no model'),
        color: other ? restColor(scheme) : seriesColor(scheme, place),
        values: at.map((start) => costs.get(start) ?? 0),
      }
    }),
  }
}
