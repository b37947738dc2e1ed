import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import type { Texts } from '../../console-search.ts'
import { jobsAgainMs } from './job-state.ts'

export const filterNames = ['status', 'tenant_id', 'model'] as const

function stated(search: Texts): Record<string, string> {
  return Object.fromEntries(
    filterNames.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : [])),
  )
}

export function useImageJobs(search: Texts) {
  const query = stated(search)
  return useList<Schema<'AdminImageJob'>>({
    queryKey: ['image-jobs', 'list', query],
    live: jobsAgainMs,
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/image-jobs', {
          params: { query: { ...query, limit: 60, ...(cursor === undefined ? {} : { cursor }) } },
          signal,
        }),
      ),
  })
}

export function useAnswerJobs(search: Texts) {
  const query = stated(search)
  return useList<Schema<'AdminBackgroundAnswer'>>({
    queryKey: ['background-answers', 'list', query],
    live: jobsAgainMs,
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/background-answers', {
          params: { query: { ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
          signal,
        }),
      ),
  })
}
