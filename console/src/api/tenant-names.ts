import { useQuery } from '@tanstack/react-query'
import { useCallback } from 'react'
import { tenantNamesQuery } from './access-queries.ts'
import { useMay } from './session.ts'

/** The name of a tenant, or its id where the first 200 do not have it. */
export function useTenantName(): (id: string) => string {
  const may = useMay()
  const { data } = useQuery({ ...tenantNamesQuery, enabled: may('tenants') })
  return useCallback((id) => data?.data.find((tenant) => tenant.id === id)?.name ?? id, [data])
}
