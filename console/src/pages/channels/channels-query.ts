import { useQuery } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { every } from '../../api/every.ts'
import { useMay } from '../../api/session.ts'
import { askTagged } from '../../api/tagged.ts'

export function useChannelHealth() {
  const may = useMay()
  return useQuery({
    queryKey: ['health'],
    enabled: may('health'),
    refetchInterval: every(5_000),
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/health', { signal })),
  })
}

export function useChannel(id: string) {
  return useQuery({
    queryKey: ['channels', id],
    queryFn: ({ signal }) =>
      askTagged(api.GET('/admin/v1/channels/{id}', { params: { path: { id } }, signal })),
  })
}
