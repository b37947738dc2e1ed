import { Button, Switch } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { SyncIcon } from '@primer/octicons-react'
import { useIsFetching, useQueryClient } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { moment, zoneName } from '../../format/moments.ts'
import { count } from '../../format/numbers.ts'
import { rangeOf } from '../../format/range.ts'
import { useColumnChoice } from '../../parts/column-choice.ts'
import { ColumnsMenu } from '../../parts/columns-menu.tsx'
import { Grid } from '../../parts/grid.tsx'
import { WaitingRows } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { WithSheet } from '../../parts/sheet.tsx'
import { Notice } from '../../parts/state.tsx'
import { ExportMenu } from './export-menu.tsx'
import { FilterBar } from './filter-bar.tsx'
import { type LiveTail, useLiveTail } from './live-tail.ts'
import { logColumns, toneOf } from './log-columns.tsx'
import { LogEmpty } from './log-empty.tsx'
import { FacetsButton, LogFacets } from './log-facets.tsx'
import { filterField, filtersOf } from './log-filters.ts'
import { LogHistogram } from './log-histogram.tsx'
import { useLogNavigation } from './log-navigation.ts'
import {
  type Greatest,
  greatest,
  greatestOf,
  histogramKey,
  type LogPageData,
  pageRows,
  type Row,
  useLogRows,
  useLogTerms,
} from './log-query.ts'
import { LogSheet } from './log-sheet.tsx'
import { ViewsMenu } from './views-menu.tsx'

/** "What did this request do, and what did it cost?" Filters and time are the address. */
export function LogPage() {
  const search: Texts = useSearch({ strict: false })
  const { id: openId } = useParams({ strict: false })
  const [asOf, setAsOf] = useState(() => new Date())
  const [isLive, setLive] = useState(false)
  const [isAtTop, setAtTop] = useState(true)
  const [showsTools, setShowsTools] = useState(false)
  const [showsFacets, setShowsFacets] = useState(false)
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false }) === true
  const terms = useLogTerms(search, asOf)
  const sort = greatestOf(search)
  const list = useLogRows(terms, sort)
  const live = useLiveTail(terms, isLive && sort === undefined, openId !== undefined || !isAtTop)
  const counted = useLogTerms(search, useCountedAt(asOf, live.batches))
  const rows = useRows(live.shown, list.rows)
  const { columns, choice } = useColumns()
  const { go, open, close, openRow, filter, order, drag, chooseTime, back } = useLogNavigation(search, openId)
  const refresh = useRefresh(live, setAsOf)
  const isFolded = isPhone && !showsTools
  return (
    <Page
      wide
      title="Log"
      lead={<span>Times in {zoneName()}</span>}
      actions={
        <>
          <RangePicker
            range={rangeOf(search)}
            fallback="Last 24 hours"
            onChange={(range) => {
              setAsOf(new Date())
              chooseTime(range)
            }}
          />
          {isPhone ? <ToolsButton isOpen={showsTools} onChange={setShowsTools} search={search} /> : null}
          {isFolded ? null : (
            <>
              <ViewsMenu search={search} onOpen={go} />
              <ColumnsMenu columns={columns} choice={choice} />
              <ExportMenu terms={terms} />
              <Button variant="default" leftSection={<SyncIcon size={14} />} onClick={refresh}>
                Refresh
              </Button>
              <LiveSwitch
                isOn={isLive && sort === undefined}
                isPossible={sort === undefined}
                onChange={(next) => {
                  setLive(next)
                  setAsOf(new Date())
                }}
              />
            </>
          )}
        </>
      }
    >
      {isFolded ? null : (
        <FilterBar search={search} onChange={go} onOpen={open}>
          <FacetsButton isOpen={showsFacets} onChange={setShowsFacets} />
        </FilterBar>
      )}
      <LogHistogram terms={counted} onRange={drag} onBack={back} isSilent={hasFailed(list.error)} />
      {showsFacets && !isFolded && !hasFailed(list.error) ? (
        <LogFacets terms={terms} search={search} onChange={go} />
      ) : null}
      <LiveState live={live} />
      <WithSheet
        sheet={
          openId === undefined ? null : <LogSheet id={openId} search={search} onFilter={go} onClose={close} />
        }
      >
        {list.isPending ? (
          <WaitingRows />
        ) : rows.length === 0 && hasFailed(list.error) ? (
          <Problem error={list.error} onAgain={refresh} />
        ) : rows.length === 0 && list.isWhole ? (
          <LogEmpty search={search} onChange={go} />
        ) : (
          <Grid
            label="Requests"
            columns={columns}
            rows={rows}
            idOf={idOf}
            choice={choice}
            openId={openId}
            onOpen={openRow}
            onFilter={filter}
            onMore={list.more}
            isWhole={list.isWhole}
            onTouch={setAtTop}
            toneOf={toneOf}
            sort={sort ?? '-created_at'}
            onSort={order}
            foot={<Foot list={list} rows={rows.length} sort={sort} />}
          />
        )}
      </WithSheet>
    </Page>
  )
}

function useRefresh(live: LiveTail, setAsOf: (now: Date) => void): () => void {
  const queries = useQueryClient()
  return () => {
    live.release()
    setAsOf(new Date())
    // Where the address names both moments, these stay the same, and so do the keys of what was read.
    for (const part of ['log', histogramKey, 'log-facets']) void queries.resetQueries({ queryKey: [part] })
  }
}

/**
 * Up to when requests are counted: `asOf`, and later while rows come live. Never while a count still runs,
 * and at most every few seconds.
 */
function useCountedAt(asOf: Date, batches: number): Date {
  const [counted, setCounted] = useState({ asOf, at: asOf, batches })
  const isCounting = useIsFetching({ queryKey: [histogramKey] }) > 0
  const isOld = counted.asOf !== asOf
  useEffect(() => {
    if (isOld) setCounted({ asOf, at: asOf, batches })
    if (isOld || isCounting || batches === counted.batches) return
    const waitMs = Math.max(0, counted.at.getTime() + countEveryMs - Date.now())
    const timer = setTimeout(() => setCounted({ asOf, at: new Date(), batches }), waitMs)
    return () => clearTimeout(timer)
  }, [asOf, isOld, isCounting, batches, counted])
  return isOld ? asOf : counted.at
}

const countEveryMs = 5_000

/** The rows that came live above those that were read. */
function useRows(shown: readonly Row[], read: readonly Row[]): readonly Row[] {
  return useMemo(() => {
    if (shown.length === 0) return read
    const fresh = new Set(shown.map(({ id }) => id))
    return [...shown, ...read.filter(({ id }) => !fresh.has(id))]
  }, [shown, read])
}

function useColumns() {
  const { role } = useSession()
  const columns = useMemo(
    () => logColumns.filter(({ id }) => role !== 'member' || filterField(id)?.for !== 'operators'),
    [role],
  )
  const ids = useMemo(() => columns.map(({ id }) => id), [columns])
  return { columns, choice: useColumnChoice('log', ids) }
}

/** On a phone the tools wait behind it. */
function ToolsButton({
  isOpen,
  onChange,
  search,
}: {
  isOpen: boolean
  onChange(isOpen: boolean): void
  search: Texts
}) {
  return (
    <Button variant="default" aria-expanded={isOpen} onClick={() => onChange(!isOpen)}>
      {isOpen ? 'Hide tools' : filtersOf(search).length > 0 ? 'Tools (filters set)' : 'Tools'}
    </Button>
  )
}

/** The greatest of some time do not come live. */
function LiveSwitch({
  isOn,
  isPossible,
  onChange,
}: {
  isOn: boolean
  isPossible: boolean
  onChange(isOn: boolean): void
}) {
  return (
    <Switch
      size="xs"
      label="Live"
      checked={isOn}
      disabled={!isPossible}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  )
}

/** Rows that wait for the reader, and what went wrong with the live ones. */
function LiveState({ live }: { live: LiveTail }) {
  return (
    <>
      {live.waiting > 0 ? (
        <Button variant="light" onClick={live.release}>
          {count(live.waiting)} new
        </Button>
      ) : null}
      {live.trouble === undefined ? null : (
        <Notice tone="bad">
          <strong>{live.trouble.title}.</strong> {live.trouble.detail}
        </Notice>
      )}
      {live.dropped === 0 ? null : (
        <span className="tg-quiet">
          {count(live.dropped)} rows came too fast to be shown live. Refresh to see all.
        </span>
      )}
    </>
  )
}

function hasFailed(error: unknown): boolean {
  return error !== null && error !== undefined
}

function idOf({ id }: Row): string {
  return id
}

/** How far the search has come: it may go through months to find a page. */
function Foot({
  list,
  rows,
  sort,
}: {
  list: ReturnType<typeof useLogRows>
  rows: number
  sort: Greatest | undefined
}) {
  if (hasFailed(list.error)) return <Problem error={list.error} onAgain={list.again} />
  const last: LogPageData | undefined = list.pages.at(-1)
  if (sort !== undefined && last !== undefined) {
    const { most, having } = greatest[sort]
    if (!last.progress.done)
      return (
        <>
          The {most} since {moment(new Date(last.progress.searched_from))}. Choose less time or more filters
          for those before.
        </>
      )
    return rows < pageRows ? (
      <>
        {rows === 1 ? '1 request' : `All ${count(rows)} requests`} {having}
      </>
    ) : (
      <>
        The {count(rows)} {most} of this time
      </>
    )
  }
  if (list.isWhole) return <>{rows === 1 ? '1 request' : `All ${count(rows)} requests`} of this time</>
  if (list.isMoreComing) return <>Reading more…</>
  if (last !== undefined && !last.progress.done) {
    return (
      <>
        Searched back to {moment(new Date(last.progress.searched_from))}.{' '}
        <Button variant="default" onClick={list.more}>
          Search on
        </Button>
      </>
    )
  }
  return (
    <Button variant="default" onClick={list.more}>
      Read more
    </Button>
  )
}
