import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { useEditingOf } from '../../api/editing.ts'
import { every } from '../../api/every.ts'
import { useMay } from '../../api/session.ts'
import { askTagged, type Tagged } from '../../api/tagged.ts'

export function useChannelHealth() {
  const may = useMay()
  return useQuery({
    queryKey: ['health'],
    enabled: may('health'),
    refetchInterval: every(5_000),
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/health', { signal })),
  })
}

export function channelQuery(id: string) {
  return queryOptions({
    queryKey: ['channels', id],
    queryFn: ({ signal }) =>
      askTagged(api.GET('/admin/v1/channels/{id}', { params: { path: { id } }, signal })),
  })
}

/** A channel in a form or a dialog. `isTouched`: see `useEditing`. */
export function useChannelEditing(of: Tagged<Schema<'Channel'>>, isTouched: boolean) {
  return useEditingOf(channelQuery(of.data.id), of, isTouched)
}
