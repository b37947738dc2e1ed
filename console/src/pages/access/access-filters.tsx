import { Button } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, type Filters } from '../../parts/filters.tsx'

const managers = [
  { value: '', label: 'Any manager' },
  { value: 'admin', label: 'Managed here' },
  { value: 'file', label: 'Managed by the file' },
]

export function ManagedByFilter({ filters }: { filters: Filters }) {
  return <ChoiceFilter filters={filters} name="managed_by" label="Managed by" options={managers} />
}

/** Instead of a list of which no row fits the filters. */
export function NoneFits({ what }: { what: 'key' | 'group' | 'tenant' }) {
  const navigate = useNavigate()
  return (
    <EmptyState
      title={`No ${what} fits these filters`}
      action={
        <Button variant="default" onClick={() => void navigate({ to: '.', search: {} as never })}>
          {`Show all ${what}s`}
        </Button>
      }
    />
  )
}
