import { useQuery } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { type Endpoint, endpointOf, parseRequest, type RequestBody } from './formats.ts'

/** A row of the log, to fill the playground from. */
export function useRow(id: string | undefined) {
  return useQuery({
    queryKey: ['request', id],
    enabled: id !== undefined,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/requests/{id}', { params: { path: { id: id ?? '' } }, signal })),
  })
}

/** What a row gives to the playground, and in words what it does not. */
export function draftOf(row: Schema<'LogDetail'>): {
  endpoint: Endpoint | undefined
  request: RequestBody | undefined
  lacks: string | undefined
} {
  const endpoint = endpointOf(row.endpoint)
  if (endpoint === undefined)
    return { endpoint, request: undefined, lacks: `The playground makes no requests to ${row.endpoint}.` }
  if (row.capture !== 'content' || typeof row.body !== 'string') {
    const why = row.capture === 'shape' ? 'only the shape of its body is kept' : 'its body is not kept'
    return { endpoint, request: undefined, lacks: `The request cannot be shown: ${why}.` }
  }
  const read = parseRequest(row.body)
  if ('error' in read) return { endpoint, request: undefined, lacks: 'Only a part of its body is kept.' }
  const differs = row.as_curl?.differs ?? []
  const lacks = differs.length === 0 ? undefined : `This is not the whole request: ${differs.join('; ')}.`
  return { endpoint, request: read.request, lacks }
}
