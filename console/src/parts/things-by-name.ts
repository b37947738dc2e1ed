import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, ask } from '../api/client.ts'
import { looksLikeSecret } from './looks-like-secret.ts'

type Named = 'tenant' | 'key' | 'group'

interface Thing {
  /** The name of a model is its id. */
  id: string
  name: string
  /** Of a key: the name of its tenant. */
  tenant?: string
}

/** At most 50 whose names contain these words. What looks like a secret finds none, and is in no address. */
export function foundQuery(thing: Named | 'model' | 'channel', words: string) {
  const isSecret = looksLikeSecret(words)
  const search = isSecret ? '' : words.trim()
  return queryOptions({
    queryKey: [`${thing}s`, 'found', isSecret, search],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<readonly Thing[]> => {
      if (isSecret) return []
      const query = { limit: 50, ...(search === '' ? {} : { search }) }
      const sorted = { params: { query: { ...query, sort: 'name' as const } }, signal }
      switch (thing) {
        case 'model': {
          const { data } = await ask(api.GET('/admin/v1/models', { params: { query }, signal }))
          return data.map(({ id }) => ({ id, name: id }))
        }
        case 'channel':
          return (await ask(api.GET('/admin/v1/channels', { params: { query }, signal }))).data
        case 'tenant':
          return (await ask(api.GET('/admin/v1/tenants', sorted))).data
        case 'group':
          return (await ask(api.GET('/admin/v1/groups', sorted))).data
        case 'key':
          return (await ask(api.GET('/admin/v1/keys', sorted))).data
      }
    },
  })
}

/** What has this id. */
export function namedQuery(thing: Named, id: string) {
  return queryOptions({
    queryKey: [`${thing}s`, 'named', id],
    staleTime: 60_000,
    retry: false,
    queryFn: ({ signal }): Promise<Thing> => {
      const at = { params: { path: { id } }, signal }
      if (thing === 'tenant') return ask(api.GET('/admin/v1/tenants/{id}', at))
      return thing === 'key'
        ? ask(api.GET('/admin/v1/keys/{id}', at))
        : ask(api.GET('/admin/v1/groups/{id}', at))
    },
  })
}

const filters: Readonly<Record<string, Named>> = { tenant_id: 'tenant', key_id: 'key', group_id: 'group' }

/** The name of the tenant, key or group whose id a filter has; undefined for any other filter. */
export function useNameOf(filter: string, id: string): string | undefined {
  const thing = filters[filter]
  const { data } = useQuery({ ...namedQuery(thing ?? 'key', id), enabled: thing !== undefined && id !== '' })
  return thing === undefined ? undefined : data?.name
}
