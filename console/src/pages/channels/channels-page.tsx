import { useMemo } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { CatalogList } from '../../parts/catalog-list.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { State } from '../../parts/state.tsx'
import { ChannelForm } from './channel-form.tsx'
import { stateOf } from './channel-state.ts'
import { useChannelHealth } from './channels-query.ts'

type Channel = Schema<'Channel'>

/** Where requests go, and whether it answers. */
export function ChannelsPage() {
  const list = useList<Channel>({
    queryKey: ['channels', 'all'],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/channels', { params: { query: { limit: 100, ...page } }, signal })),
  })
  return (
    <CatalogList
      one="channel"
      list={list}
      columns={useColumns()}
      about="A channel is a route to a vendor, or to a server of your own: its address, its keys and its models."
      form={(onMade) => <ChannelForm onMade={({ id }) => onMade(id)} />}
    />
  )
}

function useColumns(): readonly Column<Channel>[] {
  const health = useChannelHealth().data
  return useMemo<readonly Column<Channel>[]>(() => {
    const of = ({ id }: Channel) => health?.channels.find((channel) => channel.id === id)
    return [
      { id: 'name', head: 'Name', width: 136, grows: true, cell: ({ name }) => name },
      {
        id: 'state',
        head: 'State',
        width: 216,
        grows: true,
        cell: (channel) => {
          const { tone, words } = stateOf(channel, of(channel))
          return <State tone={tone}>{words}</State>
        },
      },
      {
        id: 'formats',
        head: 'Formats',
        width: 200,
        isWide: true,
        cell: ({ protocols }) => Object.keys(protocols).join(', '),
      },
      {
        id: 'models',
        head: 'Models',
        width: 88,
        align: 'right',
        isWide: true,
        cell: ({ models }) => modelsOf(models),
      },
      {
        id: 'credentials',
        head: 'Credentials',
        width: 88,
        align: 'right',
        isWide: true,
        cell: ({ credentials }) => credentials.length,
      },
      {
        id: 'running',
        head: 'Running',
        width: 72,
        align: 'right',
        isWide: true,
        cell: (channel) => of(channel)?.load.running ?? '–',
      },
      {
        id: 'order',
        head: 'Priority / weight',
        width: 112,
        align: 'right',
        isWide: true,
        cell: ({ priority, weight }) => `${priority} / ${weight}`,
      },
      { id: 'managed', head: 'Managed by', width: 88, isWide: true, cell: ({ managed_by }) => managed_by },
    ]
  }, [health])
}

function modelsOf(models: Channel['models']): string {
  if (typeof models === 'string') return 'all'
  return String(Object.keys(models).length)
}
