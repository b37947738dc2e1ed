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
import { NumbersRow } from './numbers-row.tsx'
import { useTerms } from './overview-query.ts'
import { TenantChoice } from './tenant-choice.tsx'

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
  const choose = (tenant_id: string | undefined) => {
    const { tenant_id: _former, ...rest } = search
    void navigate({
      to: '/console',
      search: { ...rest, ...(tenant_id === undefined ? {} : { tenant_id }) },
    })
  }
  return (
    <Page
      title="Overview"
      lead={<span>Times in {zoneName()}</span>}
      actions={
        <>
          <RangePicker range={range} fallback="Last 24 hours" onChange={go} />
          {isMember ? null : <TenantChoice id={terms.tenant_id} onChange={choose} />}
          <Button variant="default" leftSection={<SyncIcon size={14} />} onClick={() => setAsOf(new Date())}>
            Read again
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
      <CurrentProblems terms={terms} search={search} />
      <NumbersRow terms={terms} search={search} />
      <Suspense fallback={<Skeleton height={192} radius={6} />}>
        <Charts terms={terms} search={search} onRange={go} />
      </Suspense>
      <Suspense fallback={<Skeleton height={120} radius={6} />}>
        <ErrorGroups terms={terms} search={search} />
      </Suspense>
      <Breakdown terms={terms} search={search} />
    </Page>
  )
}
