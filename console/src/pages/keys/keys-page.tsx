import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import {
  groupNamesQuery,
  type Key,
  type ListedKey,
  spendHours,
  sumsQuery,
  tenantNamesQuery,
} from '../../api/access-queries.ts'
import { api, ask } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay, useSession } from '../../api/session.ts'
import { count } from '../../format/numbers.ts'
import { useColumnChoice } from '../../parts/column-choice.ts'
import { ColumnsMenu } from '../../parts/columns-menu.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, SearchField, useFilters } from '../../parts/filters.tsx'
import { Clock, Moment, Money, None } from '../../parts/formatted-values.tsx'
import type { Column } from '../../parts/grid.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import classes from '../access/access.module.css'
import { stateOfKey } from '../access/access-words.ts'
import { keyFilters } from './key-filters.ts'
import { ImportKey, MakeKey } from './make-key.tsx'

const states = [
  { value: '', label: 'Any state' },
  { value: 'enabled', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
  { value: 'revoked', label: 'Revoked' },
]
const expiries = [
  { value: '', label: 'Any expiry' },
  { value: '7', label: 'Expires in 7 days' },
  { value: '30', label: 'Expires in 30 days' },
]
const managers = [
  { value: '', label: 'Any manager' },
  { value: 'admin', label: 'Managed here' },
  { value: 'file', label: 'Managed by the file' },
]

const newNetworks = [
  { value: '', label: 'Any network' },
  { value: '1', label: 'New network since yesterday' },
  { value: '7', label: 'New network in 7 days' },
  { value: '30', label: 'New network in 30 days' },
]
const columnIds = [
  ...['name', 'state', 'tenant', 'group', 'last_use', 'last_network', 'new_network', 'hint'],
  ...['requests', 'spend', 'expires'],
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
  const tenants = useQuery({ ...tenantNamesQuery, enabled: !isMember })
  const groups = useQuery({ ...groupNamesQuery, enabled: !isMember })
  const asked = keyFilters(filters.get)
  const choice = useColumnChoice('keys', columnIds)
  const list = useList<ListedKey>({
    queryKey: ['keys', 'list', asked],
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/keys', {
          params: {
            query: { ...keyFilters(filters.get), limit: 100, ...(cursor === undefined ? {} : { cursor }) },
          },
          signal,
        }),
      ),
  })
  const sums = useQuery(sumsQuery({ by: 'key', hours: spendHours }))
  const mayChange = may('keys', 'write')
  const make = <Button onClick={() => setMaking(true)}>Make key</Button>
  const spendOf = (id: string) => sums.data?.data.find(({ key_id }) => key_id === id)
  const noSpend =
    sums.data === undefined ? 'Not read yet.' : 'None of the 200 costliest keys of the last 30 days.'
  const columns: Column<ListedKey>[] = [
    {
      id: 'name',
      head: 'Name',
      width: 152,
      grows: true,
      sort: 'name',
      cell: ({ id, name }) => (
        <Link className={classes.link} to="/console/keys/$id" params={{ id }}>
          {name}
        </Link>
      ),
    },
    { id: 'state', head: 'State', width: 104, cell: (key) => <KeyState of={key} /> },
    ...(isMember
      ? []
      : [
          {
            id: 'tenant',
            head: 'Tenant',
            width: 120,
            grows: true,
            isWide: true,
            cell: ({ tenant }: Key) => tenant,
          },
        ]),
    { id: 'group', head: 'Group', width: 96, isWide: true, cell: ({ group }) => group },
    {
      id: 'last_use',
      head: 'Last use',
      width: 144,
      sort: 'last_used_at',
      isWide: true,
      cell: ({ last_used_at }) => <Moment at={last_used_at} none="none known" />,
    },
    {
      id: 'last_network',
      head: 'Last network',
      width: 136,
      isWide: true,
      cell: (key) => <FromNetwork of={key} network={key.last_network} />,
    },
    {
      id: 'new_network',
      head: 'New network',
      about: 'The network that was new last, and when its first request came',
      width: 232,
      isExtra: true,
      sort: 'new_network_at',
      isWide: true,
      cell: (key) =>
        key.new_network === null ? (
          <None why="It was used from one network only." />
        ) : (
          <>
            <FromNetwork of={key} network={key.new_network} />{' '}
            <span className="tg-quiet">
              <Clock at={key.new_network_at ?? ''} withMillis={false} />
            </span>
          </>
        ),
    },
    {
      id: 'hint',
      head: 'Secret begins',
      width: 112,
      isExtra: true,
      isWide: true,
      cell: ({ hint }) => <span className="tg-mono">{hint}</span>,
    },
    {
      id: 'requests',
      head: 'Requests, 30 days',
      width: 136,
      isExtra: true,
      align: 'right',
      isWide: true,
      cell: ({ id }) => {
        const row = spendOf(id)
        return row !== undefined ? (
          count(row.requests)
        ) : sums.data?.other === null ? (
          '0'
        ) : (
          <None why={noSpend} />
        )
      },
    },
    {
      id: 'spend',
      head: 'Spend, 30 days',
      width: 112,
      align: 'right',
      cell: ({ id }) => {
        const row = spendOf(id)
        if (row === undefined)
          return sums.data?.other === null ? <Money nanoUsd="0" /> : <None why={noSpend} />
        return <Money nanoUsd={row.cost_nano_usd} />
      },
    },
    {
      id: 'expires',
      head: 'Expires',
      width: 136,
      sort: 'expires_at',
      isWide: true,
      cell: ({ expires_at }) => <Moment at={expires_at} none="never" />,
    },
  ]
  return (
    <Page
      title="Keys"
      wide
      actions={
        <>
          <ColumnsMenu columns={columns} choice={choice} />
          {mayChange && !isMember ? (
            <Button variant="default" onClick={() => setImporting(true)}>
              Import key
            </Button>
          ) : null}
          {mayChange ? make : null}
        </>
      }
    >
      <FilterBar filters={filters} first={<SearchField filters={filters} label="Search names" />}>
        {isMember ? null : (
          <>
            <ChoiceFilter
              filters={filters}
              name="tenant"
              label="Tenant"
              options={named('All tenants', tenants.data?.data, filters.get('tenant'))}
            />
            <ChoiceFilter
              filters={filters}
              name="group"
              label="Group"
              options={named('All groups', groups.data?.data, filters.get('group'))}
            />
          </>
        )}
        <ChoiceFilter filters={filters} name="state" label="State" options={states} />
        <ChoiceFilter filters={filters} name="expires" label="Expiry" options={expiries} />
        <ChoiceFilter filters={filters} name="new_network" label="Network" options={newNetworks} />
        <ChoiceFilter filters={filters} name="managed_by" label="Managed by" options={managers} />
      </FilterBar>
      <ListGrid
        label="Keys"
        things="keys"
        list={list}
        columns={columns}
        choice={choice}
        idOf={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/console/keys/$id', params: { id } })}
        sort={filters.get('sort') || '-created_at'}
        onSort={(sort) => filters.set({ sort })}
        empty={
          filters.isAny ? (
            <EmptyState
              title="No key fits these filters"
              action={
                <Button variant="default" onClick={() => void navigate({ to: '.', search: {} as never })}>
                  Show all keys
                </Button>
              }
            />
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

/** To its requests from there. */
function FromNetwork({ of, network }: { of: ListedKey; network: string | null }) {
  if (network === null) return <None />
  return (
    <Link
      className={classes.link}
      to="/console/log"
      search={{ key_id: of.id, client_address: network, last: '30d' }}
    >
      {network}
    </Link>
  )
}

export function KeyState({ of }: { of: Key }) {
  const { tone, words } = stateOfKey(of, new Date())
  return <State tone={tone}>{words}</State>
}

/** The value that the address has is offered too, also where the list of names does not reach it. */
function named(all: string, rows: readonly { name: string }[] | undefined, chosen: string) {
  const names = rows?.map(({ name }) => name) ?? []
  const known = chosen === '' || names.includes(chosen) ? names : [chosen, ...names]
  return [{ value: '', label: all }, ...known.map((name) => ({ value: name, label: name }))]
}
