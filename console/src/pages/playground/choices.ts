import { useQuery } from '@tanstack/react-query'
import { api, ask, type Schema } from '../../api/client.ts'
import { keptFor } from '../../api/kept.ts'
import { useOwnModels } from '../../api/own-models.ts'
import { useMay } from '../../api/session.ts'
import { type Endpoint, kindOf } from './formats.ts'

/**
 * Keys that the caller may use, by a part of their name, with the chosen one wherever it is in the list.
 */
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

type WhoAsks = Pick<Schema<'Key'>, 'group_id' | 'allowed_models'>

/**
 * The models that a key may ask for at an endpoint, as far as the caller may know them. `isPending`: they are
 * being read.
 */
export function useModels(
  key: WhoAsks | undefined,
  endpoint: Endpoint,
): { models: string[]; isPending: boolean } {
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
  const own = useOwnModels()
  const known = own.data === undefined ? (models.data?.data ?? []) : ownModels(own.data.groups, groupId)
  return {
    models: modelsFor(known, [group.data?.models, key?.allowed_models], endpoint),
    isPending: models.isLoading || group.isLoading || own.isLoading,
  }
}

type Known = Pick<Schema<'AdminModel'>, 'id' | 'state'> & { images: unknown; price: unknown }

/** Those of one group of a tenant, or of all of its groups. */
export function ownModels(groups: Schema<'TenantModels'>['groups'], groupId: string | undefined): Known[] {
  const models = groups.flatMap((group) =>
    groupId === undefined || group.id === groupId ? group.models : [],
  )
  return [...new Map(models.map((model) => [model.id, model])).values()].map(
    ({ id, capabilities, pricing }) => ({
      ...{ id, state: 'enabled' as const, images: capabilities.images, price: pricing },
    }),
  )
}

/**
 * Ids that all of `allowed` let through, those with a price first: a key whose spending is limited can use no
 * others. What is null or undefined lets everything through. Without a catalog, the names that a key's own
 * list spells out.
 */
export function modelsFor(
  known: readonly Known[],
  allowed: readonly (readonly string[] | null | undefined)[],
  endpoint: Endpoint,
): string[] {
  // The entry for any other name is not a name.
  const isName = (id: string) => !id.includes('*')
  if (known.length === 0) return [...new Set(allowed.at(-1))].filter(isName)
  const isImage = kindOf(endpoint) === 'image'
  const usable = known.filter(
    ({ id, state, images }) =>
      state === 'enabled' &&
      (images !== null) === isImage &&
      isName(id) &&
      allowed.every((patterns) => patterns == null || matches(patterns, id)),
  )
  const priced = usable.filter(({ price }) => price !== null)
  return [...priced, ...usable.filter(({ price }) => price === null)].map(({ id }) => id)
}

/** `gpt-*` has a star for any text. */
function matches(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => {
    const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    return new RegExp(`^${parts.join('.*')}$`).test(id)
  })
}
