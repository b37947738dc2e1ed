import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { modelNamesQuery } from './access-queries.ts'
import { api, ask } from './client.ts'
import { useMay, useSession } from './session.ts'

/** The groups that keys of a tenant may have, with the models and prices of each. */
function tenantModelsQuery(id: string) {
  return queryOptions({
    queryKey: ['tenants', 'models', id],
    staleTime: 60_000,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/tenants/{id}/models', { params: { path: { id } }, signal })),
  })
}

/** For members of a tenant, who may not read the catalog. For all others it reads nothing. */
export function useOwnModels() {
  const { role, tenant_id } = useSession()
  return useQuery({ ...tenantModelsQuery(tenant_id ?? ''), enabled: role === 'member' && tenant_id !== null })
}

/** What fields that take models offer: those that the caller may know. */
export function useModelNames(): { names: readonly string[]; isLoading: boolean } {
  const all = useQuery({ ...modelNamesQuery, enabled: useMay()('catalog') })
  const own = useOwnModels()
  const names = useMemo(() => {
    const ids = own.data?.groups.flatMap(({ models }) => models.map(({ id }) => id))
    return all.data ?? [...new Set(ids)]
  }, [all.data, own.data])
  return { names, isLoading: all.isLoading || own.isLoading }
}
