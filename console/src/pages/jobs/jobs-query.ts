import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import type { Texts } from '../../console-search.ts'
import { jobsAgainMs } from './job-state.ts'

export const filterNames = ['status', 'tenant_id', 'model'] as const

/** The newest first, unless the address says otherwise. */
export function sortOf(search: Texts): 'created_at' | '-created_at' {
  return search.sort === 'created_at' ? 'created_at' : '-created_at'
}

function stated(search: Texts): Record<string, string> {
  const known = Object.fromEntries(
    filterNames.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : [])),
  )
  return sortOf(search) === 'created_at' ? { ...known, sort: 'created_at' } : known
}

export function useImageJobs(search: Texts) {
  const query = stated(search)
  return useList<Schema<'AdminImageJob'>>({
    queryKey: ['image-jobs', 'list', query],
    live: jobsAgainMs,
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/image-jobs', { params: { query: { ...query, limit: 60, ...page } }, signal })),
  })
}

export function useAnswerJobs(search: Texts) {
  const query = stated(search)
  return useList<Schema<'AdminBackgroundAnswer'>>({
    queryKey: ['background-answers', 'list', query],
    live: jobsAgainMs,
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/background-answers', {
          params: { query: { ...query, limit: 100, ...page } },
          signal,
        }),
      ),
  })
}
