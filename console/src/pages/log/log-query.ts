import { hashKey, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { type List, useList } from '../../api/list.ts'
import type { Texts } from '../../console-search.ts'
import { momentsOf, rangeOf } from '../../format/range.ts'
import { queryOf } from './log-filters.ts'

export type Row = Schema<'LogRow'>
export type LogPageData = Schema<'LogPage'>

/**
 * Where the address names no time: the log begins with the newest rows, and reads on as far as one scrolls.
 */
export const usualLast = '24h'

export const pageRows = 100

/** What an address may ask for instead of the newest rows: those with the most of it, in words. */
export const greatest = {
  '-cost': { most: 'costliest', having: 'with a cost' },
  '-total_ms': { most: 'slowest', having: 'with a time' },
  '-first_token_ms': { most: 'slowest to the first token', having: 'with a first token' },
} as const

export type Greatest = keyof typeof greatest

/** Undefined: the newest first. */
export function greatestOf({ sort }: Texts): Greatest | undefined {
  return sort === '-cost' || sort === '-total_ms' || sort === '-first_token_ms' ? sort : undefined
}

/**
 * What the page asks for: filters and moments, the same for list, histogram and file. `asOf`: the end of "the
 * last hour".
 */
export function useLogTerms(search: Texts, asOf: Date) {
  return useMemo(() => {
    const moments = momentsOf(rangeOf(search), asOf) ?? momentsOf({ last: usualLast }, asOf)
    return { filters: queryOf(search), from: moments?.from ?? '', to: moments?.to ?? '' }
  }, [search, asOf])
}

export type LogTerms = ReturnType<typeof useLogTerms>

export function useLogRows(
  { filters, from, to }: LogTerms,
  sort: Greatest | undefined,
): List<Row, LogPageData> {
  return useList<Row, LogPageData>({
    queryKey: ['log', filters, from, to, sort],
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/requests', {
          params: {
            query: {
              ...filters,
              from,
              to,
              limit: pageRows,
              ...(sort === undefined ? {} : { sort }),
              ...page,
            },
          },
          signal,
        }),
      ),
  })
}

type Histogram = Schema<'LogHistogram'>
export type Width = Histogram['width']

const widthMs: Readonly<Record<Width, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }
const bucketsMost = 120

/** The width that the API counts by, and how many of them make one bar. */
export function barsOf(from: string, to: string): { width: Width; each: number; stepMs: number } {
  const ms = new Date(to).getTime() - new Date(from).getTime()
  const width: Width = ms <= 86_400_000 ? 'minute' : ms <= 45 * 86_400_000 ? 'hour' : 'day'
  const count = ms / widthMs[width]
  const each = niceSteps[width].find((step) => count / step <= bucketsMost) ?? Math.ceil(count / bucketsMost)
  return { width, each, stepMs: each * widthMs[width] }
}

const niceSteps: Readonly<Record<Width, readonly number[]>> = {
  minute: [1, 2, 5, 10, 15],
  hour: [1, 2, 3, 6, 12],
  day: [1, 2, 7],
}

export const histogramKey = 'log-histogram'

export function useHistogram({ filters, from, to }: LogTerms) {
  const { width } = barsOf(from, to)
  return useQuery({
    queryKey: [histogramKey, filters, width, from, to],
    staleTime: 60_000,
    // The bars of a moment ago stay until those of now are there.
    placeholderData: (before: Histogram | undefined, query) =>
      hashKey([query?.queryKey.slice(0, 3)]) === hashKey([[histogramKey, filters, width]])
        ? before
        : undefined,
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/requests/histogram', {
          params: { query: { ...filters, from, to, width } },
          signal,
        }),
      ),
  })
}

/** The bars of a histogram, empty ones included. */
export function bucketsOf(
  data: Histogram['data'],
  from: string,
  to: string,
): { at: number[]; stepMs: number; outcomes: Record<string, number[]> } {
  const { stepMs } = barsOf(from, to)
  const first = Math.floor(new Date(from).getTime() / stepMs) * stepMs
  const length = Math.max(1, Math.ceil((new Date(to).getTime() - first) / stepMs))
  const at = Array.from({ length }, (_, bucket) => first + bucket * stepMs)
  const outcomes: Record<string, number[]> = {}
  for (const { starts_at, outcomes: counts } of data) {
    const bucket = Math.floor((new Date(starts_at).getTime() - first) / stepMs)
    if (bucket < 0 || bucket >= length) continue
    for (const [outcome, count] of Object.entries(counts)) {
      outcomes[outcome] ??= at.map(() => 0)
      const list = outcomes[outcome]
      if (list !== undefined) list[bucket] = (list[bucket] ?? 0) + (count ?? 0)
    }
  }
  return { at, stepMs, outcomes }
}
