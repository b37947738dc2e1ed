import { queryOptions, useQueryClient } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client.ts'
import { useEditing } from '../../api/editing.ts'
import { askTagged, type Tagged } from '../../api/tagged.ts'

export function modelQuery(id: string) {
  return queryOptions({
    queryKey: ['models', id],
    queryFn: ({ signal }) =>
      askTagged(api.GET('/admin/v1/models/{id}', { params: { path: { id } }, signal })),
  })
}

/** A model in a form or a dialog. `isTouched`: see `useEditing`. */
export function useModelEditing(of: Tagged<Schema<'AdminModelDetails'>>, isTouched: boolean) {
  const queries = useQueryClient()
  return useEditing(of, () => queries.fetchQuery({ ...modelQuery(of.data.id), staleTime: 0 }), isTouched)
}
