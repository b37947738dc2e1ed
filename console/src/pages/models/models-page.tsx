import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useCallback, useMemo } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { useSession } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { short } from '../../format/numbers.ts'
import { rangeOf } from '../../format/range.ts'
import { CatalogList } from '../../parts/catalog-list.tsx'
import { optionsOf } from '../../parts/filter-values.ts'
import { ChoiceFilter, useFilters } from '../../parts/filters.tsx'
import { None } from '../../parts/formatted-values.tsx'
import type { SortedColumn } from '../../parts/sorted-rows.ts'
import { State } from '../../parts/state.tsx'
import { ManagedByFilter } from '../access/access-filters.tsx'
import { trafficColumns } from '../traffic/traffic-columns.tsx'
import { trafficUnder, useTraffic } from '../traffic/traffic-query.ts'
import { ModelForm } from './model-form.tsx'
import { OwnModels } from './own-models.tsx'
import { shortPrice } from './prices.ts'
import { servedBy } from './served-by.ts'

type Model = Schema<'AdminModelDetails'>

const states = [
  { value: '', label: 'Any state' },
  { value: 'enabled', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'unserved', label: 'No channel serves it' },
]
const prices = [
  { value: '', label: 'Any price' },
  { value: 'yes', label: 'Has a price' },
  { value: 'no', label: 'No price' },
]

/** What clients may ask for, who answers it, how well, and for how much. Members see theirs. */
export function ModelsPage() {
  return useSession().role === 'member' ? <OwnModels /> : <AllModels />
}

function AllModels() {
  const filters = useFilters(['search', 'state', 'channel', 'price', 'managed_by'])
  const search: Texts = useSearch({ strict: false })
  const list = useQuery({
    queryKey: ['models', 'all'],
    queryFn: ({ signal }) =>
      readAll(
        (page) => ask(api.GET('/admin/v1/models', { params: { query: { limit: 200, ...page } }, signal })),
        50,
      ),
  })
  const sums = useTraffic('model', rangeOf(search))
  const columns = useMemo(() => {
    const known = new Set(list.data?.flatMap(({ id, aliases }) => [id, ...aliases]))
    const others = [...(sums.data?.keys() ?? [])].filter((name) => !known.has(name))
    return columnsOf(
      ({ id, aliases }) => sums.data && trafficUnder(sums.data, id === '*' ? others : [id, ...aliases]),
    )
  }, [sums.data, list.data])
  const wanted = ['search', 'state', 'channel', 'price', 'managed_by'].map(filters.get)
  const [text = '', state, channel = '', price, manager] = wanted
  const fits = useCallback(
    (model: Model) =>
      [model.id, ...model.aliases].some((name) => name.toLowerCase().includes(text.toLowerCase())) &&
      (state === '' || (state === 'unserved' ? model.channels.length === 0 : model.state === state)) &&
      (channel === '' || model.channels.some(({ name }) => name === channel)) &&
      (price === '' || (priceOf(model) !== undefined) === (price === 'yes')) &&
      (manager === '' || model.managed_by === manager),
    [text, state, channel, price, manager],
  )
  return (
    <CatalogList
      one="model"
      list={list}
      sums={sums}
      columns={columns}
      filters={filters}
      fits={fits}
      searches="Search by name or alias"
      choices={
        <>
          <ChoiceFilter filters={filters} name="state" label="State" options={states} />
          <ChoiceFilter
            filters={filters}
            name="channel"
            label="Channel"
            options={channelsOf(list.data, channel)}
          />
          <ChoiceFilter filters={filters} name="price" label="Price" options={prices} />
          <ManagedByFilter filters={filters} />
        </>
      }
      about="A model is a name that clients use, with its sizes and its price. Channels offer it."
      actions={
        <Button component={Link} to="/console/prices" variant="default">
          Edit prices
        </Button>
      }
      form={(onMade) => <ModelForm onMade={onMade} />}
    />
  )
}

function channelsOf(models: readonly Model[] = [], chosen: string) {
  const names = new Set(models.flatMap(({ channels }) => channels.map(({ name }) => name)))
  return optionsOf('Any channel', [...names].sort(), chosen)
}

/** The price in force: the model's own, or that of a library on the first channel that has one. */
function priceOf({ price, library_prices: [library] }: Model): string | undefined {
  return (
    shortPrice(price) ??
    shortPrice(library?.price) ??
    (price === null && library === undefined ? undefined : 'priced')
  )
}

function columnsOf(sumsOf: Parameters<typeof trafficColumns<Model>>[0]): readonly SortedColumn<Model>[] {
  const { requests, errors, p50, p95, spend } = trafficColumns(sumsOf)
  return [
    {
      id: 'id',
      head: 'Model',
      width: 144,
      grows: true,
      sort: 'name',
      by: ({ id }) => id,
      cell: ({ id, state }) => (
        <>
          {id === '*' ? '* (any other name)' : id}{' '}
          {state === 'enabled' ? null : <State tone="quiet">{state}</State>}
        </>
      ),
    },
    {
      id: 'channels',
      head: 'Channels',
      width: 136,
      grows: true,
      isWide: true,
      sort: 'channels',
      by: ({ channels }) => channels.length,
      cell: (model) =>
        model.channels.length === 0 ? <State tone="warning">none</State> : servedBy(model.channels),
    },
    requests,
    errors,
    p50,
    p95,
    {
      id: 'price',
      head: 'In / out, $ per M',
      about: 'The price in force, in USD per million tokens: input / output',
      width: 128,
      align: 'right',
      sort: 'price',
      by: ({ price, library_prices: [library] }) => inputOf(price) ?? inputOf(library?.price),
      cell: (model) => priceOf(model) ?? <span className="tg-quiet">no price</span>,
    },
    spend,
    {
      id: 'context',
      head: 'Context',
      width: 80,
      align: 'right',
      isWide: true,
      isExtra: true,
      sort: 'context',
      by: ({ context_length }) => context_length ?? undefined,
      cell: ({ context_length }) => (context_length === null ? <None /> : short(context_length)),
    },
    {
      id: 'output',
      head: 'Most output',
      width: 96,
      align: 'right',
      isWide: true,
      isExtra: true,
      sort: 'output',
      by: ({ max_output_tokens }) => max_output_tokens ?? undefined,
      cell: ({ max_output_tokens }) => (max_output_tokens === null ? <None /> : short(max_output_tokens)),
    },
    {
      id: 'aliases',
      head: 'Aliases',
      width: 112,
      isWide: true,
      isExtra: true,
      cell: ({ aliases }) => aliases.join(', ') || <None />,
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

/** What the list is sorted by where a price is: that of input, or of an image. */
function inputOf(price: Readonly<Record<string, unknown>> | null | undefined): number | undefined {
  const value = price?.input ?? price?.image
  return typeof value === 'string' || typeof value === 'number' ? Number(value) : undefined
}
