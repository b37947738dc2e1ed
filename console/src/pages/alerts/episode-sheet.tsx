import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { Facts } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { fails } from '../../parts/toast.tsx'
import { Notice } from '../../parts/tone.tsx'
import { Moment } from '../../parts/values.tsx'

/** One episode: what held, since when, who knows, and who was told. */
export function EpisodeSheet({ id, onClose }: { id: string; onClose(): void }) {
  const may = useMay()
  const queries = useQueryClient()
  const episode = useQuery({
    queryKey: ['alert-episodes', id],
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/admin/v1/alerts/episodes', { params: { query: { id, limit: 1 } }, signal })))
        .data[0] ?? null,
  })
  const acknowledge = useMutation({
    mutationFn: () =>
      ask(api.POST('/admin/v1/alerts/episodes/{id}/acknowledge', { params: { path: { id } } })),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['alert-episodes'] })
      await queries.invalidateQueries({ queryKey: ['open-episodes'] })
    },
    onError: (error) => fails('The acknowledgement', error),
  })
  const one = episode.data
  return (
    <Sheet
      title={one?.rule.name ?? 'Episode'}
      onClose={onClose}
      actions={
        one?.state === 'open' && one.acknowledged === null && may('alerts', 'write') ? (
          <Button loading={acknowledge.isPending} onClick={() => acknowledge.mutate()}>
            I look after it
          </Button>
        ) : undefined
      }
    >
      {episode.error === null ? null : (
        <Problem error={episode.error} onAgain={() => void episode.refetch()} />
      )}
      {one === null ? <span className="tg-quiet">There is no such episode.</span> : null}
      {one === null || one === undefined ? null : (
        <>
          <Notice tone={one.state === 'open' ? 'bad' : 'quiet'}>{one.summary}</Notice>
          <Facts
            facts={[
              ['About', one.name],
              ['Newest value', one.value],
              ['Since', <Moment key="opened" at={one.opened_at} />],
              ['Last held', <Moment key="held" at={one.last_held_at} />],
              ['Ended', <Moment key="closed" at={one.closed_at} none="it still holds" />],
              [
                'Looked after',
                one.acknowledged === null ? (
                  'by nobody yet'
                ) : (
                  <span key="by">
                    by {one.acknowledged.by}, <Moment at={one.acknowledged.at} />
                  </span>
                ),
              ],
              [
                'Rule',
                <Link
                  key="rule"
                  to="/console/alerts/$id"
                  params={{ id: one.rule.id }}
                  search={{ tab: 'rules' }}
                >
                  {one.rule.name}
                </Link>,
              ],
              ...Object.entries(one.details).map(
                ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
              ),
              ...one.deliveries.map(
                ({ event, state, tries, problem }) =>
                  [
                    `Message "${event}"`,
                    `${state} after ${tries} tries${problem === null ? '' : `: ${problem}`}`,
                  ] as const,
              ),
            ]}
          />
        </>
      )}
    </Sheet>
  )
}
