import { Link } from '@tanstack/react-router'
import { useOwnModels } from '../../api/own-models.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import { None, Tokens } from '../../parts/formatted-values.tsx'
import { NoneFits } from '../../parts/none-fits.tsx'
import { Page } from '../../parts/page.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Rows, type RowsColumn } from '../../parts/rows.tsx'
import { findModel, type Model } from '../../public/models/catalog.ts'
import { mainFeatures } from '../../public/models/features.ts'
import { ModelView } from '../../public/models/model-page.tsx'
import { usd } from '../../public/models/prices.ts'
import { Waiting } from '../../shell/waiting.tsx'

/** The models that keys of a member's tenant may use: a line for each group that has one, at its prices. */
export function OwnModels() {
  const own = useOwnModels()
  const filters = useFilters(['search'])
  const text = filters.get('search').toLowerCase()
  const rows = (own.data?.groups ?? []).flatMap(({ name: group, models }) =>
    models
      .filter(({ id, aliases }) => [id, ...aliases].some((name) => name.toLowerCase().includes(text)))
      .map((model) => ({ group, model })),
  )
  return (
    <Page title="Models" lead="What the keys of your tenant can use, and what it costs">
      {own.error !== null ? (
        <Problem error={own.error} onAgain={() => void own.refetch()} />
      ) : own.data === undefined ? (
        <Waiting />
      ) : rows.length === 0 && text === '' ? (
        <EmptyState title="No model yet">
          Which models your tenant can use depends on the groups of its keys. Ask an admin of the gateway for
          a key in a group that has models.
        </EmptyState>
      ) : (
        <>
          <FilterBar filters={filters}>
            <SearchField filters={filters} label="Search by name" />
          </FilterBar>
          <Rows
            label="Models"
            rows={rows}
            columns={columns}
            idOf={({ group, model }) => `${group} ${model.id}`}
            none={<NoneFits what="model" />}
          />
        </>
      )}
    </Page>
  )
}

interface Row {
  group: string
  model: Model
}

const columns: readonly RowsColumn<Row>[] = [
  {
    head: 'Model',
    keeps: true,
    cell: ({ model: { id } }) => (
      <Link to="/console/models/$id" params={{ id }}>
        {id}
      </Link>
    ),
  },
  { head: 'Group', keeps: true, cell: ({ group }) => group },
  { head: 'Input, $/M', align: 'right', cell: ({ model: { pricing } }) => priceOf(pricing?.input) },
  {
    head: 'Output, $/M',
    align: 'right',
    cell: ({ model: { pricing } }) =>
      pricing?.output == null && pricing?.image != null
        ? `${usd(pricing.image)} an image`
        : priceOf(pricing?.output),
  },
  { head: 'Context', align: 'right', cell: ({ model }) => <Tokens value={model.context_length} /> },
  { head: 'Max output', align: 'right', cell: ({ model }) => <Tokens value={model.max_output_tokens} /> },
  {
    head: 'Features',
    cell: ({ model }) =>
      mainFeatures
        .filter(({ has }) => has(model))
        .map(({ label }) => label)
        .join(', ') || <None why="What it can do is not known." />,
  },
]

function priceOf(price: string | null | undefined) {
  return price == null ? <None why="The price is not known." /> : usd(price)
}

/** What a member may know of a model: what it can do, what it costs, and how to ask it. */
export function OwnModel({ id }: { id: string }) {
  const own = useOwnModels()
  const offers = own.data === undefined ? [] : findModel(own.data, id)
  const [first] = offers
  return (
    <Page
      title={id}
      actions={
        <Link to="/console/log" search={{ model: id }}>
          Its requests
        </Link>
      }
    >
      {own.error !== null ? (
        <Problem error={own.error} onAgain={() => void own.refetch()} />
      ) : own.data === undefined ? (
        <Waiting />
      ) : first === undefined ? (
        <EmptyState
          title="Your keys cannot use this model"
          action={<Link to="/console/models">Show your models</Link>}
        >
          No group of your tenant's keys has a model of this name. Ask an admin of the gateway for a key in
          one that has it.
        </EmptyState>
      ) : (
        <ModelView model={first.model} offers={offers} />
      )}
    </Page>
  )
}
