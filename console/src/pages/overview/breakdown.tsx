import { Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { count, share } from '../../format/numbers.ts'
import { Duration, Money, None, Tokens } from '../../parts/formatted-values.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { tokensOf } from './numbers-row.tsx'
import classes from './overview.module.css'
import { errorOutcomes, inLog, sorts, tableOf, tabs, withTable } from './overview-address.ts'
import {
  alignedTo,
  type BreakdownSort,
  type By,
  isFailing,
  type Terms,
  useBreakdown,
  useTimeline,
} from './overview-query.ts'

/** Who and what the numbers come from, the highest first. */
export function Breakdown({ terms, search }: { terms: Terms; search: Texts }) {
  const { role } = useSession()
  const navigate = useNavigate()
  const { tab, sort } = tableOf(search, role === 'member')
  const { by } = tab
  const query = useBreakdown(terms, by, sort)
  const { data } = query
  const trendOf = useTrends(terms, by)
  const nameOf = useNames(by, data?.data ?? [])
  const go = (next: Parameters<typeof withTable>[1]) =>
    void navigate({ to: '/console', search: withTable(search, next), resetScroll: false })
  const problem = usePart('the table', query)
  if (problem === null) return null
  return (
    <div>
      <Tabs value={tab.tab} onChange={(next) => go({ tab: next })}>
        <Tabs.List>
          {tabs
            .filter(({ notForMembers }) => role !== 'member' || notForMembers !== true)
            .map(({ tab, title }) => (
              <Tabs.Tab key={tab} value={tab}>
                {title}
              </Tabs.Tab>
            ))}
        </Tabs.List>
      </Tabs>
      {problem !== undefined ? (
        problem
      ) : data === undefined ? (
        <Skeleton height={200} mt={8} />
      ) : data.data.length === 0 ? (
        <p className="tg-quiet">No request in this time.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
        <section className={classes.scrolls} tabIndex={0} aria-label={`Sums by ${by}`}>
          <table className={classes.table}>
            <Heads one={tab.one} sort={sort} onSort={(next) => go({ sort: next })} />
            <tbody>
              {data.data.map((row) => (
                <BreakdownRow
                  key={JSON.stringify([by, row[fieldOf(by)] ?? null])}
                  row={row}
                  named={nameOf(row)}
                  trend={trendOf(row)}
                  search={search}
                />
              ))}
            </tbody>
          </table>
          {data.other === null || data.other.groups === 0 ? null : (
            <p className="tg-quiet">
              {count(data.other.groups)} more with {count(data.other.requests)} requests.
            </p>
          )}
        </section>
      )}
    </div>
  )
}

function Heads({
  one,
  sort,
  onSort,
}: {
  one: string
  sort: BreakdownSort
  onSort(sort: BreakdownSort): void
}) {
  return (
    <thead>
      <tr>
        <th scope="col">{one}</th>
        {sorts.map(({ sort: name, title }) => (
          <th key={title} scope="col" data-number aria-sort={sort === name ? 'descending' : undefined}>
            {name === undefined ? (
              title
            ) : (
              <button type="button" onClick={() => onSort(name)}>
                {title} {sort === name ? '↓' : ''}
              </button>
            )}
          </th>
        ))}
        <th scope="col" data-number>
          Requests over time
        </th>
      </tr>
    </thead>
  )
}

function BreakdownRow({
  row,
  named: { name, to, filter },
  trend,
  search,
}: {
  row: Group
  named: Named
  trend: readonly number[] | undefined
  search: Texts
}) {
  return (
    <tr>
      <th scope="row">
        <Name to={to}>{name}</Name>{' '}
        {filter === undefined ? null : (
          <Link
            to="/console/log"
            search={inLog(search, filter)}
            className={classes.toLog}
            aria-label={`The log of ${name}`}
          >
            log
          </Link>
        )}
      </th>
      <td>{count(row.requests)}</td>
      <td title={count(row.errors)} data-bad={isFailing(row) || undefined}>
        {row.errors === 0 || filter === undefined ? (
          share(row.errors, row.requests)
        ) : (
          <Link
            to="/console/log"
            search={inLog(search, { ...filter, outcome: errorOutcomes })}
            className={classes.plain}
          >
            {share(row.errors, row.requests)}
            <span className="tg-heard">: the errors of {name}</span>
          </Link>
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
        {row.unpriced_requests === row.requests && row.cost_nano_usd === '0' ? (
          <None why="The cost of these requests is unknown." />
        ) : (
          <Money nanoUsd={row.cost_nano_usd} />
        )}
      </td>
      <td>
        <Trend values={trend} />
      </td>
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
  const isAllowed = terms.step !== 'minute' || by === 'channel'
  const { data } = useTimeline(terms, by, '-requests', { top: 20, isAllowed })
  const field = fieldOf(by)
  return (row) => {
    const found = data?.series.find((one) => !one.other && one[field] === row[field])
    if (!isAllowed || found === undefined) return undefined
    return alignedTo(
      terms,
      found.points.map(({ at, requests }) => ({ at, value: requests })),
    ).values
  }
}

function fieldOf(by: By) {
  return by === 'tenant' ? 'tenant_id' : by === 'key' ? 'key_id' : by
}

type Group = Schema<'Summary'>['data'][number]

interface Named {
  name: string
  to: string | undefined
  /** What finds its requests in the log; undefined: nothing finds just these. */
  filter: Texts | undefined
}

/** Sums have ids of tenants and keys: their names are asked for once. */
function useNames(by: By, rows: readonly Group[]): (row: Group) => Named {
  const ids = rows.flatMap((row) =>
    by === 'tenant' ? (row.tenant_id ?? []) : by === 'key' ? (row.key_id ?? []) : [],
  )
  const names = useQuery({
    queryKey: ['names', by, ...ids],
    enabled: ids.length > 0,
    staleTime: 60_000,
    queryFn: async ({ signal }) => new Map(await Promise.all(ids.map((id) => named(by, id, signal)))),
  })
  return (row) => {
    if (by === 'model') {
      const { model } = row
      // Sums count names that no model has as one.
      if (model === null || model === undefined)
        return { name: 'unknown models', to: undefined, filter: undefined }
      return {
        name: model,
        to: `/console/models/${encodeURIComponent(model)}`,
        filter: { requested_model: model },
      }
    }
    if (by === 'channel') {
      const { channel } = row
      return {
        name: channel ?? 'no channel',
        to: channel ? `/console/channels/${encodeURIComponent(channel)}` : undefined,
        filter: { channel: channel ?? '' },
      }
    }
    const id = (by === 'tenant' ? row.tenant_id : row.key_id) ?? ''
    return {
      name: id === '' ? 'unknown callers' : (names.data?.get(id) ?? id),
      to: id === '' ? undefined : `/console/${by}s/${id}`,
      filter: by === 'tenant' ? { tenant_id: id } : { key_id: id },
    }
  }
}

async function named(by: By, id: string, signal: AbortSignal): Promise<[string, string]> {
  const params = { path: { id } }
  try {
    const { name } =
      by === 'tenant'
        ? await ask(api.GET('/admin/v1/tenants/{id}', { params, signal }))
        : await ask(api.GET('/admin/v1/keys/{id}', { params, signal }))
    return [id, name]
  } catch {
    // One that is gone keeps its id.
    return [id, id]
  }
}
