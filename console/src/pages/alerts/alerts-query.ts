import { queryOptions } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { askTagged } from '../../api/tagged.ts'
import type { Texts } from '../../console-search.ts'
import { momentsOf, rangeOf } from '../../format/range.ts'
import { inTurn } from './in-turn.ts'

export type Episode = Schema<'AlertEpisode'>
export type Rule = Schema<'AlertRule'>

const liveMs = 10_000

/** What is wrong now: unacknowledged episodes first. */
export function useOpenEpisodes() {
  return useList<Episode>({
    queryKey: ['alert-episodes', 'open'],
    live: () => liveMs,
    readPage: ({ cursor }, signal) => {
      const read = (acknowledged: 'true' | 'false') => (from: string | undefined) => {
        const query = {
          open: 'true' as const,
          acknowledged,
          limit: 50,
          ...(from === undefined ? {} : { cursor: from }),
        }
        return ask(api.GET('/admin/v1/alerts/episodes', { params: { query }, signal }))
      }
      return inTurn(cursor, read('false'), read('true'))
    },
  })
}

export const historyFilters = ['kind', 'rule_id'] as const

/** What was wrong, and is no more. */
export function useEpisodeHistory(search: Texts, asOf: Date) {
  const query = {
    ...Object.fromEntries(
      historyFilters.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : [])),
    ),
    ...(momentsOf(rangeOf(search), asOf) ?? {}),
  }
  return useList<Episode>({
    queryKey: ['alert-episodes', 'history', query],
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/alerts/episodes', {
          params: { query: { ...query, open: 'false', limit: 100, ...page } },
          signal,
        }),
      ),
  })
}

export function useRules() {
  return useList<Rule>({
    queryKey: ['alert-rules', 'list'],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/alerts', { params: { query: { sort: 'name', limit: 100, ...page } }, signal })),
  })
}

export function ruleQuery(id: string) {
  return queryOptions({
    queryKey: ['alert-rules', 'one', id],
    queryFn: ({ signal }) =>
      askTagged(api.GET('/admin/v1/alerts/{id}', { params: { path: { id } }, signal })),
  })
}
