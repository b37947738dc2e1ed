import { type QueryKey, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { every } from '../../api/every.ts'
import { keptFor } from '../../api/kept.ts'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { momentsOf, type RangeSearch, rangeOf } from '../../format/range.ts'

export type Sums = Schema<'SummarySums'>
export type Step = Schema<'SummaryTimeline'>['step']

/** What a breakdown is by. */
export type By = SumsPart | 'day'

/** What the sums can be narrowed to, one value of each. */
export type SumsPart = 'model' | 'channel' | 'tenant' | 'key' | 'group'

/** What a breakdown is sorted by; `at`: of days alone. */
export type SortKey = 'requests' | 'errors' | 'latency' | 'tokens' | 'cost' | 'at'

/** A minus: the highest first. */
export type BreakdownSort = SortKey | `-${SortKey}`

/** The filters of the page, by their names in its address and in the API of sums. */
export type PageFilter = Partial<Record<'tenant_id' | 'key_id' | 'group_id' | 'model' | 'channel', string>>

export const usualLast = '24h'
const liveMs = 5_000
const hourMs = 3_600_000
/** The gateway answers 47 hours; the clocks may differ. */
const minutesKeptMs = 46 * hourMs

const stepMs: Readonly<Record<Step, number>> = { minute: 60_000, hour: hourMs, day: 24 * hourMs }

/** The time of the page, the one before it of the same length, and what it is for. */
export interface Terms {
  from: string
  to: string
  /** The range as the address has it: it stays the same while `from` and `to` move. */
  chosen: RangeSearch
  before: { from: string; to: string }
  step: Step
  stepMs: number
  filter: PageFilter
}

const filterNames = ['model', 'channel', 'tenant_id', 'key_id', 'group_id'] as const

/** The filters of an address; the first value of each. Members see no channels and no other tenants. */
export function filterOf(search: Texts, isMember: boolean): PageFilter {
  const allowed = filterNames.filter((name) => !isMember || (name !== 'channel' && name !== 'tenant_id'))
  return Object.fromEntries(
    allowed.flatMap((name) => {
      const value = [search[name] ?? []].flat()[0]
      return value === undefined || value === '' ? [] : [[name, value]]
    }),
  )
}

/** `asOf` moves while the page is live. */
export function useTerms(search: Texts, asOf: Date): Terms {
  const isMember = useSession().role === 'member'
  return useMemo(() => termsOf(search, asOf, isMember), [search, asOf, isMember])
}

export function termsOf(search: Texts, asOf: Date, isMember: boolean): Terms {
  const chosen = rangeOf(search)
  const moments = momentsOf(chosen, asOf) ?? momentsOf({ last: usualLast }, asOf)
  const [from, to] = [new Date(moments?.from ?? asOf), new Date(moments?.to ?? asOf)]
  const ms = to.getTime() - from.getTime()
  const filter = filterOf(search, isMember)
  // Sums of minutes know channels alone, and are kept for two days.
  const hasMinutes =
    !isMember &&
    Object.keys(filter).every((name) => name === 'channel') &&
    asOf.getTime() - from.getTime() < minutesKeptMs
  const step: Step = ms <= 3 * hourMs && hasMinutes ? 'minute' : ms <= 8 * 24 * hourMs ? 'hour' : 'day'
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    chosen,
    before: { from: new Date(from.getTime() - ms).toISOString(), to: from.toISOString() },
    step,
    stepMs: stepMs[step],
    filter,
  }
}

/** Bars of hours where bars of minutes would fit: no minutes are kept for these filters. */
export function hasCoarseBars({ from, to, step, filter }: Terms): boolean {
  const ms = new Date(to).getTime() - new Date(from).getTime()
  return step === 'hour' && ms <= 3 * hourMs && Object.keys(filter).some((name) => name !== 'channel')
}

/**
 * `question`: what is asked, without what moves while the page is live or only puts the same rows in another
 * order.
 */
function common(question: QueryKey, ...moving: readonly string[]) {
  return {
    queryKey: [...question, ...moving],
    placeholderData: keptFor(question),
    staleTime: liveMs,
  }
}

export function useTotals(terms: Terms, range: { from: string; to: string }) {
  return useQuery({
    ...common(['totals', terms.filter, terms.chosen], range.from, range.to),
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/summary', {
          params: { query: { ...terms.filter, ...range, limit: 1 } },
          signal,
        }),
      ),
  })
}

/** `by` undefined: one series of everything. */
export function useTimeline(
  terms: Terms,
  by: 'outcome' | SumsPart | undefined,
  sort: '-requests' | '-cost',
  { top = 8, isAllowed = true }: { top?: number; isAllowed?: boolean } = {},
) {
  const { from, to, step } = terms
  return useQuery({
    ...common(['timeline', terms.filter, terms.chosen, step, by ?? null, sort, top], from, to),
    enabled: isAllowed,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/summary/timeline', {
          params: {
            query: {
              ...terms.filter,
              from,
              to,
              step,
              sort,
              top,
              ...(by === undefined ? {} : { by }),
            },
          },
          signal,
        }),
      ),
  })
}

/** The sums by one part as the API takes them. A key stands beside its tenant, of which it has one. */
export function breakdownQuery({ from, to, filter }: Terms, by: By, sort: BreakdownSort) {
  return { ...filter, from, to, group_by: by === 'key' ? 'tenant,key' : by, sort }
}

export function useBreakdown(terms: Terms, by: By, sort: BreakdownSort, limit: number) {
  return useQuery({
    ...common(['breakdown', terms.filter, terms.chosen, by], sort, String(limit), terms.from, terms.to),
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/summary', {
          params: { query: { ...breakdownQuery(terms, by, sort), limit } },
          signal,
        }),
      ),
  })
}

/** Groups of errors, the largest first. */
export function useErrors({ from, to, filter, chosen }: Terms) {
  return useQuery({
    ...common(['error-groups', filter, chosen], from, to),
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/requests/errors', {
          params: { query: { ...inLogNames(filter), from, to, limit: 100 } },
          signal,
        }),
      ),
  })
}

/** The filters of the page as the log has them. */
export function inLogNames({ model, ...rest }: PageFilter): Record<string, string[]> {
  const named = { ...rest, ...(model === undefined ? {} : { requested_model: model }) }
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, [value]]))
}

const hitMs = 15 * 60_000

/** Requests of the last 15 minutes by the last channel that was asked, of all tenants. */
export function useHits(isAllowed: boolean) {
  return useQuery({
    queryKey: ['hits'],
    enabled: isAllowed,
    refetchInterval: every(15_000),
    queryFn: ({ signal }) => {
      const from = new Date(Date.now() - hitMs).toISOString()
      return ask(
        api.GET('/admin/v1/summary', {
          params: { query: { group_by: 'channel', from, to: new Date().toISOString(), limit: 200 } },
          signal,
        }),
      )
    },
  })
}

export function useHealth(isAllowed: boolean) {
  return useQuery({
    queryKey: ['health'],
    enabled: isAllowed,
    refetchInterval: every(liveMs),
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/health', { signal })),
  })
}

export function useOpenEpisodes(isAllowed: boolean) {
  return useQuery({
    queryKey: ['open-episodes'],
    enabled: isAllowed,
    refetchInterval: every(15_000),
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/alerts/episodes', { params: { query: { open: 'true', limit: 200 } }, signal })),
  })
}

/** Whether someone is notified when things go wrong: there is an alert rule that is enabled. */
export function useIsWatched(isAllowed: boolean) {
  return useQuery({
    queryKey: ['alert-rules', 'watched'],
    enabled: isAllowed,
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/admin/v1/alerts', { params: { query: { enabled: 'true', limit: 1 } }, signal })))
        .data.length > 0,
  })
}

type Errors = Pick<Sums, 'requests' | 'errors'>

/**
 * More than one in twenty; or more than one in a hundred, if that is three times the share of the time
 * before.
 */
export function isFailing(now: Errors, before: Errors = { requests: 0, errors: 0 }): boolean {
  if (now.errors > now.requests / 20) return true
  const hasRisen = now.errors * before.requests > 3 * before.errors * now.requests
  return before.requests > 0 && hasRisen && now.errors >= 10 && now.errors > now.requests / 100
}

/** As `alignedTo`, for what cannot be added up: a step without a measurement is null, not 0. */
export function measuredIn(
  { from, to, stepMs }: Pick<Terms, 'from' | 'to' | 'stepMs'>,
  points: readonly { at: string; value: number | undefined }[],
): { at: number[]; values: (number | null)[] } {
  const { at } = alignedTo({ from, to, stepMs }, [])
  const found = new Map(
    points.map((point) => [Math.floor(new Date(point.at).getTime() / stepMs) * stepMs, point.value]),
  )
  return { at, values: at.map((start) => found.get(start) ?? null) }
}

/** Buckets of a timeline: every step of the time, empty ones included. */
export function alignedTo(
  { from, to, stepMs }: Pick<Terms, 'from' | 'to' | 'stepMs'>,
  points: readonly { at: string; value: number }[],
): { at: number[]; values: number[] } {
  const first = Math.floor(new Date(from).getTime() / stepMs) * stepMs
  const length = Math.max(1, Math.ceil((new Date(to).getTime() - first) / stepMs))
  const at = Array.from({ length }, (_, step) => first + step * stepMs)
  const values = at.map(() => 0)
  for (const point of points) {
    const bucket = Math.floor((new Date(point.at).getTime() - first) / stepMs)
    if (bucket >= 0 && bucket < length) values[bucket] = (values[bucket] ?? 0) + point.value
  }
  return { at, values }
}
