import { forms } from 'virtual:settings'
import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { ifMatch, isChangedMeanwhile, type Tagged } from '../../api/tagged.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { Problem } from '../../parts/problem.tsx'
import { SettingsFacts, statedTraits } from '../../parts/settings-facts.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { Waiting } from '../../shell/waiting.tsx'
import { TrafficOverTime } from '../traffic/traffic-over-time.tsx'
import { BlockChannel } from './block-channel.tsx'
import { ChannelCredentials } from './channel-credentials.tsx'
import { ChannelOffers } from './channel-offers.tsx'
import { stateOf } from './channel-state.ts'
import { ChannelTest } from './channel-test.tsx'
import { channelQuery, useChannelEditing, useChannelHealth } from './channels-query.ts'
import { channelGroups, EditChannel } from './edit-channel.tsx'

/** One channel: how it is, a test, its credentials, its models, its settings. */
export function ChannelPage() {
  const { id = '' } = useParams({ strict: false })
  const channel = useQuery(channelQuery(id))
  if (channel.error !== null) {
    return (
      <Page title="Channel">
        <Problem error={channel.error} onAgain={() => void channel.refetch()} />
      </Page>
    )
  }
  if (channel.data === undefined) return <Waiting />
  return <Shown key={channel.data.data.id} tagged={channel.data} />
}

function Shown({ tagged }: { tagged: Tagged<Schema<'Channel'>> }) {
  const channel = tagged.data
  const may = useMay()
  const [isEditing, setEditing] = useState(false)
  const gateway = useChannelHealth()
  const health = gateway.data?.channels.find(({ id }) => id === channel.id)
  const isFile = channel.managed_by === 'file'
  const mayChange = may('catalog', 'write') && !isFile
  const why = isFile
    ? 'gateway.yaml manages this channel: change it there.'
    : may('catalog', 'write')
      ? undefined
      : 'You may read channels, and not change them.'
  const { tone, words } = stateOf(channel, health)
  const traffic = useMemo(() => ({ channel: channel.name }), [channel.name])
  const offers = useQuery({
    queryKey: ['channels', channel.id, 'offers'],
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/offers', { params: { query: { channel: channel.name, limit: 200 } }, signal })),
  })
  return (
    <Page
      title={channel.name}
      lead={<State tone={tone}>{words}</State>}
      actions={
        <>
          <Link to="/console/log" search={{ channel: channel.name }}>
            Its requests
          </Link>
          {may('catalog', 'write') ? <BlockChannel tagged={tagged} /> : null}
          {mayChange ? (
            <>
              <Button variant="default" onClick={() => setEditing(true)}>
                Edit the channel
              </Button>
              <Switches tagged={tagged} />
            </>
          ) : null}
        </>
      }
    >
      <HealthPart of={gateway} />
      {health?.breaker === null || health === undefined ? null : (
        <Breaker channel={channel} breaker={health.breaker} />
      )}
      <Facts
        facts={[
          ['Vendor', channel.vendor ?? 'none stated'],
          ...Object.entries(channel.protocols).map(
            ([format, url]) =>
              [
                format,
                <span key={format} className="tg-mono">
                  {url}
                </span>,
              ] as const,
          ),
          [
            'Running now',
            health === undefined ? 'not known' : `${health.load.running} of ${health.load.most}`,
          ],
          [
            'Recent calls',
            health === undefined
              ? 'not known'
              : `${health.recent.calls}, ${health.recent.failed} failed${health.recent.last_error === null ? '' : `: ${health.recent.last_error}`}`,
          ],
        ]}
      />
      <TrafficOverTime of={traffic} />
      {may('catalog', 'write') ? (
        <ChannelTest
          id={channel.id}
          models={(offers.data?.data ?? []).map(({ model }) => model).filter((model) => model !== '*')}
        />
      ) : null}
      <ChannelCredentials tagged={tagged} cooldowns={health?.cooldowns ?? []} mayChange={mayChange} />
      <ChannelOffers tagged={tagged} offers={offers} mayChange={mayChange} />
      <Section title="Settings">
        {why === undefined ? null : <span className="tg-quiet">{why}</span>}
        <SettingsFacts
          groups={[...channelGroups.slice(1), statedTraits(channel.traits)]}
          names={forms.channel.names}
          of={channel}
        />
      </Section>
      {isEditing ? <EditChannel of={tagged} onClose={() => setEditing(false)} /> : null}
    </Page>
  )
}

/** Only its problem: what the health says is in several places of the page. */
function HealthPart({ of }: { of: ReturnType<typeof useChannelHealth> }) {
  return usePart('how it is now', of)
}

function Breaker({
  channel,
  breaker,
}: {
  channel: Schema<'Channel'>
  breaker: NonNullable<Schema<'Health'>['channels'][number]['breaker']>
}) {
  const may = useMay()
  const queries = useQueryClient()
  const close = useMutation({
    mutationFn: () =>
      ask(api.POST('/admin/v1/channels/{id}/breaker/reset', { params: { path: { id: channel.id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['health'] }),
    onError: (error) => fails('Closing the breaker', error),
  })
  return (
    <Notice
      tone="bad"
      action={
        may('health', 'write') ? (
          <Button variant="default" loading={close.isPending} onClick={() => close.mutate()}>
            Close the breaker
          </Button>
        ) : undefined
      }
    >
      The breaker is {breaker.state} in {breaker.open_in} of {breaker.processes} processes since{' '}
      <Moment at={breaker.since} />: {breaker.reason}. Their requests go to other channels. Each process tries
      again by itself, the last one <Moment at={breaker.open_until} />.
    </Notice>
  )
}

function Switches({ tagged }: { tagged: Tagged<Schema<'Channel'>> }) {
  const channel = tagged.data
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [isDeleting, setDeleting] = useState(false)
  const deleting = useChannelEditing(tagged, isDeleting)
  const path = { params: { path: { id: channel.id }, header: ifMatch(tagged.etag) } }
  const enable = useMutation({
    mutationFn: () => ask(api.POST('/admin/v1/channels/{id}/enable', path)),
    onSuccess: async () => {
      done('The channel is enabled')
      await queries.invalidateQueries({ queryKey: ['channels'] })
    },
    onError: async (error) => {
      fails('The change', error)
      if (isChangedMeanwhile(error)) await queries.invalidateQueries({ queryKey: ['channels'] })
    },
  })
  return (
    <>
      {channel.state === 'disabled' ? (
        <Button variant="default" loading={enable.isPending} onClick={() => enable.mutate()}>
          Enable the channel
        </Button>
      ) : null}
      <Button variant="default" color="red" onClick={() => setDeleting(true)}>
        Delete the channel
      </Button>
      <AskFirst
        opened={isDeleting}
        onClose={() => setDeleting(false)}
        verb="Delete the channel"
        name={channel.name}
        editing={deleting}
        act={async (header) => {
          await ask(api.DELETE('/admin/v1/channels/{id}', { params: { path: { id: channel.id }, header } }))
          await queries.invalidateQueries({ queryKey: ['channels'] })
          await navigate({ to: '/console/channels' })
        }}
      >
        It gets no more requests. Its {channel.credentials.length} credentials and its models are erased. Its
        rows stay in the log.
      </AskFirst>
    </>
  )
}
