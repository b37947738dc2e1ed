import { useQuery } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { keptFor } from '../../api/kept.ts'
import { useMay } from '../../api/session.ts'
import { type Endpoint, kindOf } from './formats.ts'

/** Keys that the caller may use, by a part of their name, with the chosen one wherever it stands in the list. */
export function useKeys(search: string, chosen: string | undefined) {
  const found = useQuery({
    queryKey: ['playground', 'keys', search],
    placeholderData: keptFor(['playground', 'keys']),
    queryFn: ({ signal }) =>
      ask(
        api.GET('/admin/v1/keys', {
          params: { query: { limit: 50, ...(search === '' ? {} : { search }) } as never },
          signal,
        }),
      ),
  })
  const one = useQuery({
    queryKey: ['key', chosen],
    enabled: chosen !== undefined,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/keys/{id}', { params: { path: { id: chosen ?? '' } }, signal })),
  })
  const listed = (found.data?.data ?? []).filter(isUsable)
  const keys =
    one.data !== undefined && !listed.some(({ id }) => id === one.data.id) ? [one.data, ...listed] : listed
  return { keys, isPending: found.isPending, error: found.error, again: () => void found.refetch() }
}

/** Of an expired key the gateway says so itself. */
export function isUsable({ revoked_at, disabled }: Schema<'Key'>): boolean {
  return revoked_at === null && !disabled
}

/** The models that a key may ask for at an endpoint, as far as the caller may know them. */
export function useModels(key: Schema<'Key'> | undefined, endpoint: Endpoint): string[] {
  const mayCatalog = useMay()('catalog')
  const models = useQuery({
    queryKey: ['playground', 'models'],
    enabled: mayCatalog,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/models', { params: { query: { limit: 200 } as never }, signal })),
  })
  const groupId = key?.group_id
  const group = useQuery({
    queryKey: ['group', groupId],
    enabled: mayCatalog && groupId !== undefined,
    queryFn: ({ signal }) =>
      ask(api.GET('/admin/v1/groups/{id}', { params: { path: { id: groupId ?? '' } }, signal })),
  })
  const known = models.data?.data ?? []
  if (known.length === 0) return (key?.allowed_models ?? []).filter((name) => !name.includes('*'))
  const isImage = kindOf(endpoint) === 'image'
  return (
    known
      .filter(({ state, images }) => state === 'enabled' && (images !== null) === isImage)
      .map(({ id }) => id)
      // The entry for any other name is no name.
      .filter((id) => !id.includes('*'))
      .filter((id) => matches(group.data?.models ?? ['*'], id) && matches(key?.allowed_models ?? ['*'], id))
  )
}

/** `gpt-*` has a star for any text. */
function matches(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`).test(id)
  })
}
