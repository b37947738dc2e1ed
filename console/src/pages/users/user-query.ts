import { queryOptions } from '@tanstack/react-query'
import { api, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { askTagged, type Tagged } from '../../api/tagged.ts'

/** A row of the list has no ETag: a dialog reads its user when it opens, and shows what it has read. */
export function userQuery(id: string) {
  return queryOptions({
    queryKey: ['users', 'one', id],
    gcTime: 0,
    queryFn: ({ signal }) => askTagged(api.GET('/admin/v1/users/{id}', { params: { path: { id } }, signal })),
  })
}

/** A user in a form or a dialog that is open. */
export function useUserEditing(of: Tagged<Schema<'User'>>) {
  return useEditingOf(userQuery(of.data.id), of)
}
