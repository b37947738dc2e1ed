import { useQuery } from '@tanstack/react-query'
import { api, ask } from '../../api/client.ts'
import { useSession } from '../../api/session.ts'
import { type FilterField, filterFields } from './log-filters.ts'

/** The filters that the reader may set. */
export function useFilterFields(): readonly FilterField[] {
  const { role } = useSession()
  return filterFields.filter((field) => role !== 'member' || field.for !== 'operators')
}

/**
 * Values of a filter that contain these words. Names are those of today; a former one can be typed too, as
 * the log has it.
 */
export function useKnownValues(field: FilterField | undefined, words: string): readonly string[] {
  const list = field === undefined ? undefined : lists[field.name]
  const { data } = useQuery({
    queryKey: ['known-values', field?.name, list?.searches === true ? words : ''],
    enabled: list !== undefined,
    staleTime: 60_000,
    queryFn: ({ signal }) => list?.read(words, signal) ?? [],
  })
  const part = words.toLowerCase()
  const all = new Set(field?.values ?? data ?? [])
  return [...all].filter((value) => value.toLowerCase().includes(part)).slice(0, shownMost)
}

const shownMost = 50

/** The name of a tenant or key whose id a filter has; undefined for anything else. */
export function useNameOf(filter: string, id: string): string | undefined {
  const isTenant = filter === 'tenant_id'
  const { data } = useQuery({
    queryKey: ['known-name', filter, id],
    enabled: id !== '' && (isTenant || filter === 'key_id'),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
    queryFn: ({ signal }): Promise<{ name: string }> => {
      const at = { params: { path: { id } }, signal }
      return isTenant ? ask(api.GET('/admin/v1/tenants/{id}', at)) : ask(api.GET('/admin/v1/keys/{id}', at))
    },
  })
  return data?.name
}

interface KnownList {
  /** The API searches; else all are read once. */
  searches: boolean
  read(words: string, signal: AbortSignal): Promise<string[]>
}

const models: KnownList = {
  searches: false,
  read: async (_words, signal) =>
    (await ask(api.GET('/admin/v1/models', { params: { query: { limit: 200 } }, signal }))).data.map(
      ({ id }) => id,
    ),
}

const lists: Readonly<Record<string, KnownList>> = {
  model: models,
  requested_model: models,
  channel: {
    searches: false,
    read: async (_words, signal) =>
      (await ask(api.GET('/admin/v1/channels', { params: { query: { limit: 200 } }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
  tenant: {
    searches: true,
    read: async (words, signal) =>
      (await ask(api.GET('/admin/v1/tenants', { params: { query: searchOf(words) }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
  key: {
    searches: true,
    read: async (words, signal) =>
      (await ask(api.GET('/admin/v1/keys', { params: { query: searchOf(words) }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
  group: {
    searches: true,
    read: async (words, signal) =>
      (await ask(api.GET('/admin/v1/groups', { params: { query: searchOf(words) }, signal }))).data.map(
        ({ name }) => name,
      ),
  },
}

function searchOf(words: string) {
  return { limit: 50, ...(words === '' ? {} : { search: words }) }
}
