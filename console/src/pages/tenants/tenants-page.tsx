import { Button } from '@mantine/core'
import { Link, Navigate, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { type ListedTenant, spendDays, type Tenant } from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay, useSession } from '../../api/session.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { choiceOf, managers, textOf, yesOrNo } from '../../parts/filter-values.ts'
import { ChoiceFilter, FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import { Moment, Money } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid-props.ts'
import { ListGrid } from '../../parts/list-grid.tsx'
import { NoneFits } from '../../parts/none-fits.tsx'
import { OwnMark } from '../../parts/own-mark.tsx'
import { Page } from '../../parts/page.tsx'
import { RequestsCell, SpendCell } from '../../parts/spend-cells.tsx'
import { State } from '../../parts/state.tsx'
import classes from '../access/access.module.css'
import { ManagedByFilter } from '../access/access-filters.tsx'
import { limitsInWords } from '../access/access-words.ts'
import { MakeTenant } from './tenant-form.tsx'

const states = [
  { value: '', label: 'Any state' },
  { value: 'false', label: 'Enabled' },
  { value: 'true', label: 'Disabled' },
]
const moneys = [
  { value: '', label: 'Any balance' },
  { value: 'true', label: 'Limited balance' },
  { value: 'false', label: 'Not limited' },
]
const sorts = [
  ...(['name', '-name', 'created_at', '-created_at'] as const),
  ...(['spend', '-spend', 'balance', '-balance'] as const),
]

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
  const list = useList<ListedTenant>({
    queryKey: ['tenants', 'list', asked],
    readPage: (page, signal) =>
      ask(
        api.GET('/admin/v1/tenants', {
          params: { query: { ...asked, limit: 100, spend_days: spendDays, ...page } },
          signal,
        }),
      ),
  })
  const make = <Button onClick={() => setMaking(true)}>Make tenant</Button>
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

const columns: readonly Column<ListedTenant>[] = [
  {
    id: 'name',
    head: 'Name',
    width: 160,
    grows: true,
    sort: 'name',
    cell: ({ id, name }) => (
      <>
        <Link className={classes.link} to="/console/tenants/$id" params={{ id }}>
          {name}
        </Link>
        <OwnMark name={name} />
      </>
    ),
  },
  { id: 'state', head: 'State', width: 96, cell: (tenant) => <TenantState of={tenant} /> },
  {
    id: 'balance',
    head: 'Balance',
    width: 112,
    align: 'right',
    sort: 'balance',
    cell: (tenant) => <Balance of={tenant} />,
  },
  {
    id: 'spend',
    head: 'Spend, 30 days',
    width: 144,
    align: 'right',
    sort: 'spend',
    cell: ({ spend }) => <SpendCell of={spend} />,
  },
  {
    id: 'requests',
    head: 'Requests, 30 days',
    width: 128,
    align: 'right',
    isWide: true,
    cell: ({ spend }) => <RequestsCell of={spend} />,
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

export function TenantState({ of }: { of: Tenant }) {
  return of.disabled ? <State tone="quiet">disabled</State> : <span className="tg-quiet">enabled</span>
}

function Balance({ of: { limited, balance_nano_usd } }: { of: ListedTenant }) {
  if (!limited) return <span className="tg-quiet">no limit</span>
  return <Money nanoUsd={balance_nano_usd} unknown="You may not read money." />
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
