import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { groupNamesQuery, type ListedKey, spendDays, tenantNamesQuery } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay, useSession } from '../../api/session.ts'
import { useColumnChoice } from '../../parts/column-choice.ts'
import { ColumnsMenu } from '../../parts/columns-menu.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { optionsOf } from '../../parts/filter-values.ts'
import { ChoiceFilter, FilterBar, type Filters, SearchField, useFilters } from '../../parts/filters.tsx'
import { ImportLink } from '../../parts/import-link.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { NoneFits } from '../../parts/none-fits.tsx'
import { Page } from '../../parts/page.tsx'
import { useSelection } from '../../parts/selection.tsx'
import { useKeyOfSecret, wordsOfSecretSearch } from '../../parts/use-key-of-secret.ts'
import { ManagedByFilter } from '../access/access-filters.tsx'
import { keyColumnIds, useKeyColumns } from './key-columns.tsx'
import { keyFilters } from './key-filters.ts'
import { ImportKey, MakeKey } from './make-key.tsx'
import { SeveralKeys } from './several-keys.tsx'

const states = [
  { value: '', label: 'Any state' },
  { value: 'enabled', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'blocked', label: 'Blocked' },
  { value: 'revoked', label: 'Revoked' },
]
const expiries = [
  { value: '', label: 'Any expiry' },
  { value: '7', label: 'Expires in 7 days' },
  { value: '30', label: 'Expires in 30 days' },
]
const newNetworks = [
  { value: '', label: 'Any network' },
  { value: '1', label: 'New network since yesterday' },
  { value: '7', label: 'New network in 7 days' },
  { value: '30', label: 'New network in 30 days' },
]
const filterNames = [
  ...['search', 'tenant', 'group', 'state', 'expires', 'managed_by', 'hint', 'network', 'new_network'],
]

/** Which keys there are, who uses them, and what they cost. */
export function KeysPage() {
  const may = useMay()
  const isMember = useSession().role === 'member'
  const navigate = useNavigate()
  const filters = useFilters(filterNames)
  const [isMaking, setMaking] = useState(false)
  const [isImporting, setImporting] = useState(false)
  const asked = keyFilters(filters.get)
  const choice = useColumnChoice('keys', keyColumnIds)
  const columns = useKeyColumns(isMember)
  const list = useList<ListedKey>({
    queryKey: ['keys', 'list', asked],
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/keys', {
          params: { query: { ...asked, limit: 100, spend_days: spendDays, ...page } },
          signal,
        }),
      ),
  })
  const selection = useSelection(list.rows, selecting)
  const mayChange = may('keys', 'write')
  const make = <Button onClick={() => setMaking(true)}>Make key</Button>
  return (
    <Page
      title="Keys"
      wide
      actions={
        <>
          <ColumnsMenu columns={columns} choice={choice} />
          {mayChange && !isMember ? (
            <>
              <ImportLink />
              <Button variant="default" onClick={() => setImporting(true)}>
                Import key
              </Button>
            </>
          ) : null}
          {mayChange ? make : null}
        </>
      }
    >
      <KeyFilters filters={filters} isMember={isMember} />
      <SeveralKeys selection={selection} isMember={isMember} />
      <ListGrid
        {...(mayChange ? { selection } : {})}
        label="Keys"
        things="keys"
        list={list}
        columns={columns}
        choice={choice}
        idOf={selecting.idOf}
        onOpen={({ id }) => void navigate({ to: '/console/keys/$id', params: { id } })}
        sort={filters.get('sort') || '-created_at'}
        onSort={(sort) => filters.set({ sort })}
        empty={
          filters.isAny ? (
            <NoneFits what="key" />
          ) : (
            <EmptyState title="There is no key yet" action={mayChange ? make : undefined}>
              A key is what a program sends to be let in. It belongs to a tenant, which pays, and to a group,
              which says which models it may use.
            </EmptyState>
          )
        }
      />
      <MakeKey opened={isMaking} onClose={() => setMaking(false)} />
      <ImportKey opened={isImporting} onClose={() => setImporting(false)} />
    </Page>
  )
}

const selecting = {
  things: 'keys',
  idOf: ({ id }: ListedKey) => id,
  nameOf: ({ tenant, name }: ListedKey) => `${tenant}/${name}`,
}

/** Searches names. A secret that is pasted here opens its key, and never enters the address. */
function KeySearch({ filters }: { filters: Filters }) {
  const [text, setText] = useState('')
  const clear = useCallback(() => setText(''), [])
  const secret = useKeyOfSecret(text, clear)
  return (
    <SearchField
      filters={filters}
      label="Search, or paste a secret"
      onText={setText}
      note={wordsOfSecretSearch[secret]}
    />
  )
}

function KeyFilters({ filters, isMember }: { filters: Filters; isMember: boolean }) {
  const tenants = useQuery({ ...tenantNamesQuery, enabled: !isMember })
  const groups = useQuery({ ...groupNamesQuery, enabled: !isMember })
  return (
    <FilterBar filters={filters} first={<KeySearch filters={filters} />}>
      {isMember ? null : (
        <>
          <ChoiceFilter
            filters={filters}
            name="tenant"
            label="Tenant"
            options={optionsOf('All tenants', namesOf(tenants.data?.data), filters.get('tenant'))}
          />
          <ChoiceFilter
            filters={filters}
            name="group"
            label="Group"
            options={optionsOf('All groups', namesOf(groups.data?.data), filters.get('group'))}
          />
        </>
      )}
      <ChoiceFilter filters={filters} name="state" label="State" options={states} />
      <ChoiceFilter filters={filters} name="expires" label="Expiry" options={expiries} />
      <ChoiceFilter filters={filters} name="new_network" label="Network" options={newNetworks} />
      <ManagedByFilter filters={filters} />
    </FilterBar>
  )
}

function namesOf(rows: readonly { name: string }[] = []): string[] {
  return rows.map(({ name }) => name)
}
