import { Select, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { looksLikeSecret, secretElsewhere } from '../../parts/looks-like-secret.ts'
import { foundQuery, namedQuery } from '../../parts/things-by-name.ts'
import type { Thing } from './rule-fields.ts'

interface Pick {
  value: string
  label: string
}

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
  // The name of a model or a channel is all there is to show of it.
  const hasId = thing !== 'model' && thing !== 'channel'
  const named = useQuery({
    ...namedQuery(hasId ? thing : 'key', value),
    enabled: mayRead && isById && hasId && value !== '' && chosen?.value !== value,
  })
  const every = { value: '', label: `Every ${thing}` }
  const current: Pick =
    value === ''
      ? every
      : chosen?.value === value
        ? chosen
        : { value, label: named.data === undefined ? value : labelOf(named.data) }
  // What is shown of the choice is not looked for.
  const text = typed.trim() === current.label ? '' : typed.trim()
  const [looked] = useDebouncedValue(text, 150)
  const found = useQuery({ ...foundQuery(thing, looked), enabled: mayRead })
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
  const picks = (found.data ?? []).map((one) => ({
    value: isById || thing === 'key' ? one.id : one.name,
    label: labelOf(one),
  }))
  const others = picks.filter((pick) => pick.value !== current.value)
  return (
    <Select
      {...same}
      searchable
      description={looksLikeSecret(text) ? secretElsewhere : undefined}
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

/** A key is named with its tenant. */
function labelOf({ name, tenant }: { name: string; tenant?: string }): string {
  return tenant === undefined ? name : `${tenant}/${name}`
}
