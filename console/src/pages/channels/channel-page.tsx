import { forms } from 'virtual:settings'
import { Button } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { type ReactNode, useMemo, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import { ifMatch, isChangedMeanwhile, type Tagged } from '../../api/tagged.ts'
import { count } from '../../format/numbers.ts'
import { AskFirst } from '../../parts/ask-first.tsx'
import { Moment } from '../../parts/formatted-values.tsx'
import { Facts, Page, Section } from '../../parts/page.tsx'
import { usePart } from '../../parts/page-parts.tsx'
import { SettingsFacts, statedTraits } from '../../parts/settings-facts.tsx'
import { Notice, State } from '../../parts/state.tsx'
import { done, fails } from '../../parts/toast.tsx'
import { NotThere } from '../access/not-there.tsx'
import { TrafficOverTime } from '../traffic/traffic-over-time.tsx'
import { BlockChannel } from './block-channel.tsx'
import { ChannelCredentials } from './channel-credentials.tsx'
import { ChannelOffers } from './channel-offers.tsx'
import { refusedWords, stateOf, waitingWords } from './channel-state.ts'
import { ChannelTest } from './channel-test.tsx'
import { channelQuery, useChannelEditing, useChannelHealth } from './channels-query.ts'
import { channelGroups, EditChannel } from './edit-channel.tsx'
import { onlyChannelWords } from './only-channel.ts'

/** One channel: how it is, a test, its credentials, its models, its settings. */
export function ChannelPage() {
  const { id = '' } = useParams({ strict: false })
  const channel = useQuery(channelQuery(id))
  if (channel.error !== null || channel.data === undefined)
    return (
      <NotThere what="Channel" query={channel} back={<Link to="/console/channels">Show all channels</Link>} />
    )
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
          {may('catalog', 'write') ? <BlockChannel tagged={tagged} loses={losesOf(health)} /> : null}
          {mayChange ? (
            <>
              <Button variant="default" onClick={() => setEditing(true)}>
                Edit the channel
              </Button>
              <Switches tagged={tagged} loses={losesOf(health)} />
            </>
          ) : null}
        </>
      }
    >
      <HealthPart of={gateway} />
      {health === undefined ? null : (
        <Trouble channel={channel} health={health} offered={offers.data?.data.length} />
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
          ['Recent calls', health === undefined ? 'not known' : recentWords(health.recent)],
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

type Health = Schema<'Health'>['channels'][number]

function recentWords({ calls, failed, last_error, unanswered }: Health['recent']): string {
  return [
    calls === 0 ? 'none' : count(calls),
    ...(calls === 0
      ? []
      : [
          `${failed === 0 ? 'none' : count(failed)} failed${last_error === null ? '' : `, the last one with ${last_error}`}`,
        ]),
    ...(unanswered === 0 ? [] : [`${count(unanswered)} given up by clients before an answer`]),
  ].join('; ')
}

/** What keeps it from answering, since when, and what that does to requests. `offered`: how many models. */
function Trouble({
  channel,
  health,
  offered,
}: {
  channel: Schema<'Channel'>
  health: Health
  offered: number | undefined
}) {
  const { breaker, refused, silent, only_channel_for: only, credentials } = health
  if (channel.state !== 'enabled') return null
  const alone = onlyChannelWords([only])
  const others = alone === '' ? 'Other channels get its requests.' : 'Other channels get its other requests.'
  const where = (
    <>
      {alone} {alone !== '' && offered !== undefined && only.count >= offered ? null : others}
    </>
  )
  if (breaker !== null)
    return (
      <Breaker channel={channel} breaker={breaker}>
        {where}
      </Breaker>
    )
  if (refused !== null)
    return (
      <Notice tone="bad">
        {sentenceOf(refusedWords(credentials))} since <Moment at={refused.since} />: {refused.reason}. Replace
        it, or settle it with the vendor. {where}
      </Notice>
    )
  if (silent !== null)
    return (
      <Notice tone="warning">
        {sentenceOf(waitingWords(silent))}. It has answered none since <Moment at={silent.since} />. Clients
        that give up are cancelled in the log. {alone}
      </Notice>
    )
  return null
}

function sentenceOf(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}

function Breaker({
  channel,
  breaker,
  children,
}: {
  channel: Schema<'Channel'>
  breaker: NonNullable<Health['breaker']>
  children: ReactNode
}) {
  const may = useMay()
  const queries = useQueryClient()
  const close = useMutation({
    mutationFn: () =>
      ask(api.POST('/admin/v1/channels/{id}/breaker/reset', { params: { path: { id: channel.id } } })),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['health'] }),
    onError: (error) => fails('Closing the breaker', error),
  })
  const isAlone = breaker.processes === 1
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
      The breaker is {breaker.state}
      {isAlone ? '' : ` in ${count(breaker.open_in)} of ${count(breaker.processes)} processes`} since{' '}
      <Moment at={breaker.since} />: {breaker.reason}. {children}{' '}
      {isAlone ? 'It tries again by itself at' : 'Each process tries again by itself, the last one at'}{' '}
      <Moment at={breaker.open_until} />.
    </Notice>
  )
}

/** What the models of a channel lose without it. */
function losesOf(health: Health | undefined): string {
  if (health === undefined) return 'A model that no other channel offers has none then.'
  return onlyChannelWords([health.only_channel_for]) || 'Other channels answer all of its models.'
}

function Switches({ tagged, loses }: { tagged: Tagged<Schema<'Channel'>>; loses: string }) {
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
        It gets no more requests. {channel.state === 'enabled' ? loses : null} Its{' '}
        {channel.credentials.length} credentials and its models are erased. Its rows stay in the log.
      </AskFirst>
    </>
  )
}
