import { Skeleton, Tabs } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { count, share } from '../../format/numbers.ts'
import { Problem } from '../../parts/problem.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Duration, Money, None, Tokens } from '../../parts/values.tsx'
import { tokensOf } from './numbers-row.tsx'
import classes from './overview.module.css'
import { alignedTo, type By, type Terms, useBreakdown, useTimeline } from './overview-query.ts'

const tabs: readonly { by: By; title: string; notForMembers?: true }[] = [
  { by: 'model', title: 'Models' },
  { by: 'channel', title: 'Channels', notForMembers: true },
  { by: 'tenant', title: 'Tenants', notForMembers: true },
  { by: 'key', title: 'Keys' },
]

const sorts = [
  { sort: '-requests', title: 'Requests' },
  { sort: '-errors', title: 'Errors' },
  { sort: undefined, title: 'Total, p50' },
  { sort: '-latency', title: 'Total, p95' },
  { sort: '-tokens', title: 'Tokens' },
  { sort: '-cost', title: 'Spend' },
] as const

/** Who and what the numbers come from, the highest first. */
export function Breakdown({ terms, range }: { terms: Terms; range: Record<string, string> }) {
  const { role } = useSession()
  const [by, setBy] = useState<By>('model')
  const [sort, setSort] = useState<string>('-requests')
  const { data, error, refetch } = useBreakdown(terms, by, sort)
  const trendOf = useTrends(terms, by)
  const nameOf = useNames(by, data?.data ?? [])
  return (
    <div>
      <Tabs value={by} onChange={(value) => setBy((value ?? 'model') as By)}>
        <Tabs.List>
          {tabs
            .filter(({ notForMembers }) => role !== 'member' || notForMembers !== true)
            .map((tab) => (
              <Tabs.Tab key={tab.by} value={tab.by}>
                {tab.title}
              </Tabs.Tab>
            ))}
        </Tabs.List>
      </Tabs>
      {error !== null ? (
        <Problem error={error} onAgain={() => void refetch()} />
      ) : data === undefined ? (
        <Skeleton height={200} mt={8} />
      ) : data.data.length === 0 ? (
        <p className="tg-quiet">No request in this time.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is focusable
        <section className={classes.scrolls} tabIndex={0} aria-label={`Sums by ${by}`}>
          <table className={classes.table}>
            <thead>
              <tr>
                <th>{tabs.find((tab) => tab.by === by)?.title.replace(/s$/, '')}</th>
                {sorts.map(({ sort: name, title }) => (
                  <th key={title} data-number aria-sort={sort === name ? 'descending' : undefined}>
                    {name === undefined ? (
                      title
                    ) : (
                      <button type="button" onClick={() => setSort(name)}>
                        {title} {sort === name ? '↓' : ''}
                      </button>
                    )}
                  </th>
                ))}
                <th data-number>Requests over time</th>
              </tr>
            </thead>
            <tbody>
              {data.data.map((row) => {
                const { value, name, to } = nameOf(row)
                return (
                  <tr key={value ?? 'unknown'}>
                    <th scope="row">
                      <Name to={to}>{name}</Name>{' '}
                      {value === null ? null : (
                        <Link
                          to="/console/log"
                          search={{
                            [by === 'tenant' ? 'tenant_id' : by === 'key' ? 'key_id' : by]: value,
                            ...range,
                          }}
                          className={classes.toLog}
                        >
                          log
                        </Link>
                      )}
                    </th>
                    <td>{count(row.requests)}</td>
                    <td title={count(row.errors)} data-bad={row.errors > row.requests / 20 || undefined}>
                      {share(row.errors, row.requests)}
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
                      <Trend values={trendOf(row)} />
                    </td>
                  </tr>
                )
              })}
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
  const field = by === 'tenant' ? 'tenant_id' : by === 'key' ? 'key_id' : by
  return (row) => {
    const found = data?.series.find((one) => !one.other && one[field] === row[field])
    if (!isAllowed || found === undefined) return undefined
    return alignedTo(
      terms,
      found.points.map(({ at, requests }) => ({ at, value: requests })),
    ).values
  }
}

type Group = Schema<'Summary'>['data'][number]

interface Named {
  /** What filters the log; null: requests that have none. */
  value: string | null
  name: string
  to: string | undefined
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
      const model = row.model ?? null
      return {
        value: model,
        name: model ?? 'unknown models',
        to: model === null ? undefined : `/console/models/${encodeURIComponent(model)}`,
      }
    }
    if (by === 'channel')
      return {
        value: row.channel ?? null,
        name: row.channel ?? 'no channel',
        to: row.channel ? `/console/channels/${encodeURIComponent(row.channel)}` : undefined,
      }
    const id = (by === 'tenant' ? row.tenant_id : row.key_id) ?? null
    if (id === null) return { value: null, name: 'callers that are not known', to: undefined }
    return { value: id, name: names.data?.get(id) ?? id, to: `/console/${by}s/${id}` }
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
