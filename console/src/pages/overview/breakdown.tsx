import { Button, Skeleton, Tabs } from '@mantine/core'
import { DownloadIcon } from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { Schema } from '../../api/client.ts'
import { useMay, useSession } from '../../api/session.ts'
import { stringifySearch, type Texts } from '../../console-search.ts'
import { count, share } from '../../format/numbers.ts'
import { Duration, None, Tokens } from '../../parts/formatted-values.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { SpendCell } from '../../parts/spend-cells.tsx'
import { tokensOf } from './numbers-row.tsx'
import classes from './overview.module.css'
import {
  addressOf,
  barInLog,
  errorOutcomes,
  filterParts,
  inLog,
  nameIn,
  nextSort,
  sorts,
  tableOf,
  tabs,
  withTable,
} from './overview-address.ts'
import {
  alignedTo,
  type BreakdownSort,
  type By,
  breakdownQuery,
  isFailing,
  type PageFilter,
  type SortKey,
  type Terms,
  useBreakdown,
  useTimeline,
} from './overview-query.ts'

const few = 20
const most = 200

/** Who and what the numbers come from. */
export function Breakdown({
  terms,
  search,
  onFilter,
}: {
  terms: Terms
  search: Texts
  onFilter(name: keyof PageFilter, value: string): void
}) {
  const { role } = useSession()
  const may = useMay()
  const navigate = useNavigate()
  const { tab, sort } = tableOf(search, role === 'member')
  const { by } = tab
  // Of one tab: another one begins with few again.
  const [wholeOf, setWholeOf] = useState<By>()
  const query = useBreakdown(terms, by, sort, by === 'day' || wholeOf === by ? most : few)
  const { data } = query
  const trendOf = useTrends(terms, by)
  const go = (next: Parameters<typeof withTable>[1]) =>
    void navigate({ to: '/console', search: withTable(search, next), resetScroll: false })
  const problem = usePart('the table', query)
  if (problem === null) return null
  return (
    <div>
      <Tabs value={tab.tab} onChange={(next) => go({ tab: next })}>
        <div className={classes.tableHead}>
          <Tabs.List>
            {tabs
              .filter(({ notForMembers }) => role !== 'member' || notForMembers !== true)
              .map(({ tab, title }) => (
                <Tabs.Tab key={tab} value={tab}>
                  {title}
                </Tabs.Tab>
              ))}
          </Tabs.List>
          <Button
            component="a"
            variant="default"
            leftSection={<DownloadIcon size={14} />}
            href={`/admin/v1/summary/export${stringifySearch(breakdownQuery(terms, by, sort))}`}
            download
            aria-label={`Export CSV: ${tab.title}`}
          >
            Export CSV
          </Button>
        </div>
      </Tabs>
      {problem !== undefined ? (
        problem
      ) : data === undefined ? (
        <Skeleton height={200} mt={8} />
      ) : data.data.length === 0 ? (
        <p className="tg-quiet">
          No request in this time.{' '}
          {may('playground', 'write') ? (
            <Link to="/console/playground">Send one from the playground</Link>
          ) : null}
        </p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
        <section className={classes.scrolls} tabIndex={0} aria-label={`Sums by ${by}`}>
          <table className={classes.table}>
            <Heads one={tab.one} by={by} sort={sort} onSort={(key) => go({ sort: nextSort(sort, key) })} />
            <tbody>
              {data.data.map((row) => (
                <BreakdownRow
                  key={JSON.stringify([by, row.tenant_id, nameIn(row, by).id])}
                  {...{ row, by, terms, search, onFilter }}
                  trend={trendOf(row)}
                />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <div className={classes.tableFoot}>
        {data?.other && data.other.groups > 0 ? (
          <span>
            {count(data.other.groups)} more with {count(data.other.requests)} requests
            {wholeOf === by ? ': export them. ' : '. '}
          </span>
        ) : null}
        {data?.other && wholeOf !== by ? (
          <Button variant="subtle" onClick={() => setWholeOf(by)}>
            Show more
          </Button>
        ) : null}
        <span>
          No sums are kept by end user, session or tag: filter or export{' '}
          <Link to="/console/log" search={inLog(search)}>
            the log
          </Link>{' '}
          for these.
        </span>
      </div>
    </div>
  )
}

function Heads({
  one,
  by,
  sort,
  onSort,
}: {
  one: string
  by: By
  sort: BreakdownSort
  onSort(key: SortKey): void
}) {
  const head = (title: string, key: SortKey | undefined) => {
    const isHere = key !== undefined && sort.replace('-', '') === key
    const isFalling = sort.startsWith('-')
    return (
      <th
        key={title}
        scope="col"
        data-number={title === one ? undefined : true}
        aria-sort={isHere ? (isFalling ? 'descending' : 'ascending') : undefined}
      >
        {key === undefined ? (
          title
        ) : (
          <button type="button" onClick={() => onSort(key)}>
            {title} {isHere ? (isFalling ? '↓' : '↑') : ''}
          </button>
        )}
      </th>
    )
  }
  return (
    <thead>
      <tr>
        {head(one, by === 'day' ? 'at' : undefined)}
        {sorts.map(({ sort: key, title }) => head(title, key))}
        {by === 'day' ? null : head('Requests over time', undefined)}
      </tr>
    </thead>
  )
}

function BreakdownRow({
  row,
  by,
  terms,
  trend,
  search,
  onFilter,
}: {
  row: Group
  by: By
  terms: Terms
  trend: readonly number[] | undefined
  search: Texts
  onFilter(name: keyof PageFilter, value: string): void
}) {
  const { id, name } = nameIn(row, by)
  const filter = filterParts.find(({ part }) => part === by)
  const log = logOf(row, by, terms, search)
  return (
    <tr>
      <th scope="row">
        <Name to={addressOf(by, id, useSession().role)}>{name}</Name>{' '}
        {filter === undefined || id === '' ? null : (
          <button
            type="button"
            className={classes.only}
            aria-label={`Filter by ${name}`}
            title="Narrow this page to it"
            onClick={() => onFilter(filter.name, id)}
          >
            filter
          </button>
        )}
        {log === undefined ? null : (
          <Link to="/console/log" search={log({})} className={classes.toLog} aria-label={`Log of ${name}`}>
            log
          </Link>
        )}
      </th>
      <td>{count(row.requests)}</td>
      <td data-bad={isFailing(row) || undefined}>
        {row.errors === 0 ? (
          '0'
        ) : (
          <>
            <span className="tg-quiet">{share(row.errors, row.requests)}</span>{' '}
            {log === undefined ? (
              count(row.errors)
            ) : (
              <Link to="/console/log" search={log({ outcome: errorOutcomes })} className={classes.plain}>
                {count(row.errors)}
                <span className="tg-heard"> errors of {name}</span>
              </Link>
            )}
          </>
        )}
      </td>
      <td>
        <Duration ms={row.latency_ms.total?.p50} />
      </td>
      <td>
        <Duration ms={row.latency_ms.total?.p95} />
      </td>
      <td>
        <Tokens value={tokensOf(row)} />
      </td>
      <td>
        <SpendCell of={row} />
      </td>
      {by === 'day' ? null : (
        <td>
          <Trend values={trend} />
        </td>
      )}
    </tr>
  )
}

function Name({ to, children }: { to: string | undefined; children: ReactNode }) {
  return to === undefined ? children : <Link to={to}>{children}</Link>
}

function Trend({ values }: { values: readonly number[] | undefined }) {
  if (values === undefined)
    return <None why="Not known for so short a time, or for rows behind the first twenty." />
  return <Sparkline values={values} />
}

/** Requests over the time of the page, by row. Sums of minutes are kept by channel alone. */
function useTrends(terms: Terms, by: By): (row: Group) => readonly number[] | undefined {
  const part = by === 'day' ? undefined : by
  const isAllowed = part !== undefined && (terms.step !== 'minute' || part === 'channel')
  const { data } = useTimeline(terms, part, '-requests', { top: 20, isAllowed })
  return (row) => {
    // Requests without a key are of several tenants: the series of keys counts them as one.
    if (part === undefined || !isAllowed || (part === 'key' && !row.key_id)) return undefined
    const found = data?.series.find((one) => !one.other && nameIn(one, part).id === nameIn(row, part).id)
    if (found === undefined) return undefined
    return alignedTo(
      terms,
      found.points.map(({ at, requests }) => ({ at, value: requests })),
    ).values
  }
}

type Group = Schema<'Summary'>['data'][number]

/** The log of just the requests of a row, and `filters`; undefined: nothing finds just these. */
function logOf(row: Group, by: By, terms: Terms, search: Texts): ((filters: Texts) => Texts) | undefined {
  const { id } = nameIn(row, by)
  if (by === 'day') {
    const to = new Date(new Date(id).getTime() + dayMs).toISOString()
    return (filters) => barInLog(search, terms, { from: id, to }, filters)
  }
  if (by === 'model')
    return id === '' ? undefined : (filters) => inLog(search, { requested_model: id, ...filters })
  if (by === 'key')
    return (filters) => inLog(search, { tenant_id: row.tenant_id ?? '', key_id: id, ...filters })
  const name = by === 'channel' ? 'channel' : `${by}_id`
  return (filters) => inLog(search, { [name]: id, ...filters })
}

const dayMs = 86_400_000
