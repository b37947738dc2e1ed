import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { done, fails } from '../../parts/toast.tsx'
import type { Episode } from './alerts-query.ts'

/**
 * The button by which somebody says that they know. Nothing where it is known, is over, or may not be said.
 */
export function Acknowledge({ episode: { id, state, acknowledged } }: { episode: Episode }) {
  const may = useMay()
  const queries = useQueryClient()
  const acknowledge = useMutation({
    mutationFn: () =>
      ask(api.POST('/admin/v1/alerts/episodes/{id}/acknowledge', { params: { path: { id } } })),
    onSuccess: async () => {
      done('Acknowledged. The alert closes by itself when its condition is no longer true.')
      await Promise.all(
        [['alert-episodes'], ['open-episodes']].map((queryKey) => queries.invalidateQueries({ queryKey })),
      )
    },
    onError: (error) => fails('The acknowledgement', error),
  })
  if (state !== 'open' || acknowledged !== null || !may('alerts', 'write')) return null
  return (
    <Button variant="default" loading={acknowledge.isPending} onClick={() => acknowledge.mutate()}>
      Acknowledge
    </Button>
  )
}
