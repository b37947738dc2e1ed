import { useQuery } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { every } from '../../api/every.ts'
import { useMay } from '../../api/session.ts'
import { count } from '../../format/numbers.ts'

/** How long the queues are, for those who may know it. */
export function JobQueues({ kind }: { kind: 'images' | 'answers' }) {
  const may = useMay()
  const { data } = useQuery({
    queryKey: ['health'],
    enabled: may('health'),
    refetchInterval: every(5_000),
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/health', { signal })),
  })
  if (data === undefined) return null
  const { queues } = data
  if (!queues.reachable)
    return <span>The queue does not answer: what is asked for meanwhile is kept, and waits.</span>
  const running = queues[kind]?.active ?? 0
  const waiting = queues[`${kind}_waiting`] ?? 0
  if (running + waiting === 0) return <span>No job runs or waits.</span>
  return (
    <span>
      {running === 1 ? '1 runs' : `${count(running)} run`},{' '}
      {waiting === 1 ? '1 waits' : `${count(waiting)} wait`}.
    </span>
  )
}
