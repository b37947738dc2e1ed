import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask } from '../../api/client.ts'
import { duration } from '../../format/numbers.ts'
import { Copy } from '../../parts/copy.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Sheet } from '../../parts/sheet.tsx'
import { Notice } from '../../parts/state.tsx'
import { Acknowledge } from './acknowledge.tsx'
import classes from './alerts.module.css'
import type { Episode } from './alerts-query.ts'
import { deliveryWords, detailsOf, waysOf } from './episode-ways.ts'
import { kindOf } from './rule-fields.ts'

const liveMs = 10_000

/** One episode: what held, since when, who knows, and who was told. */
export function EpisodeSheet({ id, onClose }: { id: string; onClose(): void }) {
  const episode = useQuery<Episode | null>({
    queryKey: ['alert-episodes', 'one', id],
    refetchInterval: ({ state }) => (state.data?.state === 'open' ? liveMs : false),
    queryFn: async ({ signal }) =>
      (await ask(api.GET('/admin/v1/alerts/episodes', { params: { query: { id, limit: 1 } }, signal })))
        .data[0] ?? null,
  })
  const one = episode.data
  return (
    <Sheet
      title={one?.name ?? 'Episode'}
      onClose={onClose}
      actions={
        <>
          <Copy text={id} what="the id of the episode" />
          {one === null || one === undefined ? null : <Acknowledge episode={one} />}
        </>
      }
    >
      {episode.error === null ? null : (
        <Problem error={episode.error} onAgain={() => void episode.refetch()} />
      )}
      {episode.isPending ? <Skeleton height={240} radius={6} /> : null}
      {one === null ? (
        <span className="tg-quiet">There is no such episode. Closed ones are deleted after a while.</span>
      ) : null}
      {one === null || one === undefined ? null : <Body one={one} />}
    </Sheet>
  )
}

function Body({ one }: { one: Episode }) {
  const { state, summary, value, opened_at, last_held_at, closed_at, acknowledged, rule } = one
  const lasted = new Date(closed_at ?? last_held_at).getTime() - new Date(opened_at).getTime()
  const isOpen = state === 'open'
  return (
    <>
      <Notice tone={!isOpen ? 'quiet' : acknowledged === null ? 'bad' : 'warning'}>{summary}</Notice>
      <div className={classes.row}>
        {waysOf(one).map(({ title, to, search }) => (
          <Button key={title} variant="default" component={Link} to={to} search={(search ?? {}) as never}>
            {title}
          </Button>
        ))}
      </div>
      <Facts
        facts={[
          ['Kind', kindOf(rule.kind)?.title ?? rule.kind],
          ['Newest value', value],
          ['Since', <Moment key="opened" at={opened_at} />],
          ['Last held', <Moment key="held" at={last_held_at} />],
          ['Ended', <Moment key="closed" at={closed_at} none="it still holds" />],
          [isOpen ? 'So far' : 'Lasted', duration(lasted)],
          [
            'Looked after',
            acknowledged === null ? (
              'by nobody'
            ) : (
              <span key="by">
                by {acknowledged.by}, <Moment at={acknowledged.at} />
              </span>
            ),
          ],
          [
            'Rule',
            <Link key="rule" to="/console/alerts/$id" params={{ id: rule.id }} search={{ tab: 'rules' }}>
              {rule.name}
            </Link>,
          ],
          ...one.deliveries.map(
            (delivery) => [`Message "${delivery.event}"`, deliveryWords(delivery)] as const,
          ),
          ...(one.deliveries.length === 0 ? [['Messages', 'none: the rule had no webhook'] as const] : []),
          ...detailsOf(one.details).map(
            ([name, value]) => [name, isMoment(value) ? <Moment key={name} at={value} /> : value] as const,
          ),
        ]}
      />
    </>
  )
}

function isMoment(text: string): boolean {
  return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)
}
