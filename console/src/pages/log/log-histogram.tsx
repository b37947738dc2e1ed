import { Button, Skeleton, useComputedColorScheme } from '@mantine/core'
import { useMemo } from 'react'
import { count } from '../../format/numbers.ts'
import { outcomeColor, outcomeNames } from '../../parts/chart-colors.ts'
import { Problem } from '../../parts/problem.tsx'
import { TimeChart } from '../../parts/time-chart.tsx'
import classes from './log-histogram.module.css'
import { bucketsOf, type LogTerms, useHistogram } from './log-query.ts'

/** What matches, over time and by outcome. A range that is dragged becomes the time of the page. */
export function LogHistogram({
  terms,
  onRange,
  onBack,
  isSilent,
}: {
  terms: LogTerms
  onRange(range: { from: string; to: string }): void
  /** To the time before the last drag; undefined: there is none. */
  onBack: (() => void) | undefined
  /** The list of the page has failed too, and says why. */
  isSilent: boolean
}) {
  const { data, error, refetch, isFetching } = useHistogram(terms)
  const scheme = useComputedColorScheme('light', { getInitialValueInEffect: false })
  const chart = useMemo(() => {
    if (data === undefined) return undefined
    const { at, stepMs, outcomes } = bucketsOf(data.data, terms.from, terms.to)
    const series = outcomeNames
      .filter((name) => outcomes[name] !== undefined)
      .map((name) => ({ name, color: outcomeColor(scheme, name), values: outcomes[name] ?? [] }))
    return { at, stepMs, series }
  }, [data, scheme, terms])
  if (error !== null && isSilent) return null
  if (error !== null) return <Problem error={error} onAgain={() => void refetch()} doing="The histogram" />
  if (data === undefined || chart === undefined)
    return <Skeleton height={144} radius={6} className={classes.waiting ?? ''} />
  return (
    <div className={classes.histogram} aria-busy={isFetching}>
      <div className={classes.words}>
        <strong className="tg-number">
          {data.exact ? '' : 'At least '}
          {count(data.requests)} {data.requests === 1 ? 'request matches' : 'requests match'}
        </strong>
        {data.exact ? null : (
          <span className="tg-quiet">
            The count stopped after its time limit. Choose less time for an exact one.
          </span>
        )}
        {onBack === undefined ? null : (
          <Button variant="subtle" onClick={onBack}>
            Back to the time before
          </Button>
        )}
      </div>
      <TimeChart
        label="Requests that match, by outcome"
        at={chart.at}
        stepMs={chart.stepMs}
        series={chart.series}
        kind="stacked"
        format={count}
        height={96}
        onRange={onRange}
      />
    </div>
  )
}
