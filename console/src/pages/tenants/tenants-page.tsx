import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, Navigate, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { balanceQuery, type Tenant } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay, useSession } from '../../api/session.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { choiceOf, managers, textOf, yesOrNo } from '../../parts/filter-values.ts'
import { ChoiceFilter, FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import { Moment, Money, None } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import classes from '../access/access.module.css'
import { ManagedByFilter, NoneFits } from '../access/access-filters.tsx'
import { limitsInWords } from '../access/access-words.ts'
import { useSpendCells } from '../access/spend-cells.tsx'
import { MakeTenant } from './tenant-form.tsx'

const states = [
  { value: '', label: 'Any state' },
  { value: 'false', label: 'Enabled' },
  { value: 'true', label: 'Disabled' },
]
const moneys = [
  { value: '', label: 'With or without limit' },
  { value: 'true', label: 'Limited to a balance' },
  { value: 'false', label: 'Not limited' },
]
const sorts = ['name', '-name', 'created_at', '-created_at'] as const

/** Who pays, what they have left, and what they spent. A member has one tenant only, and goes there. */
export function TenantsPage() {
  const { role, tenant_id } = useSession()
  if (role === 'member' && tenant_id !== null)
    return <Navigate to="/console/tenants/$id" params={{ id: tenant_id }} replace />
  return <AllTenants />
}

function AllTenants() {
  const may = useMay()
  const navigate = useNavigate()
  const filters = useFilters(['search', 'disabled', 'limited', 'managed_by'])
  const [isMaking, setMaking] = useState(false)
  const asked = askedOf(filters.get)
  const list = useList<Tenant>({
    queryKey: ['tenants', 'list', asked],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/tenants', { params: { query: { ...asked, limit: 100, ...page } }, signal })),
  })
  const make = <Button onClick={() => setMaking(true)}>Make tenant</Button>
  const columns = useColumns()
  return (
    <Page title="Tenants" wide actions={may('tenants', 'write') ? make : undefined}>
      <FilterBar filters={filters} first={<SearchField filters={filters} label="Search names" />}>
        <ChoiceFilter filters={filters} name="disabled" label="State" options={states} />
        <ChoiceFilter filters={filters} name="limited" label="Money" options={moneys} />
        <ManagedByFilter filters={filters} />
      </FilterBar>
      <ListGrid
        label="Tenants"
        things="tenants"
        list={list}
        columns={columns}
        idOf={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/console/tenants/$id', params: { id } })}
        sort={filters.get('sort') || 'name'}
        onSort={(sort) => filters.set({ sort })}
        empty={
          filters.isAny ? (
            <NoneFits what="tenant" />
          ) : (
            <EmptyState title="There is no tenant yet" action={may('tenants', 'write') ? make : undefined}>
              A tenant is a customer, a team or a product: it has keys, limits and money of its own.
            </EmptyState>
          )
        }
      />
      <MakeTenant opened={isMaking} onClose={() => setMaking(false)} />
    </Page>
  )
}

function useColumns(): Column<Tenant>[] {
  const { requests, spend } = useSpendCells('tenant')
  return [
    {
      id: 'name',
      head: 'Name',
      width: 160,
      grows: true,
      sort: 'name',
      cell: ({ id, name }) => (
        <Link className={classes.link} to="/console/tenants/$id" params={{ id }}>
          {name}
        </Link>
      ),
    },
    { id: 'state', head: 'State', width: 96, cell: (tenant) => <TenantState of={tenant} /> },
    { id: 'balance', head: 'Balance', width: 112, align: 'right', cell: (tenant) => <Balance of={tenant} /> },
    {
      id: 'spend',
      head: 'Spend, 30 days',
      width: 112,
      align: 'right',
      isWide: true,
      cell: ({ id }) => spend(id),
    },
    {
      id: 'requests',
      head: 'Requests, 30 days',
      width: 128,
      align: 'right',
      isWide: true,
      cell: ({ id }) => requests(id),
    },
    {
      id: 'limits',
      head: 'Limits',
      width: 136,
      grows: true,
      isWide: true,
      cell: ({ limits }) => limitsInWords(limits) ?? <span className="tg-quiet">unbounded</span>,
    },
    { id: 'managed', head: 'Managed by', width: 96, isWide: true, cell: ({ managed_by }) => managed_by },
    {
      id: 'made',
      head: 'Made',
      width: 136,
      sort: 'created_at',
      isWide: true,
      cell: ({ created_at }) => <Moment at={created_at} />,
    },
  ]
}

export function TenantState({ of }: { of: Tenant }) {
  return of.disabled ? <State tone="quiet">disabled</State> : <State tone="good">enabled</State>
}

function Balance({ of }: { of: Tenant }) {
  const may = useMay()
  const balance = useQuery({ ...balanceQuery(of.id), enabled: of.limited && may('money') })
  if (!of.limited) return <span className="tg-quiet">no limit</span>
  if (balance.data === undefined)
    return <None why={balance.isError ? 'It cannot be read now.' : 'Not read yet.'} />
  return <Money nanoUsd={balance.data.balance_nano_usd} />
}

function askedOf(get: (name: string) => string) {
  return {
    ...textOf(get, 'search'),
    ...choiceOf(get, 'disabled', yesOrNo),
    ...choiceOf(get, 'limited', yesOrNo),
    ...choiceOf(get, 'managed_by', managers),
    ...choiceOf(get, 'sort', sorts),
  }
}
