import { Button, Skeleton, Switch } from '@mantine/core'
import { useDocumentVisibility, useInterval } from '@mantine/hooks'
import { SyncIcon } from '@primer/octicons-react'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { zoneName } from '../../format/moments.ts'
import { rangeOf } from '../../format/range.ts'
import { Page } from '../../parts/page.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { Breakdown } from './breakdown.tsx'
import { CurrentProblems } from './current-problems.tsx'
import { ChosenFilters, FilterChoice, type FilterName } from './filter-choice.tsx'
import { NumbersRow } from './numbers-row.tsx'
import classes from './overview.module.css'
import { useTerms, useTotals } from './overview-query.ts'

/** The numbers come first: what draws charts is loaded after them. */
const Charts = lazy(async () => ({ default: (await import('./overview-charts.tsx')).OverviewCharts }))

const ErrorGroups = lazy(async () => ({ default: (await import('./error-groups.tsx')).ErrorGroups }))

const liveMs = 5_000

/** "Is anything wrong?", then what happens, and who and what it comes from. */
export function OverviewPage() {
  const search: Texts = useSearch({ strict: false })
  const navigate = useNavigate()
  const isMember = useSession().role === 'member'
  const [asOf, setAsOf] = useState(() => new Date())
  const [isLive, setLive] = useState(false)
  const visibility = useDocumentVisibility()
  useInterval(
    () => {
      if (isLive && visibility === 'visible') setAsOf(new Date())
    },
    liveMs,
    { autoInvoke: true },
  )
  const terms = useTerms(search, asOf)
  const range = rangeOf(search)
  const go = (chosen: { last?: string; from?: string; to?: string }) => {
    const { last: _last, from: _from, to: _to, ...rest } = search
    setAsOf(new Date())
    void navigate({ to: '/console', search: { ...rest, ...chosen } })
  }
  const choose = (name: FilterName, value: string | undefined) => {
    const { [name]: _former, ...rest } = search
    void navigate({ to: '/console', search: { ...rest, ...(value === undefined ? {} : { [name]: value }) } })
  }
  const { data: totals, isError } = useTotals(terms, { from: terms.from, to: terms.to })
  const filters = { terms, isMember, onChange: choose }
  return (
    <Page
      title="Overview"
      lead={<span>Times in {zoneName()}</span>}
      actions={
        <>
          <RangePicker range={range} fallback="Last 24 hours" onChange={go} />
          <FilterChoice {...filters} />
          <Button variant="default" aria-label="Refresh" onClick={() => setAsOf(new Date())}>
            <SyncIcon size={14} />
            <span className={classes.refresh}>Refresh</span>
          </Button>
          <Switch
            size="xs"
            label="Live"
            checked={isLive}
            onChange={(event) => setLive(event.currentTarget.checked)}
          />
        </>
      }
    >
      <ChosenFilters {...filters} />
      <CurrentProblems terms={terms} search={search} />
      <NumbersRow terms={terms} search={search} />
      <Suspense fallback={<ChartsWaiting />}>
        <Charts terms={terms} search={search} onRange={go} />
      </Suspense>
      {/* What is below has its place when it is known whether there are errors: nothing moves then. */}
      {totals === undefined && !isError ? null : (
        <>
          <Suspense fallback={<Skeleton height={200} radius={6} />}>
            <ErrorGroups terms={terms} search={search} isAny={(totals?.total.errors ?? 0) > 0} />
          </Suspense>
          <Breakdown terms={terms} search={search} onFilter={choose} />
        </>
      )}
    </Page>
  )
}

/** As high as the charts. */
function ChartsWaiting() {
  return (
    <div className={classes.charts}>
      {['outcomes', 'spend', 'times'].map((chart) => (
        <Skeleton key={chart} height={232} radius={6} />
      ))}
    </div>
  )
}
