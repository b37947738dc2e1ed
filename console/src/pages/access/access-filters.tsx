import { ChoiceFilter, type Filters } from '../../parts/filters.tsx'

const managers = [
  { value: '', label: 'Any manager' },
  { value: 'admin', label: 'Managed here' },
  { value: 'file', label: 'Managed by the file' },
]

export function ManagedByFilter({ filters }: { filters: Filters }) {
  return <ChoiceFilter filters={filters} name="managed_by" label="Managed by" options={managers} />
}
