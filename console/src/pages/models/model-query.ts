import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
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
  return useEditingOf(modelQuery(of.data.id), of, isTouched)
}
