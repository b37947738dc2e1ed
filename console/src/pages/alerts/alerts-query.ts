import { api, ask, type Schema } from '../../api/client.ts'
import { type ListPage, useList } from '../../api/list.ts'
import type { Texts } from '../../console-search.ts'
import { momentsOf, rangeOf } from '../../format/range.ts'

export type Episode = Schema<'AlertEpisode'>
export type Rule = Schema<'AlertRule'>

const liveMs = 10_000
/** Stands before the cursors of the second list. */
const second = 'second:'

/** Two lists as one, the first before the second, read page by page. */
export async function inTurn<Row>(
  cursor: string | undefined,
  readFirst: (cursor: string | undefined) => Promise<ListPage<Row>>,
  readSecond: (cursor: string | undefined) => Promise<ListPage<Row>>,
): Promise<ListPage<Row>> {
  if (cursor?.startsWith(second) !== true) {
    const page = await readFirst(cursor)
    // A short first list and the second one come at once: what is shown must not look whole when it is not.
    if (page.next_cursor !== null) return page
    const rest = await inTurn(second, readFirst, readSecond)
    return { data: [...page.data, ...rest.data], next_cursor: rest.next_cursor }
  }
  const own = cursor.slice(second.length)
  const page = await readSecond(own === '' ? undefined : own)
  return { ...page, next_cursor: page.next_cursor === null ? null : `${second}${page.next_cursor}` }
}

/** What is wrong now: first what nobody looks after. */
export function useOpenEpisodes() {
  return useList<Episode>({
    queryKey: ['alert-episodes', 'open'],
    live: () => liveMs,
    readPage: (cursor, signal) => {
      const read = (acknowledged: 'true' | 'false') => (from: string | undefined) =>
        ask(
          api.GET('/admin/v1/alerts/episodes', {
            params: {
              query: {
                open: 'true',
                acknowledged,
                limit: 50,
                ...(from === undefined ? {} : { cursor: from }),
              },
            },
            signal,
          }),
        )
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
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/alerts/episodes', {
          params: {
            query: { ...query, open: 'false', limit: 100, ...(cursor === undefined ? {} : { cursor }) },
          },
          signal,
        }),
      ),
  })
}

export function useRules() {
  return useList<Rule>({
    queryKey: ['alert-rules', 'list'],
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/alerts', {
          params: { query: { sort: 'name', limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
          signal,
        }),
      ),
  })
}
