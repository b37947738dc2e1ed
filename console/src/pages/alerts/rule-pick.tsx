import { Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client.ts'
import { useMay } from '../../api/session.ts'
import type { Thing } from './rule-fields.ts'

interface Pick {
  value: string
  label: string
}

const most = 50
const areas = {
  model: 'catalog',
  channel: 'catalog',
  group: 'catalog',
  tenant: 'tenants',
  key: 'keys',
} as const

/** One thing that a rule is narrowed to, or every one of them, found by a part of its name. */
export function RulePick({
  thing,
  isById,
  value,
  error,
  onChange,
}: {
  thing: Thing
  /** The value is an id, not a name. */
  isById: boolean
  /** Empty: every one. */
  value: string
  error: string | undefined
  onChange(value: string): void
}) {
  const mayRead = useMay()(areas[thing])
  const [typed, setTyped] = useState('')
  const [chosen, setChosen] = useState<Pick | undefined>(undefined)
  const named = useQuery({
    queryKey: ['rule-picks', 'one', thing, value],
    enabled: mayRead && isById && value !== '' && chosen?.value !== value,
    queryFn: ({ signal }) => nameOf(thing, value, signal),
  })
  const every = { value: '', label: `Every ${thing}` }
  const current: Pick =
    value === '' ? every : chosen?.value === value ? chosen : { value, label: named.data ?? value }
  // What is shown of the choice is not looked for.
  const [looked] = useDebouncedValue(typed.trim() === current.label ? '' : typed.trim(), 150)
  const found = useQuery({
    queryKey: ['rule-picks', thing, isById, looked],
    enabled: mayRead,
    queryFn: ({ signal }) => picksOf(thing, isById, looked, signal),
  })
  const same = { label: thing.charAt(0).toUpperCase() + thing.slice(1), error }
  if (!mayRead)
    return (
      <TextInput
        {...same}
        placeholder={every.label}
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    )
  const others = (found.data ?? []).filter((pick) => pick.value !== current.value)
  return (
    <Select
      {...same}
      searchable
      allowDeselect={false}
      data={[...(value === '' ? [] : [every]), current, ...others]}
      filter={({ options }) => options}
      nothingFoundMessage={`No ${thing} has this in its name`}
      value={value}
      onSearchChange={setTyped}
      onChange={(next, option) => {
        setChosen(
          next === null || next === '' || option === null ? undefined : { value: next, label: option.label },
        )
        onChange(next ?? '')
      }}
    />
  )
}

async function picksOf(thing: Thing, isById: boolean, search: string, signal: AbortSignal): Promise<Pick[]> {
  const query = { limit: most, ...(search === '' ? {} : { search }) }
  const byName = { ...query, sort: 'name' as const }
  const picks = (rows: readonly { id: string; name: string }[]) =>
    rows.map(({ id, name }) => ({ value: isById ? id : name, label: name }))
  switch (thing) {
    case 'model':
      return (await ask(api.GET('/admin/v1/models', { params: { query }, signal }))).data.map(({ id }) => ({
        value: id,
        label: id,
      }))
    case 'channel':
      return picks((await ask(api.GET('/admin/v1/channels', { params: { query }, signal }))).data)
    case 'tenant':
      return picks((await ask(api.GET('/admin/v1/tenants', { params: { query: byName }, signal }))).data)
    case 'group':
      return picks((await ask(api.GET('/admin/v1/groups', { params: { query: byName }, signal }))).data)
    case 'key':
      return (await ask(api.GET('/admin/v1/keys', { params: { query: byName }, signal }))).data.map(
        ({ id, name, tenant }) => ({ value: id, label: `${tenant}/${name}` }),
      )
  }
}

/** The name of what an existing rule is narrowed to by its id. */
async function nameOf(thing: Thing, id: string, signal: AbortSignal): Promise<string> {
  const params = { path: { id } }
  switch (thing) {
    case 'tenant':
      return (await ask(api.GET('/admin/v1/tenants/{id}', { params, signal }))).name
    case 'group':
      return (await ask(api.GET('/admin/v1/groups/{id}', { params, signal }))).name
    case 'key': {
      const { tenant, name } = await ask(api.GET('/admin/v1/keys/{id}', { params, signal }))
      return `${tenant}/${name}`
    }
    default:
      return id
  }
}
