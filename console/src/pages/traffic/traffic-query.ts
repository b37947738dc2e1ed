import { useQueries, useQuery } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { every } from '../../api/every.ts'
import { readAll } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { momentsOf, type RangeSearch } from '../../format/range.ts'
import type { Step, Sums } from '../overview/overview-query.ts'

/** The time of the sums where the address has none. */
const usualRange: RangeSearch = { last: '24h' }

/** Of the sums of one list: 1,000 names. */
const pagesMax = 5

/** What the sums count for one name. */
export type Traffic = Pick<Sums, 'requests' | 'errors' | 'cost_nano_usd' | 'unpriced_requests' | 'latency_ms'>

/** No requests: it has no latencies, and its cost is not unknown. */
export const noTraffic: Traffic = {
  requests: 0,
  errors: 0,
  cost_nano_usd: '0',
  unpriced_requests: 0,
  latency_ms: { total: null, first_token: null },
}

/**
 * The sums of a time by channel or by requested model, all in one call. Undefined: they are not read yet, or
 * the reader may not see them.
 */
export function useTraffic(by: 'channel' | 'model', chosen: RangeSearch) {
  const isAllowed = useMay()('log')
  const question = ['traffic', by, chosen]
  return useQuery({
    queryKey: question,
    enabled: isAllowed,
    refetchInterval: every(30_000),
    async queryFn({ signal }) {
      const now = new Date()
      const span = momentsOf(chosen, now) ?? momentsOf(usualRange, now)
      const rows = await readAll(
        (page) =>
          ask(
            api.GET('/admin/v1/summary', {
              params: { query: { ...span, group_by: by, limit: 200, ...page } },
              signal,
            }),
          ),
        pagesMax,
      )
      return new Map(rows.flatMap((row) => (typeof row[by] === 'string' ? [[row[by], row] as const] : [])))
    },
  })
}

/**
 * Of a model under all its names. The latencies are those of the name that is used most: they do not add up.
 */
export function trafficUnder(found: ReadonlyMap<string, Traffic>, names: readonly string[]): Traffic {
  const parts = names.flatMap((name) => found.get(name) ?? [])
  const [busiest = noTraffic] = parts.toSorted((a, b) => b.requests - a.requests)
  const sum = (of: (part: Traffic) => number) => parts.reduce((total, part) => total + of(part), 0)
  return {
    requests: sum(({ requests }) => requests),
    errors: sum(({ errors }) => errors),
    cost_nano_usd: String(parts.reduce((total, part) => total + BigInt(part.cost_nano_usd), 0n)),
    unpriced_requests: sum(({ unpriced_requests }) => unpriced_requests),
    latency_ms: busiest.latency_ms,
  }
}

/** Whose sums a page shows: a channel's, or a model's under its names. */
export type TrafficOf = { channel: string } | { models: readonly string[] }

export type Series = Schema<'SummaryTimeline'>['series'][number]

/** Sums by outcome over a time, with a series for each name of a model. */
export function useOutcomes(of: TrafficOf, { from, to, step }: { from: string; to: string; step: Step }) {
  const filters = 'channel' in of ? [{ channel: of.channel }] : of.models.map((model) => ({ model }))
  const question = ['traffic', 'outcomes', of, step]
  return useQueries({
    queries: filters.map((filter) => ({
      queryKey: [...question, filter, from, to],
      staleTime: 15_000,
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (
          await ask(
            api.GET('/admin/v1/summary/timeline', {
              params: { query: { ...filter, from, to, step, by: 'outcome' } },
              signal,
            }),
          )
        ).series,
    })),
    combine: (parts) => ({
      data: parts.every(({ data }) => data !== undefined)
        ? parts.flatMap(({ data }): Series[] => data ?? [])
        : undefined,
      error: parts.find(({ error }) => error !== null)?.error ?? null,
      fetchStatus: parts.some(({ fetchStatus }) => fetchStatus === 'fetching')
        ? ('fetching' as const)
        : ('idle' as const),
      refetch: () => Promise.all(parts.map(({ refetch }) => refetch())),
    }),
  })
}
