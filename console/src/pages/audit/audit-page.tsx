import { Button, TextInput } from '@mantine/core'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type FormEvent, useMemo, useState } from 'react'
import { api, ask, type Schema } from '../../api/client.ts'
import { useList } from '../../api/list.ts'
import type { Texts } from '../../console-search.ts'
import { zoneName } from '../../format/moments.ts'
import { momentsOf, rangeOf } from '../../format/range.ts'
import type { Column } from '../../parts/grid.tsx'
import { ListGrid } from '../../parts/list-grid.tsx'
import { Page } from '../../parts/page.tsx'
import { RangePicker } from '../../parts/range-picker.tsx'
import { WithSheet } from '../../parts/sheet.tsx'
import { Teach } from '../../parts/teach.tsx'
import { Clock, None } from '../../parts/values.tsx'
import { AuditSheet } from './audit-sheet.tsx'

export type Line = Schema<'AuditEntry'>

const columns: readonly Column<Line>[] = [
  {
    id: 'at',
    head: 'Time',
    width: 152,
    cell: (line, above) => <Clock at={line.created_at} after={above?.created_at} />,
  },
  {
    id: 'actor',
    head: 'Who',
    width: 176,
    grows: true,
    cell: ({ actor }) => (
      <span title={`${actor.kind} ${actor.name}`}>
        {actor.name} <span className="tg-quiet">{actor.kind}</span>
      </span>
    ),
  },
  { id: 'action', head: 'Did what', width: 168, value: ({ action }) => action, cell: ({ action }) => action },
  {
    id: 'resource',
    head: 'To what',
    width: 200,
    grows: true,
    cell: ({ resource, resource_name, resource_id }) => (
      <span title={resource_id}>
        <span className="tg-quiet">{resource}</span> {resource_name ?? resource_id}
      </span>
    ),
  },
  {
    id: 'address',
    head: 'From where',
    width: 128,
    isWide: true,
    cell: ({ address }) => address ?? <None why="No caller: the gateway itself" />,
  },
]

const filters = ['action', 'resource', 'resource_id', 'tenant_id', 'user_id'] as const

/** Who changed what, and what it was before. */
export function AuditPage() {
  const search: Texts = useSearch({ strict: false })
  const { id } = useParams({ strict: false })
  const navigate = useNavigate()
  const [asOf] = useState(() => new Date())
  const query = useMemo(() => {
    const stated = Object.fromEntries(
      filters.flatMap((name) => (typeof search[name] === 'string' ? [[name, search[name]]] : [])),
    )
    return { ...stated, ...(momentsOf(rangeOf(search), asOf) ?? {}) }
  }, [search, asOf])
  const list = useList<Line>({
    queryKey: ['audit', query],
    readPage: (cursor, signal) =>
      ask(
        api.GET('/admin/v1/audit', {
          params: { query: { ...query, limit: 100, ...(cursor === undefined ? {} : { cursor }) } },
          signal,
        }),
      ),
  })
  const go = (next: Texts) => void navigate({ to: '/console/audit', search: next })
  const open = list.rows.find((line) => line.id === id)
  return (
    <Page
      wide
      title="Audit"
      lead={<span>Times in {zoneName()}</span>}
      actions={
        <>
          <ActionField key={String(search.action)} search={search} onChange={go} />
          <RangePicker
            range={rangeOf(search)}
            clears
            onChange={(range) => {
              const { last: _last, from: _from, to: _to, ...rest } = search
              go({ ...rest, ...range })
            }}
          />
        </>
      }
    >
      <WithSheet
        sheet={
          id === undefined ? null : (
            <AuditSheet id={id} line={open} isReading={list.isPending} onClose={() => go(search)} />
          )
        }
      >
        <ListGrid
          label="Audit"
          things="changes"
          list={list}
          columns={columns}
          idOf={idOf}
          openId={id}
          onOpen={(line) =>
            void navigate({
              to: '/console/audit/$id',
              params: { id: line.id },
              search,
              replace: id !== undefined,
            })
          }
          onFilter={(column, line, keeps) => {
            if (column === 'action' && keeps) go({ ...search, action: line.action })
          }}
          empty={
            Object.keys(query).length > 0 ? (
              <Teach
                title="No change matches"
                action={<Button onClick={() => go({})}>Show all changes</Button>}
              />
            ) : (
              <Teach title="No change yet">
                Each change by an admin, by a file or by the gateway has a line here, with what was before.
              </Teach>
            )
          }
        />
      </WithSheet>
    </Page>
  )
}

function idOf({ id }: Line): string {
  return id
}

function ActionField({ search, onChange }: { search: Texts; onChange(search: Texts): void }) {
  const [text, setText] = useState(typeof search.action === 'string' ? search.action : '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const { action: _action, ...rest } = search
    onChange(text.trim() === '' ? rest : { ...rest, action: text.trim() })
  }
  return (
    <form onSubmit={submit}>
      <TextInput
        size="xs"
        aria-label="Action"
        placeholder="Action, such as key.revoke"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </form>
  )
}
