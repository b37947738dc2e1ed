import { Button, Switch } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { SyncIcon } from '@primer/octicons-react'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
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
import { ExportMenu } from './export-menu.tsx'
import { FilterBar } from './filter-bar.tsx'
import { useLiveTail } from './live-tail.ts'
import { logColumns, toneOf } from './log-columns.tsx'
import { LogEmpty } from './log-empty.tsx'
import { filterKind, filtersOf, withValue } from './log-filters.ts'
import { LogHistogram } from './log-histogram.tsx'
import {
  type Greatest,
  greatest,
  greatestOf,
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
  const navigate = useNavigate()
  const session = useSession()
  const [asOf, setAsOf] = useState(() => new Date())
  const [isLive, setLive] = useState(false)
  const [isAtTop, setAtTop] = useState(true)
  const [showsTools, setShowsTools] = useState(false)
  const isPhone = useMediaQuery('(max-width: 640px)', undefined, { getInitialValueInEffect: false }) === true
  const [dragged, setDragged] = useState<readonly Texts[]>([])

  const terms = useLogTerms(search, asOf)
  const sort = greatestOf(search)
  const list = useLogRows(terms, sort)
  const live = useLiveTail(terms, isLive && sort === undefined, openId !== undefined || !isAtTop)
  const columns = useMemo(
    () => logColumns.filter(({ id }) => session.role !== 'member' || !hiddenFromMembers.has(id)),
    [session.role],
  )
  const choice = useColumnChoice(
    'log',
    useMemo(() => columns.map(({ id }) => id), [columns]),
  )
  const rows = useMemo(() => {
    if (live.shown.length === 0) return list.rows
    const fresh = new Set(live.shown.map(({ id }) => id))
    return [...live.shown, ...list.rows.filter(({ id }) => !fresh.has(id))]
  }, [live.shown, list.rows])

  const go = useCallback(
    (next: Texts) =>
      void navigate({
        to: openId === undefined ? '/console/log' : '/console/log/$id',
        params: { id: openId ?? '' },
        search: next,
      }),
    [navigate, openId],
  )
  const open = useCallback(
    (id: string) =>
      void navigate({
        to: '/console/log/$id',
        params: { id },
        search,
        // Walking through rows leaves one step to go back.
        replace: openId !== undefined,
        resetScroll: false,
      }),
    [navigate, search, openId],
  )
  const close = useCallback(
    () => void navigate({ to: '/console/log', search, resetScroll: false }),
    [navigate, search],
  )
  const onOpen = useCallback((row: Row) => open(row.id), [open])
  const onFilter = useCallback(
    (column: string, row: Row, keeps: boolean) => {
      const value = logColumns.find(({ id }) => id === column)?.value?.(row)
      if (value !== undefined && filterKind(column) !== undefined)
        go(withValue(search, { name: column, keeps }, value))
    },
    [go, search],
  )
  const refresh = () => {
    setAsOf(new Date())
    live.release()
  }
  const order = (chosen: string) => {
    const { sort: _sort, ...rest } = search
    // A second click on the same head, or one on "Time", brings the newest first again.
    go(greatestOf({ sort: chosen }) === undefined ? rest : { ...rest, sort: chosen })
  }
  const zoom = (range: { from: string; to: string }) => {
    setDragged((before) => [...before, search])
    const { last: _last, from: _from, to: _to, ...rest } = search
    go({ ...rest, ...range })
  }
  const back = dragged.at(-1)

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
              const { last: _last, from: _from, to: _to, ...rest } = search
              setAsOf(new Date())
              setDragged([])
              go({ ...rest, ...range })
            }}
          />
          {isPhone ? (
            <Button variant="default" aria-expanded={showsTools} onClick={() => setShowsTools(!showsTools)}>
              {showsTools ? 'Hide tools' : filtersOf(search).length > 0 ? 'Tools (filters set)' : 'Tools'}
            </Button>
          ) : null}
          {isPhone && !showsTools ? null : (
            <>
              <ViewsMenu search={search} onOpen={go} />
              <ColumnsMenu columns={columns} choice={choice} />
              <ExportMenu terms={terms} />
              <Button variant="default" leftSection={<SyncIcon size={14} />} onClick={refresh}>
                Read again
              </Button>
              <Switch
                size="xs"
                label="Live"
                checked={isLive && sort === undefined}
                disabled={sort !== undefined}
                onChange={(event) => {
                  setLive(event.currentTarget.checked)
                  setAsOf(new Date())
                }}
              />
            </>
          )}
        </>
      }
    >
      {isPhone && !showsTools ? null : <FilterBar search={search} onChange={go} onOpen={open} />}
      <LogHistogram
        terms={terms}
        onRange={zoom}
        onBack={
          back === undefined
            ? undefined
            : () => {
                setDragged((before) => before.slice(0, -1))
                go(back)
              }
        }
      />
      {live.waiting > 0 ? (
        <Button variant="light" onClick={live.release}>
          {count(live.waiting)} new
        </Button>
      ) : null}
      {live.trouble === undefined ? null : <Problem error={new Error(live.trouble)} doing="Live rows" />}
      {live.dropped === 0 ? null : (
        <span className="tg-quiet">
          {count(live.dropped)} rows came too fast to be shown live. Read again to see all.
        </span>
      )}
      <WithSheet
        sheet={
          openId === undefined ? null : <LogSheet id={openId} search={search} onFilter={go} onClose={close} />
        }
      >
        {list.isPending ? (
          <WaitingRows />
        ) : rows.length === 0 && list.error !== null && list.error !== undefined ? (
          <Problem error={list.error} onAgain={list.again} />
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
            onOpen={onOpen}
            onFilter={onFilter}
            onMore={list.more}
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

const hiddenFromMembers: ReadonlySet<string> = new Set([
  'channel',
  'tenant',
  'upstream_protocol',
  'upstream_request_id',
])

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
  if (list.error !== null && list.error !== undefined)
    return <Problem error={list.error} onAgain={list.again} />
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
        All {count(rows)} rows {having}
      </>
    ) : (
      <>
        The {count(rows)} {most} of this time
      </>
    )
  }
  if (list.isWhole) return <>All {count(rows)} rows of this time</>
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
