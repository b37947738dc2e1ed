import { Button } from '@mantine/core'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import type { GroupRow } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { choiceOf, managers, textOf, yesOrNo } from '../../parts/filter-values.ts'
import { ChoiceFilter, FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { ListGrid } from '../../parts/list-grid.tsx'
import { NoneFits } from '../../parts/none-fits.tsx'
import { OwnMark } from '../../parts/own-mark.tsx'
import { Page } from '../../parts/page.tsx'
import classes from '../access/access.module.css'
import { ManagedByFilter } from '../access/access-filters.tsx'
import { budgetInWords, limitsInWords } from '../access/access-words.ts'
import { MakeGroup } from './group-form.tsx'

const publics = [
  { value: '', label: 'Public or not' },
  { value: 'true', label: 'Public' },
  { value: 'false', label: 'Not public' },
]
const columns: Column<GroupRow>[] = [
  {
    id: 'name',
    head: 'Name',
    width: 128,
    grows: true,
    sort: 'name',
    cell: ({ id, name }) => (
      <>
        <Link className={classes.link} to="/console/groups/$id" params={{ id }}>
          {name}
        </Link>
        <OwnMark name={name} />
      </>
    ),
  },
  { id: 'models', head: 'Models', width: 136, grows: true, cell: ({ models }) => listed(models) },
  { id: 'channels', head: 'Channels', width: 136, isWide: true, cell: ({ channels }) => listed(channels) },
  {
    id: 'price',
    head: 'Price ×',
    width: 72,
    align: 'right',
    cell: ({ price_multiplier }) => price_multiplier,
  },
  {
    id: 'limits',
    head: 'Limits of each key',
    width: 192,
    isWide: true,
    cell: ({ limits }) => limitsInWords(limits) ?? <Quiet words="unbounded" />,
  },
  {
    id: 'budget',
    head: 'Budget',
    width: 144,
    isWide: true,
    cell: ({ budget }) => budgetInWords(budget) ?? <Quiet words="none" />,
  },
  {
    id: 'public',
    head: 'Public',
    width: 72,
    isWide: true,
    cell: ({ public: isPublic }) => (isPublic ? 'yes' : 'no'),
  },
  { id: 'managed', head: 'Managed by', width: 96, isWide: true, cell: ({ managed_by }) => managed_by },
]

/** Which models, channels, prices and limits keys share. */
export function GroupsPage() {
  const may = useMay()
  const navigate = useNavigate()
  const filters = useFilters(['search', 'public', 'managed_by'])
  const [isMaking, setMaking] = useState(false)
  const asked = {
    ...textOf(filters.get, 'search'),
    ...choiceOf(filters.get, 'public', yesOrNo),
    ...choiceOf(filters.get, 'managed_by', managers),
    ...choiceOf(filters.get, 'sort', ['name', '-name']),
  }
  const list = useList<GroupRow>({
    queryKey: ['groups', 'list', asked],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/groups', { params: { query: { ...asked, limit: 100, ...page } }, signal })),
  })
  const make = may('keys', 'write') ? <Button onClick={() => setMaking(true)}>Make group</Button> : undefined
  return (
    <Page title="Groups" wide actions={make}>
      <FilterBar filters={filters} first={<SearchField filters={filters} label="Search names" />}>
        <ChoiceFilter filters={filters} name="public" label="Public" options={publics} />
        <ManagedByFilter filters={filters} />
      </FilterBar>
      <ListGrid
        label="Groups"
        things="groups"
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/console/groups/$id', params: { id } })}
        sort={filters.get('sort') || 'name'}
        onSort={(next) => filters.set({ sort: next })}
        empty={
          filters.isAny ? (
            <NoneFits what="group" />
          ) : (
            <EmptyState title="There is no group yet" action={make}>
              A group says which models and channels its keys may use, what they pay, and how much.
            </EmptyState>
          )
        }
      />
      <MakeGroup opened={isMaking} onClose={() => setMaking(false)} />
    </Page>
  )
}

function Quiet({ words }: { words: string }) {
  return <span className="tg-quiet">{words}</span>
}

export function listed(names: readonly string[]): string {
  return names.includes('*') ? 'all' : names.join(', ')
}
