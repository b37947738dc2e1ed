import { Button, Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import { useMay } from '../../api/session.ts'
import type { Texts } from '../../console-search.ts'
import { zoneName } from '../../format/moments.ts'
import { rangeOf } from '../../format/range.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { FilterBar, type Filters, useFilters } from '../../parts/filters.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { useOpenRow } from '../../parts/open-row.ts'
import { Page } from '../../parts/page.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { WithSheet } from '../../parts/sheet.tsx'
import { TenantFilter } from '../access/tenant-filter.tsx'
import { actionWords, wordsOfAction } from './action-words.ts'
import { auditColumns } from './audit-columns.tsx'
import { filterNames, queryOf, resources, resourceTitle, sortOf } from './audit-fields.ts'
import { AuditSheet } from './audit-sheet.tsx'

type Line = Schema<'AuditEntry'>

const noFilter = Object.fromEntries([...filterNames, 'last', 'from', 'to'].map((name) => [name, '']))

/** Who changed what, and what it was before. */
export function AuditPage() {
  const search: Texts = useSearch({ strict: false })
  const { id, open, close } = useOpenRow('/console/audit', search)
  const filters = useFilters(Object.keys(noFilter))
  const [asOf] = useState(() => new Date())
  const query = useMemo(() => queryOf(search, asOf), [search, asOf])
  const list = useList<Line>({
    queryKey: ['audit', 'list', query],
    readPage: (page, signal) =>
      ask(api.GET('/admin/v1/audit', { params: { query: { ...query, limit: 100, ...page } }, signal })),
  })
  const showAll = <Button onClick={() => filters.set(noFilter)}>Show all changes</Button>
  const keep = (column: string, line: Line, keeps: boolean) => {
    if (!keeps) return
    if (column === 'action') filters.set({ action: line.action })
    if (column === 'resource') filters.set({ resource: line.resource, resource_id: line.resource_id })
    if (column === 'actor' && line.actor.kind === 'user' && line.actor.id !== null)
      filters.set({ user_id: line.actor.id })
  }
  return (
    <Page
      wide
      title="Audit"
      lead={<span>Times in {zoneName()}</span>}
      actions={<AuditFilters filters={filters} search={search} lines={list.rows} />}
    >
      <WithSheet
        sheet={
          id === undefined ? null : (
            <AuditSheet key={id} id={id} line={list.rows.find((line) => line.id === id)} onClose={close} />
          )
        }
      >
        <ListGrid
          label="Audit"
          things="changes"
          list={list}
          columns={auditColumns}
          idOf={idOf}
          openId={id}
          onOpen={open}
          onFilter={keep}
          sort={sortOf(search)}
          onSort={(sort) => filters.set({ sort })}
          empty={
            filters.isAny ? (
              <EmptyState title="No change matches" action={showAll} />
            ) : (
              <EmptyState title="No change yet">
                Each change by an admin, by a file or by the gateway has a line here, with what was before.
              </EmptyState>
            )
          }
        />
      </WithSheet>
    </Page>
  )
}

function AuditFilters({
  filters,
  search,
  lines,
}: {
  filters: Filters
  search: Texts
  lines: readonly Line[]
}) {
  const resource = filters.get('resource')
  const one = filters.get('resource_id')
  const oneName = lines.find(({ resource_id }) => resource_id === one)?.resource_name ?? one
  return (
    <FilterBar filters={filters}>
      <UserFilter filters={filters} />
      <ActionField key={filters.get('action')} filters={filters} />
      <Select
        size="xs"
        w={152}
        aria-label="Kind of thing"
        searchable
        allowDeselect={false}
        data={[
          { value: '', label: 'Everything' },
          ...[...new Set([...resources, ...(resource === '' ? [] : [resource])])].map((value) => ({
            value,
            label: resourceTitle(value),
          })),
        ]}
        value={resource}
        onChange={(next) => filters.set({ resource: next ?? '', resource_id: '' })}
      />
      {one === '' ? null : (
        <Button variant="default" onClick={() => filters.set({ resource_id: '' })}>
          Not only {oneName}
        </Button>
      )}
      <TenantFilter filters={filters} />
      <RangePicker
        range={rangeOf(search)}
        clears
        onChange={({ last = '', from = '', to = '' }) => filters.set({ last, from, to })}
      />
    </FilterBar>
  )
}

/**
 * Users to choose from, for those who may see them. Others may still follow a link with a user, and leave it.
 */
function UserFilter({ filters }: { filters: Filters }) {
  const may = useMay()
  const chosen = filters.get('user_id')
  const users = useQuery({
    queryKey: ['users', 'names'],
    enabled: may('users'),
    staleTime: 60_000,
    queryFn: ({ signal }) => ask(api.GET('/admin/v1/users', { params: { query: { limit: 200 } }, signal })),
  })
  if (!may('users')) {
    return chosen === '' ? null : (
      <Button variant="default" onClick={() => filters.set({ user_id: '' })}>
        Everybody
      </Button>
    )
  }
  return (
    <Select
      size="xs"
      w={168}
      aria-label="User"
      searchable
      allowDeselect={false}
      data={[
        { value: '', label: 'Everybody' },
        ...(users.data?.data ?? []).map(({ id, email }) => ({ value: id, label: email })),
      ]}
      value={chosen}
      onChange={(next) => filters.set({ user_id: next ?? '' })}
    />
  )
}

/** An action of the address that has no words here is offered as it is. */
function ActionField({ filters }: { filters: Filters }) {
  const chosen = filters.get('action')
  const known = Object.keys(actionWords)
  const codes = chosen === '' || known.includes(chosen) ? known : [chosen, ...known]
  const options = codes.map((code) => ({ value: code, label: `${wordsOfAction(code)} (${code})` }))
  return (
    <Select
      size="xs"
      w={208}
      aria-label="Action"
      searchable
      nothingFoundMessage="No such action"
      data={[{ value: '', label: 'Any action' }, ...options]}
      value={chosen}
      onChange={(next) => filters.set({ action: next ?? '' })}
    />
  )
}

function idOf({ id }: Line): string {
  return id
}
