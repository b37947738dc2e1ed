import { useQuery } from '@tanstack/react-query'
import { tenantNamesQuery } from '../../api/access-queries.ts'
import { useSession } from '../../api/session.ts'
import { ChoiceFilter, type Filters } from '../../parts/filters.tsx'

/** Members have one tenant only, and nothing to choose. */
export function TenantFilter({ filters }: { filters: Filters }) {
  const { role } = useSession()
  const tenants = useQuery({ ...tenantNamesQuery, enabled: role !== 'member' })
  if (role === 'member') return null
  return (
    <ChoiceFilter
      filters={filters}
      name="tenant_id"
      label="Tenant"
      options={[
        { value: '', label: 'Every tenant' },
        ...(tenants.data?.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
      ]}
    />
  )
}
