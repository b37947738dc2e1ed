import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useMemo } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { short } from '../../format/numbers.ts'
import { CatalogList } from '../../parts/catalog-list.tsx'
import { None } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { State } from '../../parts/state.tsx'
import { ModelForm } from './model-form.tsx'
import { shortPrice } from './prices.ts'

type Model = Schema<'AdminModel'>

/** What clients may ask for, who answers it, and for how much. */
export function ModelsPage() {
  const list = useList<Model>({
    queryKey: ['models', 'all'],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/models', { params: { query: { limit: 100, ...page } }, signal })),
  })
  return (
    <CatalogList
      one="model"
      list={list}
      columns={useColumns()}
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

function useColumns(): readonly Column<Model>[] {
  const offers = useQuery({
    queryKey: ['offers', 'all'],
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/offers', { params: { query: { limit: 200 } }, signal })),
  })
  return useMemo<readonly Column<Model>[]>(() => {
    const channels = new Map<string, string[]>()
    for (const { model, channel } of offers.data?.data ?? []) {
      channels.set(model, [...(channels.get(model) ?? []), channel])
    }
    return [
      {
        id: 'id',
        head: 'Model',
        width: 168,
        grows: true,
        sort: 'id',
        cell: ({ id }) => (id === '*' ? '* (any other name)' : id),
      },
      {
        id: 'state',
        head: 'State',
        width: 96,
        cell: ({ state }) => <State tone={state === 'enabled' ? 'good' : 'quiet'}>{state}</State>,
      },
      {
        id: 'channels',
        head: 'Channels',
        width: 136,
        grows: true,
        isWide: true,
        cell: ({ id }) => channels.get(id)?.join(', ') ?? <None why="No channel offers it under this name" />,
      },
      {
        id: 'price',
        head: 'In / out, USD per million tokens',
        width: 200,
        align: 'right',
        cell: ({ price }) =>
          shortPrice(price) ?? <None why="No price of its own. “Edit prices” fills it from the library." />,
      },
      {
        id: 'context',
        head: 'Context',
        width: 80,
        align: 'right',
        isWide: true,
        cell: ({ context_length }) => (context_length === null ? <None /> : short(context_length)),
      },
      {
        id: 'output',
        head: 'Max output',
        width: 96,
        align: 'right',
        isWide: true,
        cell: ({ max_output_tokens }) => (max_output_tokens === null ? <None /> : short(max_output_tokens)),
      },
      {
        id: 'aliases',
        head: 'Aliases',
        width: 112,
        isWide: true,
        cell: ({ aliases }) => aliases.join(', ') || <None />,
      },
      { id: 'managed', head: 'Managed by', width: 96, isWide: true, cell: ({ managed_by }) => managed_by },
    ]
  }, [offers.data])
}
