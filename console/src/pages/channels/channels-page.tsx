import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { rangeOf } from '../../format/range.ts'
import { CatalogList } from '../../parts/catalog-list.tsx'
import { optionsOf } from '../../parts/filter-values.ts'
import { ChoiceFilter, useFilters } from '../../parts/filters.tsx'
import { ImportLink } from '../../parts/import-link.tsx'
import type { SortedColumn } from '../../parts/sorted-rows.ts'
import { State } from '../../parts/state.tsx'
import { ManagedByFilter } from '../access/access-filters.tsx'
import { trafficColumns } from '../traffic/traffic-columns.tsx'
import { noTraffic, useTraffic } from '../traffic/traffic-query.ts'
import { ChannelForm } from './channel-form.tsx'
import { isWell, stateOf } from './channel-state.ts'
import { useChannelHealth } from './channels-query.ts'

type Channel = Schema<'Channel'>
type Health = Schema<'Health'>['channels'][number]

const states = [
  { value: '', label: 'Any state' },
  { value: 'unwell', label: 'Needs attention' },
  { value: 'enabled', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'blocked', label: 'Blocked' },
]

/** Where requests go, whether it answers, how fast, and what it costs. */
export function ChannelsPage() {
  const mayChange = useMay()('catalog', 'write')
  const filters = useFilters(['search', 'state', 'model', 'managed_by'])
  const search: Texts = useSearch({ strict: false })
  const list = useQuery({
    queryKey: ['channels', 'all'],
    queryFn: ({ signal }) =>
      readAll(
        (page) => ask(api.GET('/admin/v1/channels', { params: { query: { limit: 200, ...page } }, signal })),
        50,
      ),
  })
  const sums = useTraffic('channel', rangeOf(search))
  const health = useChannelHealth().data
  const healthOf = useMemo(() => {
    const found = new Map(health?.channels.map((channel) => [channel.id, channel]))
    return ({ id }: Channel) => found.get(id)
  }, [health])
  const columns = useMemo(
    () => columnsOf(healthOf, ({ name }) => sums.data && (sums.data.get(name) ?? noTraffic)),
    [healthOf, sums.data],
  )
  const wanted = ['search', 'state', 'model', 'managed_by'].map(filters.get)
  const [text = '', state, model = '', manager] = wanted
  const fits = useCallback(
    (channel: Channel) =>
      channel.name.toLowerCase().includes(text.toLowerCase()) &&
      (state === '' ||
        (state === 'blocked' && channel.blocked !== null) ||
        (state === 'unwell' ? !isWell(stateOf(channel, healthOf(channel))) : channel.state === state)) &&
      (model === '' || offersOf(channel).includes(model)) &&
      (manager === '' || channel.managed_by === manager),
    [text, state, model, manager, healthOf],
  )
  return (
    <CatalogList
      one="channel"
      list={list}
      sums={sums}
      columns={columns}
      filters={filters}
      fits={fits}
      searches="Search by name"
      choices={
        <>
          <ChoiceFilter filters={filters} name="state" label="State" options={states} />
          <ChoiceFilter filters={filters} name="model" label="Model" options={modelsOf(list.data, model)} />
          <ManagedByFilter filters={filters} />
        </>
      }
      actions={mayChange ? <ImportLink /> : undefined}
      about="A channel is a route to a vendor, or to a server of your own: its address, its keys and its models."
      form={(onMade) => <ChannelForm onMade={({ id }) => onMade(id)} />}
    />
  )
}

/** The names that a channel offers; `*` stands for any other. */
function offersOf({ models }: Channel): string[] {
  return typeof models === 'string' ? ['*'] : Object.keys(models)
}

function modelsOf(channels: readonly Channel[] = [], chosen: string) {
  const names = [...new Set(channels.flatMap(offersOf))].sort()
  return optionsOf('Any model', names, chosen).map(({ value, label }) => ({
    value,
    label: value === '*' ? '* (any name)' : label,
  }))
}

function columnsOf(
  healthOf: (channel: Channel) => Health | undefined,
  sumsOf: Parameters<typeof trafficColumns<Channel>>[0],
): readonly SortedColumn<Channel>[] {
  const { requests, errors, p50, p95, spend } = trafficColumns(sumsOf)
  return [
    {
      id: 'name',
      head: 'Name',
      width: 108,
      grows: true,
      sort: 'name',
      by: ({ name }) => name,
      cell: ({ name }) => name,
    },
    {
      id: 'state',
      head: 'State',
      about: 'What differs from a channel that is enabled and answers',
      // Wide enough for "1 of 1 credentials rest".
      width: 200,
      grows: true,
      sort: 'state',
      by: (channel) => severity[stateOf(channel, healthOf(channel)).tone],
      cell: (channel) => {
        const state = stateOf(channel, healthOf(channel))
        return isWell(state) ? null : (
          <State tone={state.tone}>
            <span title={state.words}>{state.words}</span>
          </State>
        )
      },
    },
    requests,
    errors,
    p50,
    p95,
    spend,
    {
      id: 'credentials',
      head: 'Credentials',
      width: 96,
      align: 'right',
      isWide: true,
      sort: 'credentials',
      by: ({ credentials }) => credentials.length,
      cell: (channel) => <Credentials of={channel} health={healthOf(channel)} />,
    },
    {
      id: 'models',
      head: 'Models',
      width: 72,
      align: 'right',
      isWide: true,
      sort: 'models',
      by: (channel) =>
        offersOf(channel).includes('*') ? Number.POSITIVE_INFINITY : offersOf(channel).length,
      cell: (channel) => modelsIn(offersOf(channel)),
    },
    {
      id: 'formats',
      head: 'Formats',
      width: 200,
      isWide: true,
      isExtra: true,
      cell: ({ protocols }) => Object.keys(protocols).join(', '),
    },
    {
      id: 'running',
      head: 'Running',
      width: 72,
      align: 'right',
      isWide: true,
      isExtra: true,
      cell: (channel) => healthOf(channel)?.load.running ?? '–',
    },
    {
      id: 'priority',
      head: 'Priority / weight',
      width: 120,
      align: 'right',
      isWide: true,
      isExtra: true,
      sort: 'priority',
      by: ({ priority }) => priority,
      cell: ({ priority, weight }) => `${priority} / ${weight}`,
    },
    {
      id: 'managed',
      head: 'Managed by',
      width: 96,
      isWide: true,
      isExtra: true,
      sort: 'managed',
      by: ({ managed_by }) => managed_by,
      cell: ({ managed_by }) => managed_by,
    },
  ]
}

/** The worst has the highest number. */
const severity = { good: 0, info: 0, quiet: 1, warning: 2, bad: 3 } as const

function Credentials({ of: { credentials }, health }: { of: Channel; health: Health | undefined }) {
  const resting = new Set(health?.cooldowns.map(({ credential }) => credential)).size
  return resting === 0 ? credentials.length : `${resting} of ${credentials.length} rest`
}

function modelsIn(names: readonly string[]): string {
  if (!names.includes('*')) return String(names.length)
  return names.length === 1 ? 'any' : `${names.length - 1} + any`
}
